// SPDX-License-Identifier: Apache-2.0
// Counts rows in a block's scratch and converts the counts to offsets, for by_regions.hpp and in_bins.hpp.
//
//   counted    | filter: 17 bits | items: 15 bits |    a word for each row; without filters all 32 bits count
//   added up   | filter: 17 bits | begin: 15 bits |
//
// When an item has been counted, only the begin of its row is missing to know its position. placed_items
// keeps the rank until then, so that no item is hashed, or counted, twice.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/designs/rows.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A row, by its number in the block, and a key's bit of its filter.
struct row_here {
  u32 row, filter;
};

// `Words` is the block's scratch. All threads of the block call these functions together, with barriers
// between, except rank_of() and begin_of().
template <class Rows, u32 Threads, class Words>
struct block_rows {
  using sums = block_sums<Threads>;
  static constexpr bool has_filter = Rows::index::has_filter;
  static constexpr u32 begin_bits = has_filter ? 15 : 32, begin_mask = ~u32(0) >> (32 - begin_bits);
  static_assert(!has_filter || filtered_rows::filter_bits == 32 - begin_bits);

  Words words;
  u32 size;  // rows that have words
  u32 me;    // the caller's rank in the block

  // One thread adds up neighbouring counts. One in 33 words is left out, so that neighbouring threads access
  // different banks.
  TILEHASH_FN static constexpr u32 padded(u32 r) { return r + (r >> 5); }
  static constexpr u64 scratch_bytes(u32 rows) { return (padded(rows) + sums::words) * sizeof(u32); }

  TILEHASH_FN void clear() const {
    for (u32 i = me; i < padded(size); i += Threads) words[i] = 0;
  }
  // Counts an item of a row, and sets its key's bit of the filter. Returns its rank in the row.
  TILEHASH_FN u32 rank_of(const row_here& at) const {
    const u32 rank = fetch_add(words + padded(at.row), u32(1)) & begin_mask;
    if constexpr (has_filter) set_bits(words + padded(at.row), at.filter << begin_bits % 32);
    return rank;
  }
  // Converts each row's count to its begin. `mask` selects the count of a word; filters stay.
  template <class Block>
  TILEHASH_FN void add_up(Block block, u32 mask = begin_mask) const {
    const u32 each = (size + Threads - 1) / Threads, from = me * each < size ? me * each : size;
    const u32 to = from + each < size ? from + each : size;
    u32 mine = 0, sum_of_all;
    for (u32 r = from; r < to; ++r) mine += u32(words[padded(r)]) & mask;
    u32 start = sums::before(block, words + padded(size), mine, sum_of_all);
    for (u32 r = from; r < to; ++r) {
      const u32 count = words[padded(r)];
      words[padded(r)] = start | (count & ~mask);
      start += count & mask;
    }
  }
  TILEHASH_FN u32 begin_of(u32 row) const { return u32(words[padded(row)]) & begin_mask; }
  // Writes `count` rows of the table from `first_row` on. Their n items begin at entry `first`.
  TILEHASH_FN void put(const Rows& rows, u64 first_row, u32 count, u64 first, u32 n) const {
    for (u32 r = me; r < count; r += Threads) {
      const u32 is = words[padded(r)], begin = is & begin_mask, end = r + 1 < size ? begin_of(r + 1) : n;
      rows.put_row(first_row + r, first + begin, end - begin, has_filter ? is >> begin_bits % 32 : 0);
    }
  }
};

// The positions of the caller's share of a block's items: for each the row, of `RowBits`, and its rank in it.
// Items come in batches: fetch(number of the batch, items) reads all of a batch before the first is used.
template <class Item, u32 Threads, u32 Batches, u32 AtOnce, u32 RowBits>
class placed_items {
 public:
  static constexpr u32 most = Batches * AtOnce * Threads;  // items of a block

  // Counts the n items of the block; row_of(item) is a row_here.
  template <class Rows, class Fetch, class RowOf>
  TILEHASH_FN void count(const Rows& here, u32 n, const Fetch& fetch, const RowOf& row_of) {
    for_each(here.me, n, fetch, [&](u32 number, const Item& item) {
      const row_here at = row_of(item);
      positions_[number] = here.rank_of(at) << RowBits | at.row;
    });
  }
  // Call after add_up(): use(item, its position among the block's items).
  template <class Rows, class Fetch, class Use>
  TILEHASH_FN void place(const Rows& here, u32 n, const Fetch& fetch, const Use& use) const {
    for_each(here.me, n, fetch, [&](u32 number, const Item& item) {
      const u32 row = positions_[number] & ((1U << RowBits) - 1);
      use(item, here.begin_of(row) + (positions_[number] >> RowBits));
    });
  }

 private:
  template <class Fetch, class Use>
  TILEHASH_FN static void for_each(u32 me, u32 n, const Fetch& fetch, const Use& use) {
    TILEHASH_UNROLL
    for (u32 b = 0; b < Batches; ++b) {
      const u32 i = b * AtOnce * Threads + me;
      if (b * AtOnce * Threads >= n) break;
      Item items[AtOnce];
      fetch(b, items);
      TILEHASH_UNROLL
      for (u32 k = 0; k < AtOnce; ++k) {
        if (i + k * Threads < n) use(b * AtOnce + k, items[k]);
      }
    }
  }

  u32 positions_[Batches * AtOnce];
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
