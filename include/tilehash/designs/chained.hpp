// SPDX-License-Identifier: Apache-2.0
// Chaining without links: the items sorted by their bucket, and where each bucket starts (rows.hpp).
//
//   bucket of each item   3 0 2 3 0 3         sorted with the items:   0 0 2 3 3 3
//   items                 d a c e b f                                  a b c d e f
//   a boundary is in front of entry 2 (buckets 1 and 2 start there: 1 is empty) and of entry 3 (bucket 3)
//
// A radix sort by bucket number makes the items of each bucket contiguous. A chain is then an array, and the
// build writes memory in order. Where keys and values fit a word, the sort has two digits. The second digit
// is counted in block-local memory, with the starts of the buckets (designs/rows/by_regions.hpp), and the
// result is a hash_graph's. Otherwise the build uses the space's own radix sort (builders::radix_sort). Every
// entry then compares its bucket with its neighbour's. Where the bucket changes, the entry writes the start
// of all buckets between the two, empty ones too.
//
// The number of buckets is a parameter. Load factor 10 (B = 0.1N) gives the smallest table, with long walks;
// load factor 0.5 (B = 2N) gives the largest. Near B = 0.5N (load factor 2) found and missing keys cost the
// same. A table of N items and B buckets takes N + B / 2 slots.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, chapter 4.
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/designs/rows.hpp>
#include <tilehash/designs/rows/by_regions.hpp>
#include <tilehash/space/algorithms.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace builders {

struct radix_sort {
  static constexpr const char* name = "chained";
  static constexpr double max_load_factor = 10;

  // The row of each item; items without a legal key go behind the last row.
  template <class Rows, class Key, class MappedPointer, class Moved>
  struct name_rows {
    Rows rows;
    const Key* keys;
    MappedPointer values;
    typename Rows::offset* row;
    Moved* moved;
    TILEHASH_FN void operator()(u64 i) const {
      const u64 r = detail::is_legal(keys[i]) ? rows.locate(keys[i]).row : rows.capacity();
      row[i] = static_cast<typename Rows::offset>(r);
      if constexpr (std::is_integral_v<Moved>)
        moved[i] = static_cast<Moved>(i);
      else
        moved[i] = detail::make_entry<Moved>(keys, values, i);
    }
  };
  // Entry i is in row[i]. All rows after its predecessor's row, up to row[i], start at entry i.
  template <class Rows>
  struct find_starts {
    Rows rows;
    const typename Rows::offset* row;
    u64 n;
    TILEHASH_FN void operator()(u64 i) const {  // i = n closes all remaining rows
      const u64 from = i == 0 ? 0 : u64(row[i - 1]) + 1;
      const u64 last = rows.capacity(), to = i == n || row[i] > last ? last : u64(row[i]);
      for (u64 r = from; r <= to; ++r) rows.offsets()[r] = static_cast<typename Rows::offset>(i);
    }
  };
  template <class Rows, class Key, class MappedPointer>
  struct fetch_entries {
    Rows rows;
    const Key* keys;
    MappedPointer values;
    const typename Rows::offset* order;
    TILEHASH_FN void operator()(u64 i) const {
      rows.entries()[i] = detail::make_entry<typename Rows::entry>(keys, values, order[i]);
    }
  };

  // Sorts n items once, by as many bits as row numbers have. Entries of up to 16 bytes are sorted as they
  // are, larger ones by their indices.
  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    using offset = typename Rows::offset;
    using entry = typename Rows::entry;
    constexpr bool moves_entries = sizeof(entry) <= 16;
    using moved = std::conditional_t<moves_entries, entry, offset>;
    detail::require(rows.capacity() < static_cast<offset>(~offset(0)),
                    "chained: too many buckets for 32-bit offsets");
    buffer<offset, Space> row(space, n);
    buffer<offset, Space> order(space, moves_entries ? 0 : n);
    moved* to_move;
    if constexpr (moves_entries)
      to_move = rows.entries();
    else
      to_move = order.data();
    space.for_each(n, name_rows<Rows, Key, MappedPointer, moved>{rows, keys, values, row.data(), to_move});
    u32 bits = 1;
    while (rows.capacity() >> bits != 0) ++bits;
    space.sort_pairs(row.data(), to_move, n, bits);
    space.for_each(n + 1, find_starts<Rows>{rows, row.data(), n});
    if constexpr (!moves_entries)
      space.for_each(n, fetch_entries<Rows, Key, MappedPointer>{rows, keys, values, order.data()});
    return rows.rows().positions(space);
  }
};

}  // namespace builders

/// Rows of items, built at once from all items; repeated keys keep all of theirs.
///
/// A build takes O(n) and cannot fail; it is the only change. A lookup takes O(1 + row length). Memory: n
/// entries, and an Offset a row. Load factor: items a row, at most 10, by default 1. Lookups may run
/// concurrently with lookups.
/// \tparam Key,Value of any size; Value may be void.
/// \tparam Offset u32 for up to 2^32 - 2 items, or u64.
/// \tparam Builder how the rows are made.
template <class Key, class Value, class Hash = murmur, class Offset = u32,
          class Builder = builders::by_regions<builders::radix_sort>>
using chained = row_table<Key, Value, Builder, Hash, detail::index_of<Offset>>;

static_assert(rowed<chained<u32, u32>> && multivalue<chained<u32, u32>>);

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(chained);
}  // namespace tilehash
