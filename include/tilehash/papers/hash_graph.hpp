// SPDX-License-Identifier: Apache-2.0
// HashGraph by one builder, whatever the size: the thesis' versions, to compare with the default of
// designs/hash_graph.hpp.
//
//   hash_graph_v1         count, scan, scatter
//   hash_graph_v2         the items are reordered first, so that version 1 stays in the cache
//   hash_graph_bins       the same in a given number of bins, 32 000 as published, by one atomic operation for
//                         each item and step in global memory; version 2 here takes as many bins as the cache
//                         asks for, and counts them in a block's own memory
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

// Algorithm 8: counts the items of each bin, copies them in the order of the bins, and builds by version 1.
template <u32 Bins>
struct reordered {
  static_assert(Bins > 0);
  static constexpr const char* name = "hash_graph_bins";
  static constexpr double max_load_factor = builders::count_and_scatter::max_load_factor;
  static constexpr u32 bins = Bins;

  // A bin has neighbouring rows.
  template <class Rows, class Key>
  struct bin_count_body {
    Rows rows;
    const Key* keys;
    typename Rows::offset* sizes;
    u64 bin_rows;

    TILEHASH_FN u64 bin_of(u64 i) const { return rows.locate(keys[i]).row / bin_rows; }
    TILEHASH_FN void operator()(u64 i) const {
      if (detail::is_legal(keys[i])) detail::fetch_add(sizes + bin_of(i), typename Rows::offset(1));
    }
  };
  template <class Rows, class Key, class MappedPointer>
  struct reorder_body {
    using offset = typename Rows::offset;
    using mapped =
        std::conditional_t<Rows::is_set, char, std::remove_const_t<std::remove_pointer_t<MappedPointer>>>;
    bin_count_body<Rows, Key> items;
    MappedPointer values;
    offset* next;
    detail::binned_key<Key>* keys_out;
    mapped* values_out;

    TILEHASH_FN void operator()(u64 i) const {
      if (!detail::is_legal(items.keys[i])) return;
      const u64 at = detail::fetch_add(next + items.bin_of(i), offset(1));
      keys_out[at] = {items.keys[i]};
      if constexpr (!Rows::is_set) values_out[at] = values[i];
    }
  };

  // O(items + rows + bins). Temporary memory: the items' bytes, and version 1's.
  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    using offset = typename Rows::offset;
    using reorder = reorder_body<Rows, Key, MappedPointer>;
    const buffer<offset, Space> ends(space, bins + 1);
    const detail::segments<offset> order{ends.data(), bins};
    const bin_count_body<Rows, Key> items{rows, keys, ends.data(), detail::divide_up(rows.capacity(), bins)};
    order.start_counting(space);
    space.for_each(n, items);
    order.end_counting(space);
    const u64 legal = order.positions(space);
    const buffer<char, Space> memory(space, n * sizeof(Key));
    const buffer<typename reorder::mapped, Space> moved(space, Rows::is_set ? 0 : n);
    space.for_each(n, reorder{items, values, ends.data(),
                              reinterpret_cast<detail::binned_key<Key>*>(memory.data()), moved.data()});
    return builders::count_and_scatter::build(space, rows, reinterpret_cast<const Key*>(memory.data()),
                                              MappedPointer(moved.data()), legal);
  }
};

template <class Key, class Value, class Hash = murmur, class Index = u32>
using hash_graph_v1 = hash_graph<Key, Value, Hash, Index, builders::count_and_scatter>;
template <class Key, class Value, class Hash = murmur, class Index = u32>
using hash_graph_v2 = hash_graph<Key, Value, Hash, Index, builders::binned<builders::count_and_scatter>>;
template <class Key, class Value, class Hash = murmur, class Index = u32>
using hash_graph_segments = hash_graph<Key, Value, Hash, Index, segments>;

template <class Key, class Value, u32 Bins = 32'000, class Hash = murmur, class Index = u32>
using hash_graph_bins = hash_graph<Key, Value, Hash, Index, reordered<Bins>>;

static_assert(rowed<hash_graph_segments<u32, u32>> && multivalue<hash_graph_segments<u32, u32>>);
static_assert(rowed<hash_graph_bins<u32, u32>> && multivalue<hash_graph_bins<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash
