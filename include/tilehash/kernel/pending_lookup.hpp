// SPDX-License-Identifier: Apache-2.0
// The last kernel of an insert that does not synchronize with the host. It looks up the keys of the items
// that are still pending, and ends the call.
//
// One of two equal keys may have met locked buckets until its tries were spent, and the other may have found
// a slot. When no key moves any more, a lookup distinguishes the copy of a stored key, which is present, from
// a key that the table refuses. Usually no item is pending: the kernel reads the bits, an eighth of a byte an
// item.
#pragma once

#include <algorithm>

#include <tilehash/core/bits.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/late_items.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Source>
struct pending_lookup {
  using work_type = upsert_items<Design, Source, keep_stored, Design::preferred_width>;
  static constexpr u32 block_size = tuning::gpu::lanes_block, resident_blocks = work_type::resident_blocks;
  static constexpr u64 scratch_bytes = call_counters::kinds * sizeof(u64);

  work_type work;  // which finds the pending ones among its items, from item 0 on
  call_end end;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    visit_pending<block_size>(block, work, work.end);
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
