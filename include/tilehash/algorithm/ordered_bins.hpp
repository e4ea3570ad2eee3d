// Bins that keep the order in which their items came, for whoever asks which of two was first.
//
// A partition's block takes a stretch of the items, share after share, and sends each share's runs in order.
// So two entries of a bin that the same block sent stand in it as they came, and for all others their blocks'
// numbers tell. The number costs no memory: the regions are ranges of hashes, so of an entry's hash its bin
// tells the upper bits, and there it stands.
//
//   routed_item    | hash: upper | lower | value |
//   ordered_item   |    block    | lower | value |     as many bits as half the regions need, or more
//
// Where items go in two steps (engine/region_fill.hpp) the slices of the first are few and tell few bits.
// There each block has a part of a slice's bin for itself: what comes next reads the parts one after the
// other, which is the items in order, and some gaps.
#pragma once

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// An entry's order is its block's number above its position in the bin: 32 bits. (A bin may be somewhat
// larger than its region.)
inline constexpr u32 position_bits = 16, most_ordered_slots = 1U << (position_bits - 1);

// How the entries of a region's ordered bin are read.
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

template <class Entries>
concept tells_order = requires { &Entries::order_of; };

// One for each region of a table of at least 2^block_bits regions.
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

// One for each slice, of which each block has a part.
template <class Word>
struct bins_of_parts {
  Word* entries;
  u32 room, last, last_room;  // of a bin, and of the last one
  u32 blocks;
  u32* fill;  // of each block's parts

  TILEHASH_FN u32 part_of(u32 slice) const { return (slice == last ? last_room : room) / blocks; }
  u64 most_blocks() const { return blocks; }

  struct from_block {
    bins_of_parts bins;
    u32 block;
    u32* fill;
    TILEHASH_FN u32 room_of(u32 slice) const { return bins.part_of(slice); }
    TILEHASH_FN Word* at(u32 slice) const {
      return bins.entries + static_cast<u64>(slice) * bins.room + static_cast<u64>(block) * room_of(slice);
    }
    TILEHASH_FN static const Word& written(const Word& e) { return e; }
  };
  TILEHASH_FN from_block of_block(u32 block) const {
    return {*this, block, fill + static_cast<u64>(block) * (last + 1)};
  }
};
// A slice of them as a source: of so many items, gaps included.
template <class Slot>
struct parts_source {
  bins_of_parts<typename Slot::word> bins;
  u32 slice;

  u64 size() const { return static_cast<u64>(bins.part_of(slice)) * bins.blocks; }
  TILEHASH_FN item<Slot> operator()(u64 i) const {
    const u32 part = bins.part_of(slice), block = static_cast<u32>(i) / part, at = static_cast<u32>(i) % part;
    const auto its = bins.of_block(block);
    if (at >= its.fill[slice]) return {};
    return routed_source<keys_as_they_are<Slot>>{{}, its.at(slice)}(at);
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
