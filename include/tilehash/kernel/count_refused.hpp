// SPDX-License-Identifier: Apache-2.0
// The last kernel of a call whose items may have been combined (kernel/block_combine.hpp): it ends the call.
//
// A refused item of the list represents all items of its key. An item that an insert left pending may be the copy
// of a key that is stored by now. If there is any such item, the keys of all items are looked up, and those that are
// absent are counted.
#pragma once

#include <algorithm>

#include <tilehash/core/bits.hpp>
#include <tilehash/kernel/block_combine.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/pending_lookup.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design>
struct count_refused {
  using slot_type = typename Design::slot_type;
  using work_type = upsert_items<Design, array_source<slot_type>, keep_stored, Design::preferred_width>;
  static constexpr u32 block_size = tuning::gpu::lanes_block, resident_blocks = work_type::resident_blocks;
  static constexpr u64 scratch_bytes = call_counters::kinds * sizeof(u64);
  static_assert(call_counters::stripes == bits_a_word, "a lane reads each");

  work_type work;  // which finds
  const u32* repeats;
  u32 phase;      // the last one
  bool looks_up;  // also if no list was made
  call_end end;   // of the phase after it

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto warp = block.template tile<bits_a_word>();
    const u64 left = load_relaxed(end.counters.at + u64(warp.rank()) * call_counters::kinds +
                                  static_cast<u32>(counter::left) + phase);
    if (warp.any(left != 0)) {
      if (looks_up || *repeats != 0)
        look_up(block);
      else if (block.index() == 0 && block.rank() < bits_a_word)
        end.counters.add(counter::left, warp.rank(), left, phase + 1);
    }
    end.by_last_block(block, block.template scratch<u64>());
  }

 private:
  template <class Block>
  TILEHASH_FN void look_up(Block block) const {
    const auto t = block.lane().template tile<Design::preferred_width>();
    const auto warp = block.template tile<bits_a_word>();
    for (u64 from = block.index() * block_size; from < work.end; from += block.count() * block_size) {
      const u64 i = from + block.rank();
      const item<slot_type> x = i < work.end ? work.source(i) : item<slot_type>{};
      const bool seeks = x.valid && x.key.legal;
      const outcome became = work.together(t, x, seeks);
      const u32 absent = warp.ballot(seeks && became == outcome::refused);
      if (warp.rank() == 0 && absent != 0)
        end.counters.add(counter::left, i / bits_a_word, count_ones(absent), phase + 1);
    }
  }
};

// Does not synchronize with the host. `looks_up`: items may be pending whose keys are present. The call ends like `end`, whose blocks_done is not null and whose last phase
// is the phases' last.
template <class Design, class Space>
void count_refused_and_end(Space& space, const Design& design,
                           const sentinel_cells<typename Design::slot_type>& sentinels,
                           const combined_items<typename Design::slot_type>& items, u64 n, bool looks_up,
                           call_end end) {
  using body = count_refused<Design>;
  const u32 phase = end.last_phase++;
  const u64 blocks = std::min(divide_up(n, u64(body::block_size)), tuning::of<Space>::displace_blocks(space));
  const typename body::work_type work{
      .design = design, .sentinels = sentinels, .source = items.all, .end = n, .update = {}};
  space.for_each_block(blocks, body::block_size, body::scratch_bytes,
                       body{work, items.list.repeats, phase, looks_up, end});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
