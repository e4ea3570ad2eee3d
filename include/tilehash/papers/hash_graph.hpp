// SPDX-License-Identifier: Apache-2.0
// HashGraph by one builder, whatever the size: the thesis' versions, to compare with the default of
// designs/hash_graph.hpp.
//
//   hash_graph_v1         count, scan, scatter
//   hash_graph_v2         the items are reordered first, so that version 1 stays in the cache
//   hash_graph_segments   version 1 on segments (algorithm/segments.hpp), whose sizes are counted separately: a
//                         counter for each row instead of a number for each item, and twice as many atomic
//                         operations
//
// Source: HashGraph (O. Green) as studied in A. Kolushev, Algorithms and data structures for hashing on GPU,
// CTU Prague 2021, sections 2.5 and 3.4, algorithms 7 and 8.
#pragma once

#include <tilehash/designs/hash_graph.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

// A builder. (The bodies are public because nvcc starts no kernel on a private type.)
struct segments {
  static constexpr const char* name = "hash_graph_segments";
  static constexpr double max_load_factor = builders::count_and_scatter::max_load_factor;

  template <class Rows, class Key>
  struct count_body {
    Rows rows;
    const Key* keys;
    typename Rows::offset* sizes;
    TILEHASH_FN void operator()(u64 i) const {
      if (detail::is_legal(keys[i]))
        detail::fetch_add(sizes + rows.locate(keys[i]).row, typename Rows::offset(1));
    }
  };
  // Fills each row from its end; its size counts the items that are left.
  template <class Rows, class Key, class MappedPointer>
  struct fill_body {
    using offset = typename Rows::offset;
    Rows rows;
    const Key* keys;
    MappedPointer values;
    offset* sizes;
    TILEHASH_FN void operator()(u64 i) const {
      if (!detail::is_legal(keys[i])) return;
      const u64 row = rows.locate(keys[i]).row;
      const offset left = detail::fetch_add(sizes + row, static_cast<offset>(~offset(0)));
      rows.entries()[rows.rows().begin(row) + left - 1] =
          detail::make_entry<typename Rows::entry>(keys, values, i);
    }
  };

  // O(items + rows).
  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    using offset = typename Rows::offset;
    const buffer<offset, Space> sizes(space, rows.capacity() + 1);
    space.fill(sizes.data(), sizes.size(), offset(0));
    space.for_each(n, count_body<Rows, Key>{rows, keys, sizes.data()});
    rows.rows().set_sizes(space, sizes.data());
    space.for_each(n, fill_body<Rows, Key, MappedPointer>{rows, keys, values, sizes.data()});
    rows.add_filters(space);
    return rows.rows().positions(space);
  }
};

template <class Key, class Value, class Hash = murmur, class Index = u32>
using hash_graph_v1 = hash_graph<Key, Value, Hash, Index, builders::count_and_scatter>;
template <class Key, class Value, class Hash = murmur, class Index = u32>
using hash_graph_v2 = hash_graph<Key, Value, Hash, Index, builders::binned<builders::count_and_scatter>>;
template <class Key, class Value, class Hash = murmur, class Index = u32>
using hash_graph_segments = hash_graph<Key, Value, Hash, Index, segments>;

static_assert(rowed<hash_graph_segments<u32, u32>> && multivalue<hash_graph_segments<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash
