# SPDX-License-Identifier: Apache-2.0
# The designs that the contract is asked of, in every space, one entry each.
#
#   tilehash_test_design(NAME
#     [HEADERS h...]           what to include; if not given, tilehash/designs/NAME.hpp
#     [TYPE t]                 the design of Key and Value; if not given, NAME<Key, Value>
#     [CAN a...]               what its tables can do: inserts, erases, keeps_duplicates, adds (declared_abilities). The test
#                              fails to compile where the tables offer more or less, as when a misspelt member hides a verb
#     ON_CPU p...              pairs of types on the cpu,
#     ELSEWHERE p...           in slower spaces,
#     UNDER_SANITIZERS p...    and under sanitizers, where some builds take the first pair alone
#     [EMULATED p...]          asks what every design must answer under the GPU's schedule, too: the test emulated_NAME
#     [READS r])               the most buckets, slots or steps that a lookup of a present key reads on average at the default
#                              load, as probe_counts() counts them; every design that hashes has it
#
# A pair is key/value, or a name of contract/types.hpp for several. The figures of READS are a fifth or so above the largest
# that was measured on the cpu, for ELSEWHERE's pairs and wide ones, with four sets each of 5 000 and of 20 000 keys: tiled
# 1.17 (words of 16 bytes), linear_probing 3.34, multi 3.17 (wide keys).

# Bucketed cuckoo hashing, first fit.
tilehash_test_design(bucketed_cuckoo
  CAN inserts erases
  ON_CPU slot_pairs big_key_pairs
  ELSEWHERE u32/u32 u64/u32 double/std::int64_t ivec4/void
  UNDER_SANITIZERS u32/u32 double/std::int64_t
  READS 1.3)

# Bucketed cuckoo hashing that balances its buckets.
tilehash_test_design(bucketed_cuckoo_balanced
  HEADERS tilehash/papers/bucketed_cuckoo_balanced.hpp
  TYPE "papers::bucketed_cuckoo_balanced<Key, Value>"
  CAN inserts erases
  ON_CPU few_pairs
  ELSEWHERE u32/u32 u64/void
  UNDER_SANITIZERS u32/u32
  READS 1.5)

# Chaining by radix sort: keeps duplicates, takes keys and values of any size.
tilehash_test_design(chained
  HEADERS tilehash/rows.hpp
  CAN keeps_duplicates
  ON_CPU few_pairs wide_pairs double/std::int64_t
  ELSEWHERE u32/u32 u64/void wide_key/wide_value
  UNDER_SANITIZERS u32/u32
  READS 2.8)

# The same by the thesis' one sort. (What fits no word, `chained` sorts so, too.)
tilehash_test_design(chained_by_sort
  HEADERS tilehash/rows.hpp tilehash/papers/chained_by_sort.hpp
  TYPE "papers::chained_by_sort<Key, Value>"
  CAN keeps_duplicates
  ON_CPU u32/u32
  ELSEWHERE u32/u32
  UNDER_SANITIZERS u32/u32
  READS 2.8)

# Cuckoo hashing with four functions and a stash.
tilehash_test_design(cuckoo
  HEADERS tilehash/papers/cuckoo.hpp
  TYPE "papers::cuckoo<Key, Value>"
  CAN inserts erases
  ON_CPU u32/u32 u64/u64 u16/u8 u64/void
  ELSEWHERE u32/u32 u64/u64
  UNDER_SANITIZERS u32/u32
  READS 2.1)

# Double hashing: open addressing with another probe sequence.
tilehash_test_design(double_hashing
  CAN inserts erases
  ON_CPU few_pairs
  ELSEWHERE u32/u32 u64/void
  UNDER_SANITIZERS u32/u32
  READS 2.4)

# Subtables that are resized one at a time: a key may be stored in any.
tilehash_test_design(dynamic_cuckoo
  HEADERS tilehash/designs/dynamic_cuckoo.hpp tilehash/engine/subtables.hpp
  CAN inserts erases
  ON_CPU slot_pairs big_key_pairs ivec4/u32
  ELSEWHERE u32/u32 u64/u32 u16/u8 double/std::int64_t ivec4/u32
  UNDER_SANITIZERS u32/u32 u16/u8 double/std::int64_t
  READS 1.5)

# Subtables that are resized one at a time: a key has two of them.
tilehash_test_design(dynamic_cuckoo_two
  HEADERS tilehash/designs/dynamic_cuckoo.hpp tilehash/engine/subtables.hpp
  TYPE "dynamic_cuckoo<Key, Value, 3, 2>"
  CAN inserts erases
  ON_CPU few_pairs
  ELSEWHERE u32/u32 ivec4/void
  UNDER_SANITIZERS u32/u32
  READS 1.4)

# A hash graph with free entries between its rows: adds items of keys and values of any size, and keeps duplicates.
tilehash_test_design(dynamic_hash_graph
  HEADERS tilehash/rows.hpp
  CAN erases keeps_duplicates adds
  ON_CPU slot_pairs big_key_pairs wide_pairs
  ELSEWHERE u32/u32 u64/void double/std::int64_t wide_key/wide_value
  UNDER_SANITIZERS u32/u32 wide_key/wide_value
  READS 2.8)

# HashGraph: keeps duplicates, takes keys and values of any size.
tilehash_test_design(hash_graph
  HEADERS tilehash/rows.hpp
  CAN keeps_duplicates
  ON_CPU slot_pairs big_key_pairs wide_pairs
  ELSEWHERE u32/u32 u64/void double/std::int64_t wide_key/wide_value
  UNDER_SANITIZERS u32/u32 wide_key/wide_value
  READS 2.8)

# HashGraph by its authors' steps, in 32 000 bins.
tilehash_test_design(hash_graph_original
  HEADERS tilehash/rows.hpp tilehash/papers/hash_graph_original.hpp
  TYPE "papers::hash_graph_original<Key, Value>"
  CAN keeps_duplicates
  ON_CPU u32/u32 double/std::int64_t u64/void
  ELSEWHERE u32/u32
  UNDER_SANITIZERS u32/u32
  READS 2.8)

# HashGraph on segments.
tilehash_test_design(hash_graph_segments
  HEADERS tilehash/rows.hpp tilehash/papers/hash_graph.hpp
  TYPE "papers::hash_graph_segments<Key, Value>"
  CAN keeps_duplicates
  ON_CPU u32/u32
  ELSEWHERE u32/u32
  UNDER_SANITIZERS u32/u32
  READS 2.8)

# HashGraph, version 2: on a CPU items so large that they take several bins.
tilehash_test_design(hash_graph_v2
  HEADERS tilehash/rows.hpp tilehash/papers/hash_graph.hpp
  TYPE "papers::hash_graph_v2<Key, Value>"
  CAN keeps_duplicates
  ON_CPU wide_key/wide_value
  ELSEWHERE wide_key/wide_value
  UNDER_SANITIZERS wide_key/wide_value
  READS 2.8)

# Horton tables, 64-byte buckets.
tilehash_test_design(horton
  CAN inserts erases
  ON_CPU slot_pairs more_slot_pairs
  ELSEWHERE slot_pairs
  UNDER_SANITIZERS word_pairs
  READS 1.4)

# Rows behind a table of ids: takes keys and values of any size.
tilehash_test_design(indexed
  HEADERS tilehash/engine/records.hpp
  CAN inserts erases
  ON_CPU wide_pairs u32/u32 u16/u8 double/std::int64_t
  ELSEWHERE wide_pairs
  UNDER_SANITIZERS wide_key/wide_value
  READS 2.5)

# Cuckoo hashing of indices: takes keys and values of any size.
tilehash_test_design(indexed_cuckoo
  HEADERS tilehash/papers/indexed_cuckoo.hpp
  TYPE "papers::indexed_cuckoo<Key, Value>"
  ON_CPU wide_key/wide_value u64/void double/std::int64_t
  ELSEWHERE wide_key/wide_value u64/void
  UNDER_SANITIZERS wide_key/wide_value
  READS 3.5)

# Linear probing, and with it all that open addressing does with slots.
tilehash_test_design(linear_probing
  CAN inserts erases
  ON_CPU slot_pairs big_key_pairs
  ELSEWHERE u32/u32 u64/u64 u16/u8 ivec4/void
  UNDER_SANITIZERS u32/u32 u16/u8
  READS 4)

# Two buckets a key, keys exchanged for each other.
tilehash_test_design(mega_kv
  HEADERS tilehash/papers/mega_kv.hpp
  TYPE "papers::mega_kv<Key, Value>"
  CAN inserts erases
  ON_CPU slot_pairs big_key_pairs
  ELSEWHERE u32/u32 u64/u32 double/std::int64_t
  UNDER_SANITIZERS u32/u32 double/std::int64_t
  EMULATED u32/u32
  READS 1.5)

# Values side by side behind a table of ids: takes keys and values of any size, and keeps every item.
tilehash_test_design(multi
  HEADERS tilehash/engine/multi.hpp
  CAN keeps_duplicates adds
  ON_CPU u32/u32 u16/u8 double/std::int64_t wide_key/wide_value
  ELSEWHERE u32/u32 double/std::int64_t
  UNDER_SANITIZERS u32/u32 wide_key/wide_value
  READS 3.8)

# Perfect spatial hashing: takes keys and values of any size, and points of three dimensions.
tilehash_test_design(perfect_spatial
  HEADERS tilehash/papers/perfect_spatial.hpp
  TYPE "papers::perfect_spatial<Key, Value>"
  ON_CPU u32/u32 u64/void double/std::int64_t ivec3/u32
  ELSEWHERE u32/u32 u64/void ivec3/u32
  UNDER_SANITIZERS u32/u32 ivec3/u32
  READS 2)

# Quadratic probing: open addressing with another probe sequence.
tilehash_test_design(quadratic_probing
  HEADERS tilehash/papers/quadratic_probing.hpp
  TYPE "papers::quadratic_probing<Key, Value>"
  CAN inserts erases
  ON_CPU few_pairs
  ELSEWHERE u32/u32 u64/void
  UNDER_SANITIZERS u32/u32
  READS 2.6)

# Robin Hood hashing, 64-byte buckets, coherent sequence.
tilehash_test_design(robin_hood
  CAN inserts erases
  ON_CPU slot_pairs more_slot_pairs
  ELSEWHERE slot_pairs
  UNDER_SANITIZERS word_pairs
  READS 2.4)

# Robin Hood hashing with the random sequence.
tilehash_test_design(robin_hood_random
  HEADERS tilehash/papers/robin_hood_random.hpp
  TYPE "papers::robin_hood_random<Key, Value>"
  CAN inserts erases
  ON_CPU u32/u32 u64/void
  ELSEWHERE u32/u32
  UNDER_SANITIZERS u32/u32
  READS 1.4)

# The sorted array: keeps duplicates, takes keys of up to 16 bytes and values of any size.
tilehash_test_design(sorted_array
  HEADERS tilehash/papers/sorted_array.hpp
  TYPE "papers::sorted_array<Key, Value>"
  CAN keeps_duplicates
  ON_CPU few_pairs double/std::int64_t ivec4/u32
  ELSEWHERE u32/u32 u16/u8 double/std::int64_t
  UNDER_SANITIZERS u32/u32 ivec4/u32)

# The default table: keeps remainders, so keys and values of up to 8 bytes each.
tilehash_test_design(tiled
  CAN inserts erases
  ON_CPU slot_pairs more_slot_pairs
  ELSEWHERE slot_pairs
  UNDER_SANITIZERS word_pairs
  READS 1.4)

# A toy: a bucket names the next one of a key.
tilehash_test_design(toy_signpost
  HEADERS toys/toy_signpost.hpp
  TYPE "toys::toy_signpost<Key, Value>"
  CAN inserts erases
  ON_CPU u32/u32 u64/u64
  ELSEWHERE u32/u32
  UNDER_SANITIZERS u32/u32
  READS 1.2)

# A toy: inserts take other keys out, and a pass is due when they are done.
tilehash_test_design(toy_swapper
  HEADERS toys/toy_swapper.hpp
  TYPE "toys::toy_swapper<Key, Value>"
  CAN inserts erases
  ON_CPU u32/u32 u64/u64
  ELSEWHERE u32/u32
  UNDER_SANITIZERS u32/u32
  READS 1.4)

# Two-level cuckoo hashing: built in bulk, one item a key.
tilehash_test_design(two_level_cuckoo
  HEADERS tilehash/papers/two_level_cuckoo.hpp
  TYPE "papers::two_level_cuckoo<Key, Value>"
  ON_CPU u32/u32 u64/void u16/u8 double/std::int64_t
  ELSEWHERE u32/u32 u64/void double/std::int64_t
  UNDER_SANITIZERS u32/u32 double/std::int64_t
  READS 2)
