// SPDX-License-Identifier: Apache-2.0
// Numbers the selected ones of n items from *count on, in no given order. *count grows by how many they are.
//
// A GPU's block numbers its items by one atomic operation: one for each warp would make all warps take turns
// at *count. A warp takes neighbouring items, 32 at a time, so that it reads them and writes what it selects
// in whole lines.
#pragma once

#include <algorithm>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A choice has selects(i), and use(i, number) that is called for each selected item.
template <class Choice>
struct compact_shares {
  Choice choice;
  u64* count;

  void operator()(u64 from, u64 to) const {
    u64 chosen = 0;
    for (u64 i = from; i < to; ++i) chosen += choice.selects(i);
    u64 number = detail::fetch_add(count, chosen);
    for (u64 i = from; i < to; ++i) {
      if (choice.selects(i)) choice.use(i, number++);
    }
  }
};

template <class Choice>
struct compact_blocks {
  static constexpr u32 block_size = tuning::gpu::compact_block, most_each = tuning::gpu::compacted_items;
  using sums = block_sums<block_size>;
  static constexpr u32 group = sums::group, groups = block_size / group;

  struct layout {
    scratch_array<u64> base{1};
    scratch_array<u32> of_groups{base, sums::words};
  };
  static constexpr u64 scratch_bytes = sizeof(u64) + sums::words * sizeof(u32);

  Choice choice;
  u64 n;
  u64* count;
  u32 each;  // items of a thread, at most most_each

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const layout scratch;
    const auto base = scratch.base.in(block);
    const auto t = block.template tile<group>();
    const u32 lane = t.rank();
    const u64 first = (block.index() * groups + block.rank() / group) * group * each + lane;
    u32 chosen[most_each];  // bit l: the item of lane l
    u32 mine = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < most_each; ++k) {
      const u64 i = first + u64(k) * group;
      chosen[k] = t.ballot(k < each && i < n && choice.selects(i));
      mine += count_ones(chosen[k]);
    }
    u32 all = 0;
    const u32 before = sums::before(block, scratch.of_groups.in(block), lane == 0 ? mine : 0, all);
    if (block.rank() == 0) base[0] = all != 0 ? fetch_add(count, u64(all)) : 0;
    block.barrier();
    u64 number = base[0] + t.broadcast(before, 0);
    TILEHASH_UNROLL
    for (u32 k = 0; k < most_each; ++k) {
      if ((chosen[k] >> lane & 1) != 0)
        choice.use(first + u64(k) * group, number + count_ones(chosen[k] & ((u32(1) << lane) - 1)));
      number += count_ones(chosen[k]);
    }
  }
};

template <class Space, class Choice>
void compact(Space& space, u64 n, const Choice& choice, u64* count) {
  if constexpr (Space::has_lanes) {
    using work = compact_blocks<Choice>;
    // Few items have fewer of a thread, so that all multiprocessors have work.
    const u64 threads = space.large_blocks_at_once() * tuning::gpu::compacting_threads;
    const u64 each = std::clamp<u64>(divide_up(n, threads), 1, work::most_each);
    space.for_each_block(divide_up(n, each * work::block_size), work::block_size, work::scratch_bytes,
                         work{choice, n, count, static_cast<u32>(each)});
  } else {
    space.for_each_share(n, compact_shares<Choice>{choice, count});
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
