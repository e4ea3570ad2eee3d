// SPDX-License-Identifier: Apache-2.0
// HashGraph: hash values and items as a bipartite graph, stored in compressed sparse rows (rows.hpp).
//
// Built in bulk from all items at once, without retries or failures at any load factor (items a row; the
// default 1 is the paper's C_v = 1). A builder is a policy:
//
//   builders::count_and_scatter           version 1, in three passes: count the items of each row, scan the
//                                         counts into offsets, scatter the items
//   builders::binned<count_and_scatter>   version 2: the items are reordered first, so that version 1 stays
//                                         in the cache (rows/binned.hpp)
//   builders::by_regions<...>             ours: the items are partitioned first, and a block orders those of
//                                         a region in its own memory (rows/by_regions.hpp), as for
//                                         `chained`; another builder takes entries that fit no word
//   builders::in_bins<...>                the same for entries that fit no word: the bins of version 2, and a
//                                         block that counts a bin's rows in its own memory (rows/in_bins.hpp)
//   builders::automatic                   the default, the fastest of these
//
// In version 1 the counting atomic already returns an item's position within its row, so scattering needs no
// second round of atomics:
//
//   items     d a c e b f
//   counts  | 2 | 0 | 1 | 3 | 0 |       and each item's rank in its row: d 0, a 0, c 0, e 1, b 1, f 2
//   offsets | 0 | 2 | 2 | 3 | 6 | 6 |   entry of an item = offsets[row] + rank
//
// Measurements: docs/measured/hash_graph.md.
//
// Source: HashGraph (O. Green) as studied in A. Kolushev, Algorithms and data structures for hashing on GPU,
// CTU Prague 2021, sections 2.5 and 3.4, algorithms 7 to 9.
#pragma once

#include <tilehash/algorithm/cache.hpp>
#include <tilehash/designs/rows.hpp>
#include <tilehash/designs/rows/binned.hpp>
#include <tilehash/designs/rows/by_regions.hpp>
#include <tilehash/designs/rows/in_bins.hpp>
#include <tilehash/space/algorithms.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace builders {

// (The bodies are public because nvcc starts no kernel on a private type.)
struct count_and_scatter {
  static constexpr const char* name = "hash_graph_v1";
  static constexpr double max_load_factor = 10;

  template <class Rows, class Key>
  struct count_body {
    Rows rows;
    const Key* keys;
    typename Rows::offset* ranks;
    TILEHASH_FN void operator()(u64 i) const {
      if (detail::is_legal(keys[i]))
        ranks[i] = detail::fetch_add(rows.offsets() + rows.locate(keys[i]).row, typename Rows::offset(1));
    }
  };
  template <class Rows, class Key, class MappedPointer>
  struct scatter_body {
    Rows rows;
    const Key* keys;
    MappedPointer values;
    const typename Rows::offset* ranks;
    TILEHASH_FN void operator()(u64 i) const {
      if (detail::is_legal(keys[i]))
        rows.entries()[rows.rows().begin(rows.locate(keys[i]).row) + ranks[i]] =
            detail::make_entry<typename Rows::entry>(keys, values, i);
    }
  };

  // O(items + rows).
  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    using offset = typename Rows::offset;
    buffer<offset, Space> ranks(space, n);
    rows.rows().start_counting(space);
    space.for_each(n, count_body<Rows, Key>{rows, keys, ranks.data()});
    rows.rows().end_counting(space);
    space.for_each(n, scatter_body<Rows, Key, MappedPointer>{rows, keys, values, ranks.data()});
    rows.add_filters(space);
    return rows.rows().positions(space);
  }
};

// The fastest builder in our measurements. Entries that fit a word are built by regions, others in bins if
// there is memory for it. Version 1 serves tables that stay in the cache, except words on a GPU.
struct automatic {
  static constexpr const char* name = "hash_graph";
  static constexpr double max_load_factor = count_and_scatter::max_load_factor;

  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    const u64 bytes = Rows::bytes(rows.capacity(), n);
    if constexpr (detail::rows_have_words<Rows>) {
      if (!detail::stays_in_cache(space, bytes))
        return by_regions<count_and_scatter>::build(space, rows, keys, values, n);
    } else if (detail::bins_pay(space, bytes)) {
      try {
        return in_bins<binned<count_and_scatter>>::build(space, rows, keys, values, n);
      } catch (const out_of_memory&) {  // version 1 takes less
      }
    }
    return count_and_scatter::build(space, rows, keys, values, n);
  }
};

}  // namespace builders

/// Rows of items with filters, built at once; repeated keys keep all of theirs (docs/explain/hash_graph.md).
///
/// A build takes O(n) and cannot fail; it is the only change. A lookup takes O(1 + row length), and most absent
/// keys end at the row's filter. Memory: n entries, and 8 bytes a row. Load factor: items a row, at most 10, by
/// default 1. Lookups may run concurrently with lookups.
/// \tparam Key,Value of any size; Value may be void.
/// \tparam Index filtered_rows, or an integer type: plain offsets of that type, as in the thesis.
/// \tparam Builder how the rows are made.
template <class Key, class Value, class Hash = murmur, class Index = filtered_rows,
          class Builder = builders::automatic>
using hash_graph = row_table<Key, Value, Builder, Hash, detail::index_of<Index>>;

static_assert(rowed<hash_graph<u32, u32>> && multivalue<hash_graph<u32, u32>>);

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(hash_graph);
}  // namespace tilehash
