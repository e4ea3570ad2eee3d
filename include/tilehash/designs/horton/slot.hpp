// SPDX-License-Identifier: Apache-2.0
// The content of a slot of a Horton table: an item, or the remap entries of its bucket.
//
//      most significant                                                  least significant
//     +---+------+-------------+------------------+-----------------------------+
//     | 0 | used | function(3) | remainder (K-5)  |  value (none in a set)      |   an item
//     +---+------+-------------+------------------+-----------------------------+
//     | 1 | 20 | 19 | 18 |        ...        | 3 | 2 | 1 | 0 |   3 bits each      |   remap entries
//     +---+---------------------------------------------------------------------+
//     |<-------------- stored key --------------->|
//
// The five bits won from the key (core/quotient_slot.hpp) have three parts. One is the bucket's type, as the
// paper's spare bit. Another is `used`, so that no item looks like a free slot. The third is the function
// that maps the item to its bucket, 0 for its primary one. So every key and value is legal, and entries
// differ from every item.
//
// A word of 8 bytes and more has 21 entries, one of 4 bytes (a set's) 10.
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/core/quotient_slot.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

template <class Key, class Value>
struct horton_slot : quotient_slot<Key, Value> {
  using base = quotient_slot<Key, Value>;
  using base::is_set;
  using base::key_width;
  using base::remainder_bits;
  using base::remainder_mask;
  using base::value_shift;
  using typename base::key_bits;
  using typename base::stored_key;
  using typename base::value_bits;
  using typename base::word;

  static constexpr u32 stored_shift = value_shift;
  static constexpr u32 functions = 7;  // secondary ones

  // ---- an item ----
  TILEHASH_FN static constexpr stored_key stored_as(key_bits remainder, u32 function) {
    return static_cast<stored_key>(key_bits(8 | function) << remainder_bits | remainder);
  }
  TILEHASH_FN static constexpr stored_key stored_in(word w) {
    return static_cast<stored_key>(w >> stored_shift);
  }
  TILEHASH_FN static constexpr u32 function_of(stored_key n) {
    return static_cast<u32>(n >> remainder_bits) & 7;
  }
  TILEHASH_FN static constexpr key_bits remainder_of(stored_key n) { return n & remainder_mask; }
  TILEHASH_FN static constexpr word make(stored_key n, value_bits v) {
    if constexpr (is_set)
      return static_cast<word>(n);
    else
      return static_cast<word>(n) << stored_shift | v;
  }
  TILEHASH_FN static constexpr word written_over(word /*old*/, stored_key n, value_bits v) {
    return make(n, v);
  }
  TILEHASH_FN static constexpr bool is_free(word w) { return stored_in(w) == 0; }

  // ---- remap entries: the function of each tag's items, 0 if there are none ----
  static constexpr u32 type_shift = value_shift + key_width - 1;
  static constexpr u32 entries = type_shift / 3 < 21 ? type_shift / 3 : 21;
  static constexpr word no_entries = static_cast<word>(word(1) << type_shift);

  TILEHASH_FN static constexpr bool is_remap(word w) { return (w >> type_shift & 1) != 0; }
  TILEHASH_FN static constexpr u32 entry(word w, u32 tag) { return static_cast<u32>(w >> 3 * tag) & 7; }
  // The same, or 0 if the word is an item. Branch-free: a third of the buckets of a full table are of type B,
  // which no processor predicts.
  TILEHASH_FN static constexpr u32 entry_if_any(word w, u32 tag) {
    return detail::only_if(is_remap(w), entry(w, tag));
  }
  // The lowest tag with a used entry among those in `all`, some entries of a word; not 0.
  TILEHASH_FN static u32 first_tag(u64 all) {
    const u32 low = static_cast<u32>(all);
    return (low != 0 ? detail::lowest(low) : 32 + detail::lowest(static_cast<u32>(all >> 32))) / 3;
  }
  TILEHASH_FN static constexpr u64 all_entries(word w) {
    return static_cast<u64>(w) & ((u64(1) << 3 * entries) - 1);
  }
  TILEHASH_FN static constexpr word with_entry(word w, u32 tag, u32 function) {
    const word others = static_cast<word>(w & ~static_cast<word>(word(7) << 3 * tag));
    return static_cast<word>(others | static_cast<word>(word(function) << 3 * tag));
  }
  // The entry of a key, from its remainder: the index of an entry is the paper's implicit tag.
  TILEHASH_FN static constexpr u32 tag_of(key_bits remainder) {
    u32 x = static_cast<u32>(remainder);
    if constexpr (sizeof(key_bits) == 8) x ^= static_cast<u32>(remainder >> 32) * 0xc2b2ae35U;
    return static_cast<u32>((static_cast<u64>(x * 0x9e3779b1U) * entries) >> 32);
  }
};

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
