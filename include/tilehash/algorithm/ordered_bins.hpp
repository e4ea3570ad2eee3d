// SPDX-License-Identifier: Apache-2.0
// Bins that preserve which of two items with equal keys came first.
//
// A partition's block takes consecutive shares of the items. It drops all but the first of a share's equal
// keys, and sends the rest. So entries of one key that one block sent are in order in their bin, and the
// blocks' numbers order all others. A number costs no memory: regions are ranges of hashes, so the bin
// implies the upper bits of an entry's hash, and the number replaces these.
//
//   routed_item    | hash: upper | lower | value |
//   ordered_item   |    block    | lower | value |     as many bits as half the regions need, or more
//
// Where items go in two steps (engine/region_fill.hpp), the first step has few slices, which imply few bits.
// There each block has its own part of a slice's bin. The second step reads the parts one after the other,
// which gives the items in order, with few gaps.
#pragma once

#include <bit>
#include <utility>

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// An entry's order is its block's number above its position in the bin: 32 bits. (A bin may be somewhat
// larger than its region.)
inline constexpr u32 position_bits = 16, most_ordered_slots = 1U << (position_bits - 1);

// Reads the entries of a region's ordered bin.
template <class Slot>
struct ordered_item {
  using word = typename Slot::word;
  using key_bits = typename Slot::key_bits;
  using routed = routed_item<Slot>;
  static constexpr u32 width = 8 * sizeof(key_bits);

  u32 block_bits;
  key_bits first;  // of the hashes that go to the region

  TILEHASH_FN static word pack(word e, u32 block, u32 block_bits) {
    const key_bits upper = block_bits != 0 ? static_cast<key_bits>(block) << (width - block_bits) : 0;
    return routed::pack(upper | (routed::hash_of(e) & lower(block_bits)), routed::value_of(e));
  }
  TILEHASH_FN key_bits hash_of(word e) const {
    return first + ((routed::hash_of(e) - first) & lower(block_bits));
  }
  TILEHASH_FN word routed_as(word e) const { return routed::pack(hash_of(e), routed::value_of(e)); }
  TILEHASH_FN u32 block_of(word e) const {
    return block_bits != 0 ? static_cast<u32>(routed::hash_of(e) >> (width - block_bits)) : 0;
  }
  TILEHASH_FN u32 order_of(word e, u32 position) const { return block_of(e) << position_bits | position; }

 private:
  TILEHASH_FN static key_bits lower(u32 block_bits) {
    return static_cast<key_bits>(~key_bits(0)) >> block_bits;
  }
};

// A bin for each region of a table of at least 2^block_bits regions.
template <class Slot>
struct ordered_bins : even_bins<typename Slot::word> {
  using word = typename Slot::word;
  u32 block_bits;

  static u32 block_bits_for(u32 regions) {
    const u32 bits = bit_width(regions) - 1;
    return bits < 32 - position_bits ? bits : 32 - position_bits;
  }
  u64 most_blocks() const { return u64(1) << block_bits; }

  struct from_block : even_bins<word> {
    u32 block_bits, block;
    TILEHASH_FN word written(const word& e) const { return ordered_item<Slot>::pack(e, block, block_bits); }
  };
  TILEHASH_FN from_block of_block(u32 block) const { return {*this, block_bits, block}; }
  TILEHASH_FN ordered_item<Slot> items_of(u32 first_hash) const {
    constexpr u32 below = ordered_item<Slot>::width - 32;
    return {block_bits, static_cast<typename Slot::key_bits>(first_hash) << below};
  }
};

// A bin for each slice. Each block has its own part of it.
template <class Word>
struct bins_of_parts {
  Word* entries;
  u32 capacity, last, last_capacity;  // of a bin, and of the last one
  u32 blocks;
  u32* fill;  // of each block's parts

  TILEHASH_FN u32 part_of(u32 slice) const { return (slice == last ? last_capacity : capacity) / blocks; }
  u64 most_blocks() const { return blocks; }

  struct from_block {
    bins_of_parts bins;
    u32 block;
    u32* fill;
    TILEHASH_FN u32 capacity_of(u32 slice) const { return bins.part_of(slice); }
    TILEHASH_FN Word* at(u32 slice) const {
      return bins.entries + static_cast<u64>(slice) * bins.capacity +
             static_cast<u64>(block) * capacity_of(slice);
    }
    TILEHASH_FN static const Word& written(const Word& e) { return e; }
  };
  TILEHASH_FN from_block of_block(u32 block) const {
    return {*this, block, fill + static_cast<u64>(block) * (last + 1)};
  }
};
// A slice as a source of size() items, gaps included.
template <class Slot>
struct parts_source {
  bins_of_parts<typename Slot::word> bins;
  u32 slice;
  u32 most;  // items of a part, at most

  u64 size() const { return static_cast<u64>(most) * bins.blocks; }
  TILEHASH_FN item<Slot> operator()(u64 i) const {
    const u32 block = static_cast<u32>(i) / most, at = static_cast<u32>(i) % most;
    const auto its = bins.of_block(block);
    if (at >= its.fill[slice]) return {};
    return routed_source<keys_as_they_are<Slot>>{{}, its.at(slice)}(at);
  }
};

// Drops all but the first of a share's equal keys before the share is sent. Most keys occur once, so most
// items read only two bits:
//
//   once   | ..1..1.... |   each item sets its hash's bit; an item that finds it set
//   again  | ...1...... |   sets one here, which other items of its key and few others find set;
//   table  | 7 . . 2 .. |   these enter their numbers in the share, and the first of each key stays
//
// The scratch of the entries has the hashes and, behind them, first the bits of `once`, then the table.
template <class Slot>
struct drop_later_copies : nothing_before<Slot> {
  using key_bits = typename Slot::key_bits;
  using value_bits = typename Slot::value_bits;
  static constexpr bool meets = true;
  static constexpr u32 cells_of(u32 share) { return share / 4; }  // words for the bits of `again`

  template <u32 Threads, u32 PerThread, u32 Words, class Block, class Route, class Entries, class Cells>
  TILEHASH_FN void meet(Block block, const Route& /*route*/, const Entries& /*in*/, Cells again,
                        const key_bits (&hashes)[PerThread], const value_bits (& /*values*/)[PerThread],
                        u32 (&goes)[Words]) const {
    static_assert(Words == 1);
    constexpr u32 share = PerThread * Threads;
    const scratch_of<Block, share> in(block);
    const u32 me = block.rank();
    u32 met = mark_repeated<Threads>(block, in, again, hashes, goes[0]);
    block.barrier();
    for (u32 s = me; s < in.slots; s += Threads) in.table[s] = nobody;
    for (; met != 0; met &= met - 1) {
      const u32 bit = again_bit<cells_of(share)>(in.kept[lowest(met) * Threads + me]);
      set_bits(again + bit / 32, 1U << (bit % 32));
    }
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u32 bit = again_bit<cells_of(share)>(hashes[k]);
      met |= (u32(again[bit / 32]) >> (bit % 32) & 1) << k;
    }
    met &= goes[0];
    u32 later = enter<Threads>(in, met, me);
    block.barrier();
    later |= find_later<Threads>(in, met & ~later, me);
    goes[0] &= ~later;
  }

 private:
  static constexpr u32 nobody = ~u32(0);

  template <class Block, u32 Share>
  struct scratch_of {
    static constexpr u64 kept_bytes = Share * sizeof(key_bits);
    static constexpr u32 slots = std::bit_floor(
        static_cast<u32>((Share * nothing_before<Slot>::entry_bytes - kept_bytes) / sizeof(u32)));
    static_assert(slots >= Share);  // so every item finds one
    decltype(std::declval<Block>().template scratch<key_bits>()) kept;
    decltype(std::declval<Block>().template scratch<u32>()) once, table;

    TILEHASH_FN explicit scratch_of(Block block)
        : kept(block.template scratch<key_bits>()),
          once(block.template scratch<u32>(kept_bytes)),
          table(once) {}
    TILEHASH_FN static u32 slot_of(key_bits h) { return spread<slots>(h, 0xc2b2ae3d27d4eb4f); }
  };

  // Returns a bit for each item whose bit in `once` was set.
  template <u32 Threads, u32 PerThread, class Block, class Scratch, class Cells>
  TILEHASH_FN static u32 mark_repeated(Block block, const Scratch& in, Cells again,
                                       const key_bits (&hashes)[PerThread], u32 goes) {
    const u32 me = block.rank();
    for (u32 w = me; w < in.slots; w += Threads) in.once[w] = 0;
    for (u32 w = me; w < cells_of(PerThread * Threads); w += Threads) again[w] = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) in.kept[k * Threads + me] = hashes[k];
    block.barrier();
    u32 met = 0;  // bit k: the k-th item
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u32 bit = spread<32 * Scratch::slots>(hashes[k], 0x9e3779b97f4a7c15);
      const bool there = (goes >> k & 1) != 0;
      const u32 before = there ? fetch_or(in.once + bit / 32, 1U << (bit % 32)) : 0;
      met |= (before >> (bit % 32) & 1) << k;
    }
    return met;
  }
  // Enters the items of `met` in the table, which keeps the first of each key so far. Returns a bit for each
  // item that met an earlier one.
  template <u32 Threads, class Scratch>
  TILEHASH_FN static u32 enter(const Scratch& in, u32 met, u32 me) {
    u32 later = 0;
    for (u32 rest = met; rest != 0; rest &= rest - 1) {
      const u32 number = lowest(rest) * Threads + me;
      const key_bits hash = in.kept[number];
      for (u32 s = in.slot_of(hash);; s = (s + 1) % in.slots) {  // at most once round
        const u32 first = compare_and_swap(in.table + s, nobody, number);
        if (first != nobody && key_bits(in.kept[first]) != hash) continue;
        if (first == nobody) break;
        if (number < first)
          fetch_min(in.table + s, number);
        else
          later |= rest & (0U - rest);
        break;
      }
    }
    return later;
  }
  // Returns a bit for each item of `rest` that is not its key's first.
  template <u32 Threads, class Scratch>
  TILEHASH_FN static u32 find_later(const Scratch& in, u32 rest, u32 me) {
    u32 later = 0;
    for (; rest != 0; rest &= rest - 1) {
      const u32 number = lowest(rest) * Threads + me;
      const key_bits hash = in.kept[number];
      u32 s = in.slot_of(hash), first = in.table[s];
      while (key_bits(in.kept[first]) != hash) s = (s + 1) % in.slots, first = in.table[s];
      if (first != number) later |= rest & (0U - rest);
    }
    return later;
  }

  template <u32 Range>
  TILEHASH_FN static u32 spread(key_bits hash, u64 by) {
    return static_cast<u32>(hash * static_cast<key_bits>(by) >>
                            (8 * sizeof(key_bits) - std::bit_width(Range - 1)));
  }
  template <u32 AgainWords>
  TILEHASH_FN static u32 again_bit(key_bits hash) {
    return spread<32 * AgainWords>(hash, 0xc2b2ae3d27d4eb4f);
  }
};

// Preserves the order in a share. (A CPU's block is one thread, and sends all items in order.)
template <class Slot, class Space>
using before_ordered_bins =
    std::conditional_t<Space::has_lanes, drop_later_copies<Slot>, nothing_before<Slot>>;

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
