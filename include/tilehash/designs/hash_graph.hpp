// HashGraph: hash values and items as a bipartite graph, stored in compressed sparse rows (rows.hpp).
//
// Built in bulk from all items at once, with no retries and no failures at any load factor (rows = items at
// load factor 1). A builder is a policy:
//
//   builders::count_and_scatter   version 1, in three passes: count the items of each row, scan the counts
//                                 into offsets, scatter the items
//   builders::by_regions<...>     ours: the items are partitioned first, and a block counts, scans and
//                                 scatters those of a region in its own memory (rows/by_regions.hpp), as it
//                                 does for `chained`. The default; what fits no word is left to version 1
//
// In version 1 the counting atomic already tells an item's place within its row, so scattering needs no
// second round of atomics:
//
//   items     d a c e b f
//   counts  | 2 | 0 | 1 | 3 | 0 |       and each item's rank in its row: d 0, a 0, c 0, e 1, b 1, f 2
//   offsets | 0 | 2 | 2 | 3 | 6 | 6 |   entry of an item = offsets[row] + rank
//
// Source: HashGraph (O. Green) version 1 as studied in A. Kolushev, Algorithms and data structures for
// hashing on GPU, CTU Prague 2021, section 2.5, algorithms 7 and 9.
#pragma once

#include <tilehash/designs/rows.hpp>
#include <tilehash/designs/rows/by_regions.hpp>
#include <tilehash/space/algorithms.hpp>

namespace tilehash::inline TILEHASH_ABI {

namespace builders {

// (The bodies are public because nvcc starts no kernel on a private type.)
struct count_and_scatter {
  static constexpr const char* name = "hash_graph";
  static constexpr double max_load_factor = detail::max_load_factor;

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
        rows.entries()[rows.offsets()[rows.locate(keys[i]).row] + ranks[i]] =
            detail::make_entry<typename Rows::entry>(keys, values, i);
    }
  };

  // O(items + rows).
  template <class Space, class Rows, class Key, class MappedPointer>
  static void build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    using offset = typename Rows::offset;
    buffer<offset, Space> ranks(space, n);
    space.fill(rows.offsets(), rows.capacity() + 1, offset(0));
    space.for_each(n, count_body<Rows, Key>{rows, keys, ranks.data()});
    space.exclusive_scan(rows.offsets(), rows.offsets(), rows.capacity() + 1);
    space.for_each(n, scatter_body<Rows, Key, MappedPointer>{rows, keys, values, ranks.data()});
  }
};

}  // namespace builders

template <class Key, class Value, class Hash = murmur, class Offset = u32,
          class Builder = builders::by_regions<builders::count_and_scatter>>
using hash_graph = row_table<Key, Value, Builder, Hash, Offset>;

static_assert(rowed<hash_graph<u32, u32>> && bulk_built<hash_graph<u32, u32>> &&
              multivalue<hash_graph<u32, u32>>);

}  // namespace tilehash::inline TILEHASH_ABI
