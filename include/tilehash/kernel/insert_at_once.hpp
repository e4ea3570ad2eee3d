// SPDX-License-Identifier: Apache-2.0
// Inserts the items of a call by one kernel, which places each item, displaces for it at once, and ends the call.
// Each thread inserts as a view does (kernel/insert_by_thread.hpp, kernel/insert_by_view.hpp).
//
// Items that regions left over: kernel/left_at_once.hpp.
//
// A displacement gives an item up if it meets locks too often, and another copy of the key may have found a slot. So
// if an item is refused, the last block looks up all items, and counts those with absent keys. It takes long, but it
// hardly ever happens in a table that stays as empty as engine/at_once.hpp and engine/unwaited_fill.hpp ask.
#pragma once

#include <concepts>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/find.hpp>
#include <tilehash/kernel/insert_by_thread.hpp>
#include <tilehash/kernel/insert_by_view.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The counts of a block, or of all blocks, in one word. One addition counts all kinds and the blocks.
//
//   | an item is refused | blocks | illegal | inserted |      1, 21, 21 and 21 bits
struct at_once_counts {
  static constexpr u32 field_bits = 21;
  static constexpr u64 most_items = (u64(1) << field_bits) - 1, one_block = u64(1) << 2 * field_bits,
                       refused_bit = u64(1) << 63;
  u64 word = 0;

  TILEHASH_FN u64 inserted() const { return word & most_items; }
  TILEHASH_FN u64 illegal() const { return word >> field_bits & most_items; }
  TILEHASH_FN u64 blocks() const { return word / one_block & most_items; }
  TILEHASH_FN bool refuses() const { return (word & refused_bit) != 0; }
};

// The design whose keys a displacement moves. A design may derive from it.
template <class Displacement>
using displaced_design = decltype(Displacement::design);

// Inserts an item for each lane with `mine`. A collective of the warp.
template <class Design, class Warp>
TILEHASH_FN outcome insert_and_displace(const Design& design, const Warp& warp,
                                        const item<typename Design::slot_type>& x, bool mine) {
  const bool regular = mine && x.valid && x.key.regular();
  outcome became = insert_by_thread<Design>::run(design, warp, x, regular);
  if (regular && became == outcome::refused) {
    using displacement = typename Design::displacement_among_inserts;
    const displaced_design<displacement>& itself = design;
    became = displace_alone(itself, itself.hash(x.key.bits), x.value);
  }
  return became;
}
template <class Design>
TILEHASH_FN_APART bool is_absent(Design design, typename Design::key_bits key) {
  return look_up_by_one<true>(design, key).result.what != lookup_state::found;
}
// The number of the n items that have absent keys. All threads of one block call it, with a word of scratch.
template <class Design, class Source, class Block, class Words>
TILEHASH_FN u64 count_absent(const Design& design, const Source& source, u64 n, Block block, Words scratch) {
  if (block.rank() == 0) scratch[0] = 0;
  block.barrier();
  u64 absent = 0;
  for (u64 i = block.rank(); i < n; i += block.size()) {
    const auto x = source(i);
    absent += x.valid && x.key.legal && is_absent(design, x.key.bits);
  }
  if (absent != 0) fetch_add(scratch, absent);
  block.barrier();
  return scratch[0];
}

template <class Design, class Source>
struct insert_at_once {
  static constexpr u32 block_size = tuning::gpu::at_once_block, warps = block_size / bits_a_word;
  static constexpr u64 scratch_bytes = warps * sizeof(u64);
  using counts = at_once_counts;

  Design design;
  Source source;
  call_end end;  // with packed

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto scratch = block.template scratch<u64>();
    const u64 mine = insert(block);
    if (block.rank() % bits_a_word == 0) scratch[block.rank() / bits_a_word] = mine;
    block.barrier();
    if (block.rank() == 0) scratch[0] = add_up(block, scratch);
    block.barrier();
    const counts all{scratch[0]};
    if (all.blocks() != block.count()) return;
    block.barrier();
    if (end.size == nullptr) return answer_host(block, all);
    u64 left = 0;
    if (all.refuses()) {
      device_fence();
      left = count_absent(design, source, end.n, block, scratch);
    }
    if (block.rank() == 0) end.conclude(all.inserted(), all.illegal(), 0, left);
  }

 private:
  // Inserts an item for each thread, and returns the counts of its warp.
  template <class Block>
  TILEHASH_FN u64 insert(Block block) const {
    const auto warp = block.template tile<bits_a_word>();
    const u64 i = block.index() * block_size + block.rank();
    const bool mine = i < end.n;
    const auto x = mine ? source(i) : item<typename Design::slot_type>{};
    const outcome became = insert_and_displace(design, warp, x, mine);
    const bool legal = x.key.legal;
    const u32 inserted = warp.ballot(mine && became == outcome::inserted),
              illegal = warp.ballot(mine && x.valid && !legal),
              refused = warp.ballot(mine && x.valid && legal && became == outcome::refused);
    return u64(count_ones(inserted)) | u64(count_ones(illegal)) << counts::field_bits |
           (refused != 0 ? counts::refused_bit : 0);
  }
  // Adds the block's counts to those of all. Returns the sum, which has all blocks in the last one.
  template <class Block, class Words>
  TILEHASH_FN u64 add_up(Block block, Words scratch) const {
    u64 mine = counts::one_block, refused = 0;
    TILEHASH_UNROLL
    for (u32 w = 0; w < warps; ++w) {
      mine += scratch[w] & ~counts::refused_bit;
      refused |= scratch[w] & counts::refused_bit;
    }
    // Then other blocks, or other kernels of a host that goes on, see what this block has written.
    if (block.count() != 1 || end.host != nullptr) device_fence();
    if (block.count() == 1) return mine | refused;
    if (refused != 0) set_bits(end.packed, refused);
    mine += fetch_add(end.packed, mine);
    if (counts{mine}.blocks() == block.count()) *end.packed = 0;
    return mine;
  }
  // A host that waits inserts the refused items in other ways.
  template <class Block>
  TILEHASH_FN void answer_host(Block block, const counts& all) const {
    if (block.rank() != 0) return;
    if (end.host != nullptr) return store_relaxed(end.host, all.word);
    for (u32 kind = 0; kind < call_counters::kinds; ++kind) end.sums[kind] = 0;
    end.sums[static_cast<u32>(counter::inserted)] = all.inserted();
    end.sums[static_cast<u32>(counter::illegal)] = all.illegal();
    end.sums[static_cast<u32>(counter::left)] = u64(all.refuses());
  }
};

// Does not synchronize with the host. The call ends like `end`.
template <class Space, class Design, class Source>
void start_insert_at_once(Space& space, const Design& design, const Source& source, const call_end& end) {
  using body = insert_at_once<Design, Source>;
  space.for_each_block(divide_up(end.n, u64(body::block_size)), body::block_size, body::scratch_bytes,
                       body{design, source, end});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
