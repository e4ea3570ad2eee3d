# SPDX-License-Identifier: Apache-2.0
# The designs of the program, one entry each: `tilehash list`, `run`, `bench` and verbs.md know those that are here.
#
#   tilehash_program_design(NAME
#     [HEADERS h...]    what to include; if not given, tilehash/designs/NAME.hpp
#     [TYPE t]          the design of Key and Value; if not given, tilehash::NAME<Key, Value>
#     PAPER p           where it is from
#     SUMMARY s         one line about it
#     [NEEDS_VALUES]    there are no tables of keys alone
#     [CONTAINER]       maps, sets and multimaps of numbers are tables of it. A pair of types takes seconds to compile, so the
#                       program has sets, and values of another length than the keys, of these alone. Only these count
#                       occurrences
#     [COMPARED]        it is there to compare with: the program has keys and values of 32 bits alone
#     [BYTES f])        the function that says how many bytes a table takes, where its design does not (table_bytes.hpp)

set(alcantara "D. Alcantara, Efficient Hash Tables on the GPU, 2011")
set(alcantara_thesis "D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, 2011")
set(breslow "A. Breslow et al., Horton Tables, USENIX ATC 2016")
set(kolushev "A. Kolushev, Algorithms and data structures for hashing on GPU, 2021")
set(li "Y. Li et al., Dynamic Hash Tables on GPUs")

tilehash_program_design(bucketed_cuckoo
  PAPER "${breslow}, section 3"
  SUMMARY "two buckets of 64 bytes a key; the second only when the first is full")

tilehash_program_design(bucketed_cuckoo_balanced
  HEADERS tilehash/papers/bucketed_cuckoo_balanced.hpp
  TYPE "tilehash::papers::bucketed_cuckoo_balanced<Key, Value>"
  PAPER "${breslow}, section 3"
  SUMMARY "two buckets of 64 bytes a key; the emptier of the two"
  COMPARED)

tilehash_program_design(chained
  HEADERS tilehash/rows.hpp
  PAPER "${alcantara}, chapter 4"
  SUMMARY "built in bulk by a radix sort by bucket; keeps every value of a key")

tilehash_program_design(chained_by_sort
  HEADERS tilehash/rows.hpp tilehash/papers/chained_by_sort.hpp
  TYPE "tilehash::papers::chained_by_sort<Key, Value>"
  PAPER "${alcantara_thesis}, chapter 4"
  SUMMARY "chained as published: one radix sort of all items, whatever their size"
  COMPARED)

tilehash_program_design(cuckoo
  HEADERS tilehash/papers/cuckoo.hpp
  TYPE "tilehash::papers::cuckoo<Key, Value>"
  PAPER "${alcantara}, chapter 6"
  SUMMARY "four slots a key, anywhere in the table, and a stash of 101 slots"
  COMPARED)

tilehash_program_design(double_hashing
  PAPER "${alcantara}, chapter 3"
  SUMMARY "one slot at a time; the step depends on the key")

tilehash_program_design(dynamic_cuckoo
  HEADERS tilehash/designs/dynamic_cuckoo.hpp tilehash/engine/subtables.hpp
  PAPER "${li}, sections 4 and 5"
  SUMMARY "three subtables, doubled and halved one at a time; values apart from keys")

tilehash_program_design(dynamic_cuckoo_two
  HEADERS tilehash/designs/dynamic_cuckoo.hpp tilehash/engine/subtables.hpp
  TYPE "tilehash::dynamic_cuckoo<Key, Value, 3, 2>"
  PAPER "${li}, sections 4 and 5"
  SUMMARY "the same; a key has two of the three subtables"
  COMPARED)

tilehash_program_design(dynamic_hash_graph
  HEADERS tilehash/rows.hpp
  PAPER "ours, after A. Kolushev, 2021, section 2.5, and B. Wheatman and H. Xu, Packed Compressed Sparse Row, 2018"
  SUMMARY "a hash_graph with free entries between its rows, which takes items and gives them back")

tilehash_program_design(hash_graph
  HEADERS tilehash/rows.hpp
  PAPER "${kolushev}, section 2.5"
  SUMMARY "built in bulk, in the way that is fastest there; keeps every value of a key")

tilehash_program_design(hash_graph_segments
  HEADERS tilehash/rows.hpp tilehash/papers/hash_graph.hpp
  TYPE "tilehash::papers::hash_graph_segments<Key, Value>"
  PAPER "${kolushev}, section 3.4.1"
  SUMMARY "hash_graph version 1 on segments, with counters apart"
  COMPARED)

tilehash_program_design(hash_graph_v1
  HEADERS tilehash/rows.hpp tilehash/papers/hash_graph.hpp
  TYPE "tilehash::papers::hash_graph_v1<Key, Value>"
  PAPER "${kolushev}, algorithm 7"
  SUMMARY "hash_graph built by count, scan and scatter, whatever the size"
  COMPARED)

tilehash_program_design(hash_graph_v2
  HEADERS tilehash/rows.hpp tilehash/papers/hash_graph.hpp
  TYPE "tilehash::papers::hash_graph_v2<Key, Value>"
  PAPER "${kolushev}, algorithm 8"
  SUMMARY "hash_graph whose items are put in order by bins first"
  COMPARED)

tilehash_program_design(horton
  PAPER "Breslow et al. 2016"
  SUMMARY "one bucket for most lookups, and the one that it names for the rest")

tilehash_program_design(indexed
  HEADERS tilehash/engine/records.hpp
  PAPER "${alcantara_thesis}, sections 5.3 and 6.3 (compacting tables)"
  SUMMARY "a two-way index, key to dense id and back; records of any size behind a table of ids"
  BYTES "bytes_of_records<design<std::uint32_t, std::uint32_t>::ids>")

tilehash_program_design(indexed_cuckoo
  HEADERS tilehash/papers/indexed_cuckoo.hpp
  TYPE "tilehash::papers::indexed_cuckoo<Key, Value>"
  PAPER "${kolushev}, section 3.3"
  SUMMARY "6 hash functions for indices with tags; items of any size stay in place"
  COMPARED)

tilehash_program_design(linear_probing
  PAPER "${alcantara}, chapter 3"
  SUMMARY "one slot at a time; the next one is the neighbour")

tilehash_program_design(mega_kv
  HEADERS tilehash/papers/mega_kv.hpp
  TYPE "tilehash::papers::mega_kv<Key, Value>"
  PAPER "K. Zhang et al., Mega-KV (VLDB 2015), as in ${li}, section 6.1"
  SUMMARY "two buckets a key; keys are exchanged for each other until one finds a free slot"
  COMPARED)

tilehash_program_design(multi
  HEADERS tilehash/instances/multimap.hpp
  PAPER "${alcantara_thesis}, sections 5.3 and 6.3 (multi-value tables)"
  SUMMARY "multimap: all values of a key side by side, behind a table of ids"
  NEEDS_VALUES
  CONTAINER
  BYTES "bytes_of_multi<tilehash::tiled<std::uint32_t, std::uint32_t>>")

tilehash_program_design(perfect_spatial
  HEADERS tilehash/papers/perfect_spatial.hpp
  TYPE "tilehash::papers::perfect_spatial<Key, Value>"
  PAPER "S. Lefebvre and H. Hoppe, 2006, the baseline of D. Alcantara 2011, section 5.4.1"
  SUMMARY "no collisions: built in bulk; a lookup reads one offset and one slot"
  COMPARED)

tilehash_program_design(quadratic_probing
  HEADERS tilehash/papers/quadratic_probing.hpp
  TYPE "tilehash::papers::quadratic_probing<Key, Value>"
  PAPER "${alcantara}, chapter 3"
  SUMMARY "one slot at a time; the steps grow by one"
  COMPARED)

tilehash_program_design(robin_hood
  PAPER "Garcia et al. 2011"
  SUMMARY "neighbouring keys stay neighbours; any load, and no build fails")

tilehash_program_design(robin_hood_random
  HEADERS tilehash/papers/robin_hood_random.hpp
  TYPE "tilehash::papers::robin_hood_random<Key, Value>"
  PAPER "Garcia et al. 2011"
  SUMMARY "robin_hood with its keys mixed: what coherence is compared with"
  COMPARED)

tilehash_program_design(sorted_array
  HEADERS tilehash/papers/sorted_array.hpp
  TYPE "tilehash::papers::sorted_array<Key, Value>"
  PAPER "the baseline of ${alcantara}, section 3.3.2"
  SUMMARY "no hash table: a radix sort and binary searches"
  COMPARED)

tilehash_program_design(tiled
  HEADERS tilehash/instances/map.hpp
  PAPER "ours, after Breslow et al. 2016 and Alcantara 2011, chapter 5"
  SUMMARY "the default: one bucket for nearly every lookup, found or not"
  CONTAINER)

tilehash_program_design(two_level_cuckoo
  HEADERS tilehash/papers/two_level_cuckoo.hpp
  TYPE "tilehash::papers::two_level_cuckoo<Key, Value>"
  PAPER "${alcantara}, chapter 5"
  SUMMARY "built in bulk: small cuckoo tables in block-local memory; at most three slots a lookup"
  COMPARED)
