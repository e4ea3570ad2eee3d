// SPDX-License-Identifier: Apache-2.0
// The kernel that groups a multimap's items by key (engine/multi_regions.hpp): a block takes a region's bin,
// and counts and orders its items in its scratch.
//
//   a block's scratch   hashes  |   | b |   | a | c |   |     a set of the bin's keys, by double hashing
//                       counts  | 0 | 1 | 0 | 3 | 2 | 0 |     the count before an item's increment is its
//                               |     scan              |     number among the items of its key
//                       starts  | 0 | 0 | 1 | 1 | 4 | 6 |
//
// A block's steps, with a barrier between them:
//   1  clear the set and the counts
//   2  every item finds its key's slot, or takes a free one, and counts itself there
//   3  scan the counts to starts, and reserve so many keys and items in the arrays
//   4  write the keys and their starts, slot by slot
//   5  put the values in order, in the memory of the set
//   6  write them
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, section 5.3, which
// counts in the same way in the shared memory of its two-level table's buckets.
#pragma once

#include <bit>
#include <utility>

#include <tilehash/algorithm/bins.hpp>
#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The destination of the groups. Bin b's ids are firsts[b] ... firsts[b] + counts[b] - 1.
template <class Key, class Value, class Offset>
struct groups {
  Key* keys;
  Offset* starts;
  Value* values;
  u32 *firsts, *counts;
  u64* placed;   // keys, in the upper half, and items
  u64* refused;  // bins that were too large, and items that passed too many slots
};

template <class Route, class Offset, u32 Threads>
struct multi_build {
  using slot_type = typename Route::slot_type;
  using key_type = typename slot_type::key_type;
  using value_type = typename slot_type::mapped_type;
  using value_bits = typename slot_type::value_bits;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using item = routed_item<slot_type>;
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 group = sums::group;
  static constexpr u32 most_items = tuning::of_block<Threads>::grouped_items(sizeof(word));  // of a bin
  static constexpr u32 at_once = tuning::of_block<Threads>::grouped_at_once;
  static constexpr u32 batches = (most_items + at_once * Threads - 1) / (at_once * Threads);
  static constexpr u32 most_steps = 256;  // of an item's probe sequence
  static_assert(most_items < (1U << 16), "counts have 16 bits");

  Route route;
  even_bins<word> bins;
  u32 slots;  // of the set
  groups<key_type, value_type, Offset> to;

  // A power of two, and two for each thread at least.
  static u32 slots_for(u32 capacity) {
    return std::bit_ceil(capacity + capacity / 4 < 2 * Threads ? 2 * Threads : capacity + capacity / 4);
  }
  // A thread adds up neighbouring counts. One in 33 words is left out, so the threads of a warp access
  // different banks.
  TILEHASH_FN static constexpr u32 padded(u32 word) { return word + (word >> 5); }
  TILEHASH_FN static constexpr u64 set_bytes(u32 capacity, u32 slots) {
    const u64 set = slots * sizeof(key_bits), values = (capacity * sizeof(value_bits) + 7) / 8 * 8;
    return set < values ? values : set;
  }
  static constexpr u64 scratch_bytes(u32 capacity, u32 slots) {
    return set_bytes(capacity, slots) + (padded(slots / 2) + sums::words + 2) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), region = static_cast<u32>(block.index()), n = bins.fill[region];
    if (n > bins.capacity) {
      if (me == 0) fetch_add(to.refused, u64(1));
      return;
    }
    const word* const bin = bins.at(region);
    const scratch_of<Block> in(block, *this, region);
    key_bits next[at_once] = {};
    fetch(bin, n, me, next);  // overlaps with clear()
    clear(in, me);
    block.barrier();
    const auto t = block.template tile<group>();
    held_items mine;
    find_slots(t, in, bin, n, me, next, mine);
    take_values(bin, n, me, mine);
    block.barrier();
    const u32 keys_before = add_up(block, in, region, n) >> 16;
    block.barrier();
    write_keys(t, in, me, t.broadcast(keys_before, 0));
    block.barrier();
    order_values(in, n, me, mine);
    block.barrier();
    const Offset first_item = u32(in.begin[1]);
    for (u32 i = me; i < n; i += Threads)
      to.values[first_item + i] = from_bits<value_type>(value_bits(in.values[i]));
  }

 private:
  // The block's scratch: the set, and later the values; a count of 16 bits for each slot, and later the start
  // of its values; the threads' sums; the first id and the first item of this bin.
  template <class Block>
  struct scratch_of {
    decltype(std::declval<Block>().template scratch<key_bits>()) set;
    decltype(std::declval<Block>().template scratch<value_bits>()) values;
    decltype(std::declval<Block>().template scratch<u32>()) counts, sums_of_threads, begin;
    key_bits free;  // in the set: no hash of this region

    TILEHASH_FN scratch_of(Block block, const multi_build& of, u32 region)
        : set(block.template scratch<key_bits>()),
          values(block.template scratch<value_bits>()),
          counts(block.template scratch<u32>(set_bytes(of.bins.capacity, of.slots))),
          sums_of_threads(counts + padded(of.slots / 2)),
          begin(sums_of_threads + sums::words),
          free(region == 0 ? static_cast<key_bits>(~key_bits(0)) : key_bits(0)) {}
  };
  // The part of a thread's items that it keeps in registers.
  struct held_items {
    u32 positions[batches * at_once];  // the slot, and the number there
    value_bits values[batches * at_once];
  };

  TILEHASH_FN static void fetch(const word* bin, u32 n, u32 first, key_bits (&next)[at_once]) {
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k)
      if (first + k * Threads < n) next[k] = item::hash_of(bin[first + k * Threads]);
  }
  // 1
  template <class Scratch>
  TILEHASH_FN void clear(const Scratch& in, u32 me) const {
    for (u32 s = me; s < slots; s += Threads) in.set[s] = in.free;
    for (u32 i = me; i < padded(slots / 2); i += Threads) in.counts[i] = 0;
  }
  // 2
  template <class Tile, class Scratch>
  TILEHASH_FN void find_slots(Tile t, const Scratch& in, const word* bin, u32 n, u32 me,
                              key_bits (&next)[at_once], held_items& mine) const {
    TILEHASH_UNROLL
    for (u32 b = 0; b < batches; ++b) {
      const u32 first = b * at_once * Threads + me;
      if (b * at_once * Threads >= n) break;
      key_bits hash[at_once];
      u32 slot[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) hash[k] = next[k];
      if (b + 1 < batches) fetch(bin, n, first + at_once * Threads, next);
      if (claim(t, in, hash, slot, first, n) != 0) fetch_add(to.refused, u64(1));
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * Threads < n)
          mine.positions[b * at_once + k] = slot[k] << 16 | count_one(in.counts, slot[k]);
      }
    }
  }
  // Finds the slots of a batch's keys, or takes free ones. Returns a bit for each key that found none.
  template <class Tile, class Scratch>
  TILEHASH_FN u32 claim(Tile t, const Scratch& in, const key_bits (&hash)[at_once], u32 (&slot)[at_once],
                        u32 first, u32 n) const {
    key_bits met[at_once];
    u32 goes_on = 0;  // bit k: the k-th has no slot yet
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      slot[k] = slot_of(hash[k]);
      met[k] = first + k * Threads < n ? compare_and_swap(in.set + slot[k], in.free, hash[k]) : in.free;
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) goes_on |= u32(met[k] != in.free && met[k] != hash[k]) << k;
    // The whole group continues together: if lanes diverge here, they stay diverged, and each runs alone.
    for (u32 steps = 0; t.any(goes_on != 0) && steps < most_steps; ++steps) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if ((goes_on >> k & 1) == 0) continue;
        slot[k] = (slot[k] + stride_of(hash[k])) & (slots - 1);
        met[k] = compare_and_swap(in.set + slot[k], in.free, hash[k]);
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (met[k] == in.free || met[k] == hash[k]) goes_on &= ~(1U << k);
      }
    }
    return goes_on;
  }
  // For step 5.
  TILEHASH_FN static void take_values(const word* bin, u32 n, u32 me, held_items& mine) {
    TILEHASH_UNROLL
    for (u32 k = 0; k < batches * at_once; ++k) {
      if (k * Threads >= n) break;
      if (k * Threads + me < n) mine.values[k] = item::value_of(bin[k * Threads + me]);
    }
  }
  // 3. Returns the numbers of keys (upper half) and items before this thread's slots.
  template <class Block>
  TILEHASH_FN u32 add_up(Block block, const scratch_of<Block>& in, u32 region, u32 n) const {
    const u32 me = block.rank(), words = slots / 2 / Threads;  // of this thread
    u32 mine = 0, all;
    for (u32 i = me * words; i < (me + 1) * words; ++i) {
      const u32 w = in.counts[padded(i)], low = w & 0xffff, high = w >> 16;
      mine += (u32(low != 0) + u32(high != 0)) << 16 | (low + high);
    }
    const u32 before = sums::before(block, in.sums_of_threads, mine, all);
    u32 start = before & 0xffff;
    for (u32 i = me * words; i < (me + 1) * words; ++i) {
      const u32 w = in.counts[padded(i)], low = w & 0xffff, high = w >> 16;
      in.counts[padded(i)] = start | (start + low) << 16;
      start += low + high;
    }
    if (me == 0) {
      const u32 keys = all >> 16;
      const u64 at = fetch_add(to.placed, static_cast<u64>(keys) << 32 | n);
      in.begin[0] = to.firsts[region] = static_cast<u32>(at >> 32);
      in.begin[1] = static_cast<u32>(at);
      to.counts[region] = keys;
    }
    return before;
  }
  // 4. A group of lanes has neighbouring slots, with `keys_before` keys before them.
  template <class Tile, class Scratch>
  TILEHASH_FN void write_keys(Tile t, const Scratch& in, u32 me, u32 keys_before) const {
    const u32 words = slots / 2 / Threads, share = words * 2 * group, from = me / group * share;
    const Offset first_item = u32(in.begin[1]);
    u32 id = u32(in.begin[0]) + keys_before;
    for (u32 s = from + t.rank(); s < from + share; s += group) {
      const key_bits hash = in.set[s];
      const u32 taken = t.ballot(hash != in.free);
      if (hash != in.free) {
        const u32 its = id + count_ones(taken & ((1U << t.rank()) - 1));
        to.keys[its] = slot_type::decode(route.unhash(hash));
        to.starts[its] = first_item + at(in.counts, s);
      }
      id += count_ones(taken);
    }
  }
  // 5
  template <class Scratch>
  TILEHASH_FN void order_values(const Scratch& in, u32 n, u32 me, const held_items& mine) const {
    TILEHASH_UNROLL
    for (u32 k = 0; k < batches * at_once; ++k) {
      if (k * Threads >= n) break;
      if (k * Threads + me < n)
        in.values[at(in.counts, mine.positions[k] >> 16) + (mine.positions[k] & 0xffff)] = mine.values[k];
    }
  }

  // The first slot, from the hash's bits below those that chose the region; and the step to the next slot.
  TILEHASH_FN u32 slot_of(key_bits hash) const {
    return static_cast<u32>((static_cast<u64>(route.within(hash)) * slots) >> 32);
  }
  TILEHASH_FN static u32 stride_of(key_bits hash) { return static_cast<u32>(hash) * 0x9e3779b1U >> 16 | 1; }
  template <class Counts>
  TILEHASH_FN static u32 at(Counts counts, u32 slot) {
    return u32(counts[padded(slot / 2)]) >> (slot % 2 * 16) & 0xffff;
  }
  // Returns the count before the increment.
  template <class Counts>
  TILEHASH_FN static u32 count_one(Counts counts, u32 slot) {
    return fetch_add(counts + padded(slot / 2), 1U << slot % 2 * 16) >> (slot % 2 * 16) & 0xffff;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
