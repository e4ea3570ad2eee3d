// SPDX-License-Identifier: Apache-2.0
// The last kernel of an insert that does not synchronize with the host: it looks up the keys of the items that
// are still pending, and ends the call.
//
// Of two equal keys one may have met locked buckets until its tries were spent, and the other may have found a
// slot. When no key moves any more, a lookup tells the copy of a stored key, which is present, from a key that
// the table refuses. Usually no item is pending: the kernel reads the bits, an eighth of a byte an item.
#pragma once

#include <algorithm>

#include <tilehash/core/bits.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A lane with another number than its own.
template <class Lane>
struct numbered_lane {
  Lane lane;
  u64 number;
  TILEHASH_FN u64 index() const { return number; }
  template <u32 Width>
  TILEHASH_FN auto tile() const {
    return lane.template tile<Width>();
  }
};

template <class Design, class Source>
struct pending_lookup {
  using work_type = upsert_items<Design, Source, keep_stored, Design::preferred_width>;
  static constexpr u32 block_size = tuning::gpu::lanes_block, resident_blocks = work_type::resident_blocks;
  static constexpr u64 scratch_bytes = call_counters::kinds * sizeof(u64);

  work_type work;  // which finds the pending ones among its items, from item 0 on
  call_end end;

  // A warp reads 32 words of bits at once, and then serves each word with a pending item.
  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto warp = block.template tile<bits_a_word>();
    const u64 words = (work.end + bits_a_word - 1) / bits_a_word;
    const u64 first = block.index() * block_size + block.rank() / bits_a_word * bits_a_word;
    for (u64 from = first; from < words; from += block.count() * block_size) {
      const u64 own = from + warp.rank();
      for (u32 some = warp.ballot(own < words && work.recorder.pending[own] != 0); some != 0;
           some &= some - 1) {
        const u64 i = (from + lowest(some)) * bits_a_word + warp.rank();
        work(numbered_lane<decltype(block.lane())>{block.lane(), i});
      }
    }
    end.by_last_block(block, block.template scratch<u64>());
  }
};

// Does not synchronize with the host. The call ends like `end`, whose blocks_done is not null.
template <class Design, class Space, class Source>
void look_up_pending_and_end(Space& space,
                             const upsert_items<Design, Source, keep_stored, Design::preferred_width>& work,
                             const call_end& end) {
  using body = pending_lookup<Design, Source>;
  const u64 blocks = divide_up(divide_up(work.end, u64(bits_a_word)), u64(body::block_size));
  space.for_each_block(std::min(blocks, tuning::of<Space>::displace_blocks(space)), body::block_size,
                       body::scratch_bytes, body{work, end});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
