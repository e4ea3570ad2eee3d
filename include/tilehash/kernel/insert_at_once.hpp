// SPDX-License-Identifier: Apache-2.0
// Inserts the items of a call by one kernel, which places each item, displaces for it at once, and ends the call.
// Each thread inserts as a view does (kernel/insert_by_thread.hpp, kernel/insert_by_view.hpp).
//
//   insert_at_once        the items of a call
//   insert_left_at_once   items that regions left over, of which only the GPU knows the number: usually none
//
// A displacement gives an item up if it meets locks too often, and another copy of the key may have found a slot. So
// if an item is refused, the last block looks up all items, and counts those with absent keys. It takes long, but it
// hardly ever happens in a table that stays as empty as engine/at_once.hpp and engine/unwaited_fill.hpp ask.
#pragma once

#include <algorithm>
#include <concepts>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/find.hpp>
#include <tilehash/kernel/insert_by_thread.hpp>
#include <tilehash/kernel/insert_by_view.hpp>
#include <tilehash/kernel/left_over.hpp>
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
    became = displace_among_inserts(itself, itself.hash(x.key.bits), x.value);
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

// The items that regions left over.
template <class Design, class Source>
struct insert_left_at_once {
  using word = typename Design::word;
  static constexpr u32 block_size = tuning::gpu::at_once_block;
  static constexpr u64 scratch_bytes = call_counters::kinds * sizeof(u64);
  late_source<Design, Source> items;
  call_end end;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto counted = items.counts.read();
    if (counted.left == 0) {
      if (block.index() != 0) return;
      end.by_regions(block, {counted.illegal, counted.inserted});
      block.barrier();
      return items.counts.clear(block);
    }
    insert(block, counted.left);
    if (!end.is_last_block(block, block.template scratch<u64>())) return;
    const bool lists_all = counted.left <= items.counts.capacity;
    const u64 given_up = load_relaxed(end.given_up);
    block.barrier();
    if (given_up != 0) {
      const u64 absent = count_absent(items.design, items.all, items.n, block, block.template scratch<u64>());
      if (block.rank() == 0 && absent != 0) end.counters.add(counter::left, 0, absent, end.last_phase);
      block.barrier();
    }
    end.by_block(block, block.template scratch<u64>(), {lists_all ? counted.illegal : 0, counted.inserted});
    block.barrier();
    items.counts.clear(block);
  }

 private:
  template <class Block>
  TILEHASH_FN void insert(Block block, u64 left) const {
    const auto warp = block.template tile<bits_a_word>();
    late_source<Design, Source> from = items;
    from.left = left;
    const u64 n = from.size();
    u32 inserted = 0, illegal = 0, refused = 0;
    for (u64 first = block.index() * block_size; first < n; first += block.count() * block_size) {
      const u64 i = first + block.rank();
      const bool mine = i < n;
      const auto x = mine ? from(i) : item<typename Design::slot_type>{};
      const outcome became = insert_and_displace(items.design, warp, x, mine);
      inserted += count_ones(warp.ballot(mine && became == outcome::inserted));
      illegal += count_ones(warp.ballot(mine && x.valid && !x.key.legal));
      refused += count_ones(warp.ballot(mine && x.valid && x.key.legal && became == outcome::refused));
    }
    if (warp.rank() != 0) return;
    const u64 spot = block.index() * (block_size / bits_a_word) + block.rank() / bits_a_word;
    if (inserted != 0) end.counters.add(counter::inserted, spot, inserted);
    if (illegal != 0) end.counters.add(counter::illegal, spot, illegal);
    if (refused != 0) fetch_add(end.given_up, u64(refused));
  }
};

// Does not synchronize with the host. The call ends like `end`.
template <class Space, class Design, class Source>
void start_insert_at_once(Space& space, const Design& design, const Source& source, const call_end& end) {
  using body = insert_at_once<Design, Source>;
  space.for_each_block(divide_up(end.n, u64(body::block_size)), body::block_size, body::scratch_bytes,
                       body{design, source, end});
}
template <class Space, class Design, class Source>
void start_left_at_once(Space& space, const Design& design, const Source& source, u64 n,
                        const left_counts<typename Design::word>& counts, call_end end) {
  using body = insert_left_at_once<Design, Source>;
  end.last_phase = 0;
  const u64 blocks = std::min(tuning::of<Space>::displace_blocks(space), divide_up(n, u64(body::block_size)));
  space.for_each_block(blocks, body::block_size, body::scratch_bytes, body{{design, source, n, counts}, end});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
