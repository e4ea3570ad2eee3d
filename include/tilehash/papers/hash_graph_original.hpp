// SPDX-License-Identifier: Apache-2.0
// HashGraph as its authors' own program builds it; the thesis' assignment asks for the comparison. It takes
// the steps of version 2 one by one, each by one atomic operation for an item in global memory.
//
//   hash         rows of all items, stored for the next two steps
//   count bins   one addition for each item; scan; counters to zero
//   reorganise   an item to its bin: its number there is a second addition; keys and values move together
//   count rows   of the items in that order, hashed again; scan; counters to zero
//   scatter      hashed again; an item's number in its row is a second addition
//
// hash_graph_bins of hash_graph.hpp has the same bins, and fewer steps. It has no array of hashes, ends of
// bins count down their items, and the count of a row gives an item's number. The program divides by the
// number of rows; here the hash is scaled, as in all designs, which sends an item to its bin in the same way.
// It takes integers of 64 bits, and what it finds is the number of matching pairs; here keys and values are
// of any type.
//
// Source: O. Green, HashGraph: Scalable Hash Tables Using a Sparse Graph Data Structure, ACM TOPC 2021, and the
// program of A. Tripathy and O. Green (github.com/alokpathy/hashgraph, SingleHashGraph.cu), the baseline of point 6
// of the assignment of A. Kolushev, CTU Prague 2021.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/hash_graph.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

// The builder. (The bodies are public because nvcc starts no kernel on a private type.)
template <u32 Bins>
struct in_separate_steps {
  static_assert(Bins > 0);
  static constexpr const char* name = "hash_graph_original";
  static constexpr double max_load_factor = builders::count_and_scatter::max_load_factor;
  static constexpr u32 bins = Bins;

  // The row of an item without one: its key is NaN.
  template <class Offset>
  static constexpr Offset no_row = static_cast<Offset>(~Offset(0));

  template <class Rows, class Key>
  struct hash_body {
    Rows rows;
    const Key* keys;
    typename Rows::offset* row_of;
    TILEHASH_FN void operator()(u64 i) const {
      row_of[i] = detail::is_legal(keys[i]) ? static_cast<typename Rows::offset>(rows.locate(keys[i]).row)
                                            : no_row<typename Rows::offset>;
    }
  };
  template <class Offset>
  struct count_bins_body {
    const Offset* row_of;
    Offset* counts;
    u64 bin_rows;
    TILEHASH_FN void operator()(u64 i) const {
      if (row_of[i] != no_row<Offset>) detail::fetch_add(counts + row_of[i] / bin_rows, Offset(1));
    }
  };
  template <class Rows, class Key, class MappedPointer>
  struct reorganise_body {
    using offset = typename Rows::offset;
    const Key* keys;
    MappedPointer values;
    const offset *row_of, *begins;
    offset* counts;
    u64 bin_rows;
    typename Rows::entry* out;
    TILEHASH_FN void operator()(u64 i) const {
      if (row_of[i] == no_row<offset>) return;
      const u64 bin = row_of[i] / bin_rows;
      const offset at = begins[bin] + detail::fetch_add(counts + bin, offset(1));
      out[at] = detail::make_entry<typename Rows::entry>(keys, values, i);
    }
  };
  template <class Rows>
  struct count_rows_body {
    Rows rows;
    const typename Rows::entry* items;
    typename Rows::offset* counts;
    TILEHASH_FN void operator()(u64 i) const {
      detail::fetch_add(counts + rows.locate(items[i].key).row, typename Rows::offset(1));
    }
  };
  template <class Rows>
  struct scatter_body {
    using offset = typename Rows::offset;
    Rows rows;
    const typename Rows::entry* items;
    offset* counts;
    TILEHASH_FN void operator()(u64 i) const {
      const u64 row = rows.locate(items[i].key).row;
      rows.entries()[rows.rows().begin(row) + detail::fetch_add(counts + row, offset(1))] = items[i];
    }
  };

  // O(items + rows + bins). Temporary memory: the items' bytes, an offset for each of them and for each row.
  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    using offset = typename Rows::offset;
    using entry = typename Rows::entry;
    const u64 bin_rows = detail::divide_up(rows.capacity(), bins);
    const buffer<offset, Space> row_of(space, n), counts(space, rows.capacity() + 1);
    const buffer<offset, Space> bin_counts(space, bins + 1), bin_begins(space, bins + 1);
    const detail::segments<offset> order{bin_begins.data(), bins};
    space.for_each(n, hash_body<Rows, Key>{rows, keys, row_of.data()});

    space.fill(bin_counts.data(), bin_counts.size(), offset(0));
    space.for_each(n, count_bins_body<offset>{row_of.data(), bin_counts.data(), bin_rows});
    order.set_sizes(space, bin_counts.data());
    const u64 legal = order.positions(space);
    space.fill(bin_counts.data(), bin_counts.size(), offset(0));
    const buffer<char, Space> memory(space, legal * sizeof(entry));
    entry* const moved = reinterpret_cast<entry*>(memory.data());
    space.for_each(n,
                   reorganise_body<Rows, Key, MappedPointer>{keys, values, row_of.data(), bin_begins.data(),
                                                             bin_counts.data(), bin_rows, moved});

    space.fill(counts.data(), counts.size(), offset(0));
    space.for_each(legal, count_rows_body<Rows>{rows, moved, counts.data()});
    rows.rows().set_sizes(space, counts.data());
    space.fill(counts.data(), counts.size(), offset(0));
    space.for_each(legal, scatter_body<Rows>{rows, moved, counts.data()});
    rows.add_filters(space);
    return legal;
  }
};

template <class Key, class Value, u32 Bins = 32'000, class Hash = murmur, class Index = u32>
using hash_graph_original = hash_graph<Key, Value, Hash, Index, in_separate_steps<Bins>>;

static_assert(rowed<hash_graph_original<u32, u32>> && multivalue<hash_graph_original<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
