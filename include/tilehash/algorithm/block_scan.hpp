// Sums over the threads of a block.
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The threads of a block that takes all of a multiprocessor's scratch; a CPU's block is one thread.
template <class Space>
inline constexpr u32 large_block = tuning::of<Space>::large_block;

// For a block of `Threads` threads, a power of two up to 1024. Its scratch is `words` words of 32 bits.
template <u32 Threads>
struct block_sums {
  static constexpr u32 group = Threads < 32 ? Threads : 32, words = Threads / group;
  static_assert(words <= group);

  // Returns the sum of `mine` over the threads before this one, and sets `all` to the sum over all threads.
  // All threads of the block must call it. The scratch is free again after the next barrier.
  template <class Block, class Words>
  TILEHASH_FN static u32 before(Block block, Words scratch, u32 mine, u32& all) {
    const auto t = block.template tile<group>();
    const u32 me = block.rank(), in_group = up_to(t, mine);
    if (t.rank() == group - 1) scratch[me / group] = in_group;
    block.barrier();
    const u32 groups = up_to(t, t.rank() < words ? u32(scratch[t.rank()]) : 0);  // every group for itself
    all = t.broadcast(groups, group - 1);
    const u32 before_group = t.broadcast(groups, me / group != 0 ? me / group - 1 : 0);
    return in_group - mine + (me / group != 0 ? before_group : 0);
  }

  // The sum of x over this lane of a group and the lanes to its left.
  template <class Tile>
  TILEHASH_FN static u32 up_to(Tile t, u32 x) {
    TILEHASH_UNROLL
    for (u32 by = 1; by < group; by *= 2) {
      const u32 left = t.from_left(x, by);
      if (t.rank() >= by) x += left;
    }
    return x;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
