// SPDX-License-Identifier: Apache-2.0
// Combines items of equal keys in the blocks of a GPU, before a call's phases insert them. The host does not
// wait: a sample decides, in a word that kernels read.
//
//   items    | block 0 | block 1 | ... | block 0 | block 1 | ...
//                 |         |
//   scratch  | a b . c |                 each block combines the items of a key in one slot (met_keys.hpp)
//                 |
//   list     | a b c ... | f f g ...     the slots of each block, and the items whose key found no slot
//
// The list has a key at most once for each block, and once more for each item without a slot. The phases read
// combined_items: the list if keys repeat, and otherwise the items of the call. So a key that repeats a
// million times does not queue a million atomic operations at one word. Distinct keys cost the sample and an
// empty kernel.
#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <type_traits>

#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/algorithm/bins.hpp>
#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/met_keys.hpp>
#include <tilehash/algorithm/sample.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A value that changes nothing it is combined with, where there is one: a slot can have it from the start.
template <class Op, class Value>
inline constexpr bool has_identity = false;
template <class Op, std::integral Value>
  requires(adds<Op> || std::same_as<Op, op::minimum> || std::same_as<Op, op::maximum>)
inline constexpr bool has_identity<Op, Value> = true;
template <class Op, class Value>
TILEHASH_FN constexpr Value identity() {
  if constexpr (std::same_as<Op, op::minimum>)
    return std::numeric_limits<Value>::max();
  else if constexpr (std::same_as<Op, op::maximum>)
    return std::numeric_limits<Value>::lowest();
  else
    return Value(0);
}

// The list of a call, in the memory of the space.
template <class Slot>
struct block_list {
  typename Slot::word* items;
  u64* length;
  u32* repeats;  // a repeats_word
};

// The items of the list if keys repeat, and otherwise all items of the call.
template <class Slot>
struct combined_items {
  using word = typename Slot::word;
  array_source<Slot> all;
  block_list<Slot> list;
  bool crowd = false;  // the host knows that there are many more items than slots: the list is short

  // The number of items: those of the list, or all n of the call.
  TILEHASH_FN u64 end_of(u64 n) const { return *list.repeats == 0 ? n : *list.length; }
  // The kernels that read it do not change the list, so a multiprocessor may cache the word. It is requested
  // together with the item: to wait for it first costs distinct keys a tenth.
  TILEHASH_FN item<Slot> operator()(u64 i) const {
    const u32 repeats = *list.repeats;
    item<Slot> x = all(i);
    if (repeats == 0) return x;
    x = {};
    if (i < *list.length) x = routed_source<keys_as_they_are<Slot>>{{}, list.items}(i);
    return x;
  }
};

template <class Slot, class Op, u32 Threads>
struct combine_in_blocks {
  using word = typename Slot::word;
  using item_type = item<Slot>;
  using packed = routed_item<Slot>;
  using key_bits = typename Slot::key_bits;
  using value_bits = typename Slot::value_bits;
  using mapped_type = typename Slot::mapped_type;
  using stored = combinable<Op, mapped_type>;
  using machine = tuning::of_block<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 at_once = machine::met_at_once;
  static constexpr u32 slots = machine::met_slots(sizeof(key_bits) + sizeof(stored));
  static constexpr u32 round = at_once * Threads;  // items of a block at a time
  static constexpr bool starts_full = has_identity<Op, mapped_type>;
  using met = met_keys<key_bits, slots>;
  static constexpr u32 all = met::all, each = (all + Threads - 1) / Threads;  // slots of a thread
  static constexpr u32 settled = met::no_slot - 1;  // instead of a slot: nothing is left to do

  array_source<Slot> items;
  u64 n;
  Op op;
  block_list<Slot> list;
  call_counters counters;

  template <class Offset = u32>
  struct layout {
    scratch_array<typename met::held_key, Offset> keys;
    scratch_array<stored, Offset> values;
    TILEHASH_FN constexpr layout() : keys(all), values(keys, all) {}
  };
  static constexpr u64 scratch_bytes() { return layout<u64>().values.end(); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const repeats_word found{*list.repeats};
    if (!found.repeat()) return;
    const slots_of<Block> in(block, block.rank(), found.doublings());
    in.keys.clear(Threads);
    if constexpr (starts_full) {
      for (u32 s = block.rank(); s < all; s += Threads)
        in.values[s] = from_bits<stored>(to_bits<value_bits>(identity<Op, mapped_type>()));
    }
    block.barrier();
    for (u64 from = block.index() * round; from < n; from += block.count() * round) meet(block, in, from);
    block.barrier();
    write_out(block, in, found.doublings() != 0 ? join_replicas(block, in) : 0);
  }

 private:
  template <class Block>
  struct slots_of {
    typename met::template of<Block> keys;
    scratch_in<stored, Block> values;
    TILEHASH_FN slots_of(Block block, u32 me, u32 replicas_log2)
        : keys{layout<>().keys.in(block), me, replicas_log2}, values(layout<>().values.in(block)) {}
  };

  // The block's next items: each goes to the slot of its key, or to the list.
  template <class Block>
  TILEHASH_FN void meet(Block block, const slots_of<Block>& in, u64 from) const {
    item_type x[at_once];
    u32 slot[at_once];
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u64 i = from + static_cast<u64>(k * Threads) + block.rank();
      x[k] = {};
      if (i < n) x[k] = items(i);
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k)
      slot[k] = x[k].valid && x[k].key.legal ? slot_for(in, x[k].key.bits, x[k].value) : settled;
    if constexpr (!starts_full) block.barrier();  // the slots have their first values
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k)
      if (slot[k] < all) combine_given(in.values + slot[k], from_bits<mapped_type>(x[k].value), op);
    const auto warp = block.template tile<bits_a_word>();
    u32 listed = 0, illegal = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      listed += count_ones(warp.ballot(slot[k] == met::no_slot));
      illegal += count_ones(warp.ballot(x[k].valid && !x[k].key.legal));
    }
    if (warp.rank() == 0 && illegal != 0) counters.add(counter::illegal, block.index(), illegal);
    if (listed == 0) return;  // the whole warp
    u64 at = reserve(warp, listed);
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u32 lanes = warp.ballot(slot[k] == met::no_slot);
      if (slot[k] == met::no_slot)
        list.items[at + before(lanes, warp.rank())] = packed::pack(x[k].key.bits, x[k].value);
      at += count_ones(lanes);
    }
  }
  // The slot in which the value must still be combined; `settled` if it need not, `no_slot` if it has none.
  template <class Block>
  TILEHASH_FN static u32 slot_for(const slots_of<Block>& in, key_bits key, value_bits value) {
    bool fresh = false;
    const u32 s = in.keys.claim(key, fresh);
    if constexpr (!starts_full) {
      if (fresh) in.values[s] = from_bits<stored>(value);
      if (fresh) return settled;
    }
    return s;
  }
  // Combines the replicas of each key in one of them. Returns a bit for each slot of this thread that is
  // free since. All threads of the block must call it.
  template <class Block>
  TILEHASH_FN u32 join_replicas(Block block, const slots_of<Block>& in) const {
    const slots_of<Block> first(block, 0, in.keys.replicas_log2);
    const u32 mask = (1U << in.keys.replicas_log2) - 1;
    u32 joined = 0;
    for (u32 j = 0; j < each; ++j) {
      const u32 s = j * Threads + block.rank();
      u32 to = settled;
      value_bits value = 0;
      if (s < slots && (s & mask) != 0 && in.keys.is_taken(s)) {
        const stored v = in.values[s];
        value = to_bits<value_bits>(v);
        to = slot_for(first, in.keys.key_in(s), value);
        if (to != met::no_slot) joined |= 1U << j;
      }
      if constexpr (!starts_full) block.barrier();
      if (to < all) combine_given(in.values + to, from_bits<mapped_type>(value), op);
    }
    block.barrier();
    return joined;
  }
  // Writes the taken slots to the list, except those of this thread with a bit in `joined`.
  template <class Block>
  TILEHASH_FN void write_out(Block block, const slots_of<Block>& in, u32 joined) const {
    static_assert(each <= 32);
    const auto warp = block.template tile<bits_a_word>();
    u32 mine = 0, listed = 0;
    for (u32 j = 0; j < each; ++j) {
      const u32 s = j * Threads + block.rank();
      const bool goes = s < all && (joined >> j & 1) == 0 && in.keys.is_taken(s);
      mine |= u32(goes) << j;
      listed += count_ones(warp.ballot(goes));
    }
    if (listed == 0) return;
    u64 at = reserve(warp, listed);
    for (u32 j = 0; j < each; ++j) {
      const bool goes = (mine >> j & 1) != 0;
      const u32 lanes = warp.ballot(goes), s = j * Threads + block.rank();
      if (goes) {
        const stored v = in.values[s];
        list.items[at + before(lanes, warp.rank())] = packed::pack(in.keys.key_in(s), to_bits<value_bits>(v));
      }
      at += count_ones(lanes);
    }
  }
  template <class Warp>
  TILEHASH_FN u64 reserve(Warp warp, u32 entries) const {
    return warp.broadcast(warp.rank() == 0 ? fetch_add(list.length, u64(entries)) : u64(0), 0);
  }
  TILEHASH_FN static u32 before(u32 lanes, u32 me) { return count_ones(lanes & ((1U << me) - 1)); }
};

// Keys for which a block has slots, even if a sample suggests fewer.
template <class Work>
inline constexpr u64 few_keys = Work::slots / 2;

// The memory of a list, of as many entries as the call has items.
template <class Slot, class Space>
struct combined_memory {
  buffer<typename Slot::word, Space> items;
  buffer<u64, Space> words;  // the length, and the repeats_word

  block_list<Slot> list() const {
    return {items.data(), words.data(), reinterpret_cast<u32*>(words.data() + 1)};
  }
};

// The least number of items for which a sample pays.
template <class Space>
u64 least_to_sample(const Space& space) {
  return space.large_blocks_at_once() * tuning::of<Space>::met_each;
}

// The op that combines the given values of an update.
template <class Update>
auto op_of_list(const Update& update) {
  if constexpr (requires { update.op; })
    return update.op;
  else
    return op::assign{};  // one of them stays
}

// Combining by a partition, or of nearly equal items, pays from this many items on: every block has work.
template <class Space>
u64 least_to_combine(const Space& space) {
  return blocks_at_once(space) * tuning::of<Space>::combined_each;
}

// Starts to sample and combine n items; `few`: only if all blocks have slots for their keys. Returns nothing, and
// starts nothing, where there is no memory. Counts
// items with illegal keys if keys repeat. Does not synchronize with the host.
template <class Space, class Slot, class Op>
std::optional<combined_memory<Slot, Space>> start_combining(Space& space, const array_source<Slot>& items,
                                                            u64 n, const Op& op,
                                                            const call_counters& counters, bool few = false) {
  using work = combine_in_blocks<Slot, Op, large_block<Space>>;
  using sample = sample_repeats<typename Slot::key_type, large_block<Space>>;
  if (n == 0) return std::nullopt;
  if (work::scratch_bytes() > space.largest_scratch() || sample::scratch_bytes > space.largest_scratch())
    return std::nullopt;
  try {
    combined_memory<Slot, Space> memory{buffer<typename Slot::word, Space>(space, n),
                                        buffer<u64, Space>(space, 2)};
    const auto list = memory.list();
    space.for_each_block(
        1, sample::block_size, sample::scratch_bytes,
        sample{items.keys, n, work::slots / 16, few ? few_keys<work> : ~u64(0), list.length, list.repeats});
    space.for_each_block(space.large_blocks_at_once(), work::block_size, work::scratch_bytes(),
                         work{items, n, op, list, counters});
    return memory;
  } catch (const out_of_memory&) {
    return std::nullopt;
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
