// SPDX-License-Identifier: Apache-2.0
// The runs of a partition (algorithm/partition.hpp): where each region's entries begin in a block's share, and
// space for them in the region's bin.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Replaces each region's count by the start of its entries among the block's, and reserves space for them in
// the region's bin, which has `fill` entries. The block's entry i becomes entry shift + i of the bin. Returns
// the number of all entries. A thread serves neighbouring regions, and reserves in `AtOnce` of them at once.
template <u32 Threads, u32 AtOnce, class Block, class Counts, class Shifts, class Fill>
TILEHASH_FN u32 reserve_runs(Block block, Counts starts, Shifts shifts, Counts scratch, u32 regions,
                             Fill* fill) {
  const u32 me = block.rank(), each = (regions + Threads - 1) / Threads;
  const u32 from = me * each < regions ? me * each : regions;
  const u32 to = from + each < regions ? from + each : regions;
  u32 mine = 0;
  for (u32 r = from; r < to; ++r) mine += u32(starts[r]);
  u32 all = 0, start = block_sums<Threads>::before(block, scratch, mine, all);
  for (u32 r = from; r < to; r += AtOnce) {
    u32 count[AtOnce];
    Fill base[AtOnce];
    TILEHASH_UNROLL
    for (u32 k = 0; k < AtOnce; ++k) {
      count[k] = r + k < to ? u32(starts[r + k]) : 0;
      base[k] = count[k] != 0 ? fetch_add(fill + r + k, Fill(count[k])) : 0;
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < AtOnce; ++k) {
      if (r + k >= to) continue;
      starts[r + k] = start;
      shifts[r + k] = base[k] - start;
      start += count[k];
    }
  }
  return all;
}

// The same in steps, between which a GPU's threads may work: start_runs(), a barrier, and for each step of regions
// reserve() and then set_shifts(). Neighbouring threads reserve in neighbouring regions, whose numbers are in one
// sector of memory.
template <u32 Threads, class Block, class Counts>
TILEHASH_FN u32 start_runs(Block block, Counts starts, Counts scratch, u32 regions) {
  const u32 me = block.rank(), each = (regions + Threads - 1) / Threads;
  const u32 from = me * each < regions ? me * each : regions;
  const u32 to = from + each < regions ? from + each : regions;
  u32 mine = 0;
  for (u32 r = from; r < to; ++r) mine += u32(starts[r]);
  u32 all = 0, start = block_sums<Threads>::before(block, scratch, mine, all);
  for (u32 r = from; r < to; ++r) {
    const u32 count = starts[r];
    starts[r] = start;
    start += count;
  }
  return all;
}

// A thread's part of a step: the regions `first`, `first` + Threads, ...
template <u32 Threads, u32 AtOnce, class Fill>
struct reserved_runs {
  static constexpr u32 step = AtOnce * Threads;
  Fill base[AtOnce];

  // The block has `all` entries. The bins' replies are not awaited.
  template <class Counts>
  TILEHASH_FN void reserve(Counts starts, u32 regions, u32 all, u32 first, Fill* fill) {
    TILEHASH_UNROLL
    for (u32 k = 0; k < AtOnce; ++k) {
      const u32 r = first + k * Threads;
      u32 count = 0;
      if (r < regions) count = (r + 1 < regions ? u32(starts[r + 1]) : all) - u32(starts[r]);
      base[k] = count != 0 ? fetch_add(fill + r, Fill(count)) : 0;
    }
  }
  template <class Counts, class Shifts>
  TILEHASH_FN void set_shifts(Counts starts, Shifts shifts, u32 regions, u32 first) const {
    TILEHASH_UNROLL
    for (u32 k = 0; k < AtOnce; ++k) {
      const u32 r = first + k * Threads;
      if (r < regions) shifts[r] = static_cast<u32>(base[k] - u32(starts[r]));
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
