// SPDX-License-Identifier: Apache-2.0
// A kernel of two stages, of which the second begins when all blocks have done the first. That saves the launch of
// another kernel.
//
//   block 0   first stage | wait | share | share | ...
//   block 1   first stage       | share | share | ...
//   block 2   (not started yet)             first stage | share | ...
//
// A block may start only when another ends, so no block waits for long: it leaves after some time, and the others take
// its shares of the second stage. The last block to do the first stage never waits.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

struct two_stages {
  u32* arrived = nullptr;  // and the shares taken behind it; zero between calls

  // After a block's first stage. False: the block must leave the second one to others. All threads call it, with a
  // word of scratch. What the blocks have written in the first stage is visible to the second.
  template <class Block, class Words>
  TILEHASH_FN bool all_arrived(Block block, Words scratch) const {
    block.barrier();
    if (block.rank() == 0) {
      device_fence();
      u64 come = fetch_add(arrived, 1U) + 1;
      for (u32 tries = 0; come != block.count() && tries < tuning::gpu::stage_waits; ++tries)
        come = load_relaxed(arrived);
      scratch[0] = u64(come == block.count());
    }
    block.barrier();
    const bool all = scratch[0] != 0;
    block.barrier();
    device_fence();
    return all;
  }
  // The number of a share of the second stage. All threads call it, with a word of scratch.
  template <class Block, class Words>
  TILEHASH_FN u64 take(Block block, Words scratch) const {
    if (block.rank() == 0) scratch[0] = u64(fetch_add(arrived + 1, 1U));
    block.barrier();
    const u64 share = scratch[0];
    block.barrier();
    return share;
  }
  TILEHASH_FN void clear() const { arrived[0] = arrived[1] = 0; }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
