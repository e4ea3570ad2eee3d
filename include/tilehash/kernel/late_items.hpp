// SPDX-License-Identifier: Apache-2.0
// Kernels for a source whose number of items only the GPU knows: the host knows an upper bound.
//
//   items    | block 0: 8 times 256 | block 1 ...   in turn, until the source ends
//   pending  | 32 words of a warp | ...             blocks that are resident share the words
//
// A block that comes to no item costs its launch. Launches of a block for each 256 items of the bound took longer
// than the work, where the source was short.
#pragma once

#include <algorithm>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// end_of(n) is the number of items, at most n.
template <class Source>
concept ends_late = requires(const Source& s) { s.end_of(u64(0)); };

// Calls work(lane) for the pending ones among `end` items. A warp reads 32 words of bits at once, and then serves
// each word with a pending item.
template <u32 Threads, class Block, class Work>
TILEHASH_FN void visit_pending(Block block, const Work& work, u64 end) {
  const auto warp = block.template tile<bits_a_word>();
  const u64 words = (end + bits_a_word - 1) / bits_a_word;
  const u64 first = block.index() * Threads + block.rank() / bits_a_word * bits_a_word;
  for (u64 from = first; from < words; from += block.count() * Threads) {
    const u64 own = from + warp.rank();
    for (u32 some = warp.ballot(own < words && work.recorder.pending[own] != 0); some != 0;
         some &= some - 1) {
      const u64 i = (from + lowest(some)) * bits_a_word + warp.rank();
      work(numbered_lane<decltype(block.lane())>{block.lane(), i});
    }
  }
}

// Work: upsert_items, from item 0 on.
template <class Work>
struct late_items {
  static constexpr u32 block_size = tuning::gpu::lanes_block, resident_blocks = Work::resident_blocks;
  static constexpr u32 each = tuning::gpu::late_each;  // items of a thread, at most
  Work work;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u64 first = block.index() * each * block_size;
    for (u32 k = 0; k < each; ++k) {
      const u64 from = first + u64(k) * block_size, i = from + block.rank();
      // The item is requested before its end is known: to wait for that first costs distinct keys time.
      const typename Work::item_type x = i < work.end ? work.source(i) : typename Work::item_type{};
      if (from >= work.source.end_of(work.end)) return;
      work.put(block.lane(), i, i < work.end, x);
    }
  }
};
template <class Work>
struct late_pending_items {
  static constexpr u32 block_size = tuning::gpu::lanes_block, resident_blocks = Work::resident_blocks;
  Work work;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    visit_pending<block_size>(block, work, work.source.end_of(work.end));
  }
};

// Is the source likely to end early? Otherwise narrow words take a lane for each item of the bound: the loop takes
// registers, and distinct keys a 20th of their time.
template <class Work>
bool ends_early(const Work& work) {
  return work.source.crowd || tuning::gpu::late_loops(sizeof(typename Work::word));
}
// Does not synchronize with the host.
template <class Space, class Work>
void upsert_late_items(Space& space, const Work& work) {
  if (work.retry) {
    using body = late_pending_items<Work>;
    const u64 blocks = divide_up(divide_up(work.end, u64(bits_a_word)), u64(body::block_size));
    space.for_each_block(std::min(blocks, tuning::of<Space>::displace_blocks(space)), body::block_size, 0,
                         body{work});
  } else {
    using body = late_items<Work>;
    space.for_each_block(divide_up(work.end, u64(body::each) * body::block_size), body::block_size, 0,
                         body{work});
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
