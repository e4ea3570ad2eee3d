// SPDX-License-Identifier: Apache-2.0
// A builder of rows (designs/rows.hpp) for items that fit no word: bins of neighbouring rows as in
// binned.hpp, and then a block for each bin.
//
//   items    --binned-->  | bin 0 | bin 1 | ...     each bin's range of the entries is final
//                             |       |
//                         block 0  block 1 ...      each counts its rows' items and adds the counts up to
//                                                   offsets in its scratch, and puts each item there
//
// The range of memory that a block writes stays in the cache until it is complete. So an item is written to
// memory twice, as in by_regions.hpp if a region fits the scratch. A block keeps only the position of each
// item, in its threads' registers.
#pragma once

#include <cmath>

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/rows/binned.hpp>
#include <tilehash/designs/rows/block_rows.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Puts the items of a bin in order.
template <class Rows, class Key, class MappedPointer, u32 Threads>
struct order_bin {
  using offset = typename Rows::offset;
  using entry = typename Rows::entry;
  static constexpr u32 block_size = Threads;
  // The most items of a bin: a word keeps each one's row and its rank in the row.
  using machine = tuning::of_block<Threads>;
  static constexpr u32 at_once = machine::ordered_at_once;
  static constexpr u32 batches = machine::ordered_items / at_once / Threads;
  static constexpr u32 rank_bits = 15, most_items = (1U << rank_bits) - 1, max_shift = 32 - rank_bits;
  using item_positions = placed_items<u32, Threads, batches, at_once, max_shift>;
  static_assert(most_items < item_positions::most);

  Rows rows;
  const binned_key<Key>* keys;
  MappedPointer values;
  const offset* ends;  // of the bins
  u32 shift;
  u64* refused;  // bins with too many items: they are left undone

  template <class Words>
  using rows_here = block_rows<Rows, Threads, Words>;
  static constexpr u64 scratch_bytes(u32 shift) { return rows_here<u32*>::scratch_bytes(1U << shift); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), size = 1U << shift;
    const u64 bin = block.index(), first_row = bin << shift, left = rows.capacity() - first_row;
    const u64 first = bin == 0 ? 0 : u64(ends[bin - 1]), came = ends[bin] - first;
    if (came > most_items) {
      if (me == 0) fetch_add(refused, u64(1));
      return;
    }
    const u32 n = static_cast<u32>(came);
    const auto words = block.template scratch<u32>();
    const rows_here<decltype(words)> here{words, size, me};
    here.clear();
    block.barrier();

    const auto numbers_of = [&](u32 b, u32* numbers) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) numbers[k] = (b * at_once + k) * Threads + me;
    };
    item_positions positions;
    positions.count(here, n, numbers_of, [&](u32 i) {
      const auto at = rows.locate(keys[first + i].key);
      return row_here{static_cast<u32>(at.row - first_row), at.filter};
    });
    block.barrier();
    here.add_up(block);
    block.barrier();
    positions.place(here, n, numbers_of,
                    [&](u32 i, u32 at) { rows.entries()[first + at] = entry_of(first + i); });
    here.put(rows, first_row, left < size ? static_cast<u32>(left) : size, first, n);
    if (me == 0 && left <= size) rows.offsets()[rows.capacity()] = static_cast<offset>(first + n);
  }
  TILEHASH_FN entry entry_of(u64 i) const {
    entry e;
    e.key = canonical(keys[i].key);
    if constexpr (requires { e.value; }) e.value = values[i];
    return e;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace builders {

// Builds in bins if they are enough for all blocks, few enough for a block to count them, and none has too
// many items, which is checked afterwards. `Otherwise` names the table, and builds the others. Temporary
// memory: the items' bytes.
template <class Otherwise>
struct in_bins {
  static constexpr const char* name = Otherwise::name;
  static constexpr double max_load_factor = Otherwise::max_load_factor;

  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    using work = detail::order_bin<Rows, Key, MappedPointer, detail::large_block<Space>>;
    // The rows of a bin, with their items, take half of its block's share of the cache; and there are bins
    // for all blocks.
    const u64 blocks = detail::least_regions(space), cache = space.cache_bytes() / blocks;
    const u64 scratch = space.largest_scratch();
    const double load = static_cast<double>(n) / static_cast<double>(rows.capacity());
    const double row = sizeof(typename Rows::offset) + load * sizeof(typename Rows::entry);
    const auto fits = [&](u32 shift) {
      const double size = std::exp2(shift), mean = load * size;
      return size * row <= static_cast<double>(cache) / detail::tuning::of<Space>::cache_share &&
             detail::most_expected(mean) <= work::most_items && work::scratch_bytes(shift) <= scratch;
    };
    u32 shift = 0;
    while (shift < work::max_shift && fits(shift + 1) && rows.capacity() >> (shift + 1) >= blocks) ++shift;
    const u64 bins = ((rows.capacity() - 1) >> shift) + 1;
    using binned_items = detail::items_in_bins<Space, Rows, Key, MappedPointer>;
    if (bins == 1 || bins > detail::tuning::of<Space>::ordered_bins || !fits(shift) ||
        binned_items::filling::scratch_bytes(static_cast<u32>(bins)) > scratch)
      return Otherwise::build(space, rows, keys, values, n);
    const binned_items in(space, rows, keys, values, n, shift);
    const buffer<u64, Space> refused(space, 1);
    space.fill(refused.data(), 1, u64(0));
    space.for_each_block(bins, work::block_size, work::scratch_bytes(shift),
                         work{rows, in.keys(), in.mapped(), in.ends.data(), shift, refused.data()});
    if (read_one(space, refused.data()) == 0) return in.size(space);
    return Otherwise::build(space, rows, in.bare_keys(), in.mapped(), in.size(space));
  }
};

}  // namespace builders
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
