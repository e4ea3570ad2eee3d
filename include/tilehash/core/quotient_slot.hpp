// SPDX-License-Identifier: Apache-2.0
// Slots that store only the bits of a key that the bucket's number does not give.
//
// A bijective hash maps the key to K bits. In a table of at least 2^5 buckets the bucket's number gives the
// top five of them. So a word of K bits and the value has five spare bits; each design has its own use for
// them.
//
// Keys of 1, 2 and 4 bytes are hashed as 32 bits, of 8 bytes as 64; the word has 4, 8 or 16 bytes.
#pragma once

#include <tilehash/core/hash.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

template <class Key, class Value>
struct quotient_slot {
  static_assert(detail::checked_key<Key>::is);
  static_assert(detail::checked_value<Value>::is);
  static_assert(
      detail::packed_bytes<Key> <= 8 && detail::bytes_of<Value> <= 8,
      "tilehash: this design keeps keys and values of at most 8 bytes each; use map, which takes any");

  using key_type = Key;
  using mapped_type = Value;
  using key_bits = detail::bits_t<detail::packed_bytes<Key>>;  // the key's bits, and those of its hash
  using stored_key = key_bits;
  static constexpr u32 key_width = 8 * sizeof(key_bits);
  static constexpr u32 value_bytes = detail::bytes_of<Value>;
  using word = detail::bits_t<sizeof(key_bits) + value_bytes>;
  using value_bits = detail::bits_t<value_bytes>;

  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr u32 value_shift = 8 * value_bytes;
  static constexpr u32 quotient_bits = 5;
  static constexpr u64 min_buckets = 40;  // more than 2^quotient_bits, with a margin for rounding
  static constexpr u32 remainder_bits = key_width - quotient_bits;
  static constexpr key_bits remainder_mask = (key_bits(1) << remainder_bits) - 1;

  static constexpr stored_key empty_mark = 0;
  static constexpr word empty_word = 0;
  static constexpr bool reserves_keys = false;

  TILEHASH_FN static constexpr value_bits value_of(word w) { return detail::value_in<Value>(w); }
  // The same slot with another value.
  TILEHASH_FN static constexpr word with_value(word w, value_bits v)
    requires(!is_set)
  {
    return static_cast<word>(w >> value_shift << value_shift | v);
  }

  // The argument of a design's insert(): the value only, because the design has the remainder.
  TILEHASH_FN static constexpr word pack(key_bits, value_bits v) {
    if constexpr (is_set)
      return 0;
    else
      return v;
  }
  TILEHASH_FN static constexpr bool is_reserved(key_bits) { return false; }
  TILEHASH_FN static key_bits encode(const Key& key) { return detail::key_to_bits<key_bits>(key); }
  TILEHASH_FN static Key decode(key_bits k) { return detail::key_from_bits<Key>(k); }
};

// A slot that stores a remainder and three bits of its bucket's overflow filter.
//
//      most significant                                                    least significant
//     +------------------+-----+------+-----------+--------------------------------+
//     | remainder (K-5)  | 2nd | used | filter(3) |  value (none in a set)         |   K = 32 or 64
//     +------------------+-----+------+-----------+--------------------------------+
//     |<-------- stored key ------------->|
//
// `used`: a free slot has stored_key 0, so no key looks like a free slot. `2nd`: this key is stored in its
// second bucket. The filter's three bits belong to the bucket and stay when the slot's key is removed.

template <class Key, class Value>
struct remainder_slot : quotient_slot<Key, Value> {
  using base = quotient_slot<Key, Value>;
  using base::is_set;
  using base::key_width;
  using base::value_shift;
  using typename base::key_bits;
  using typename base::stored_key;
  using typename base::value_bits;
  using typename base::word;

  static constexpr u32 filter_bits = 3;
  static constexpr u32 filter_shift = value_shift;
  static constexpr u32 stored_shift = value_shift + filter_bits;
  static constexpr u32 second_shift = stored_shift + 1;
  static constexpr word stored_mask =
      static_cast<word>(static_cast<word>((key_bits(1) << (key_width - filter_bits)) - 1) << stored_shift);
  static constexpr word filter_mask = static_cast<word>(static_cast<word>(7) << filter_shift);

  TILEHASH_FN static constexpr stored_key stored_as(key_bits remainder, bool second) {
    return static_cast<stored_key>(remainder << 2 | key_bits(second) << 1 | 1);
  }
  TILEHASH_FN static constexpr stored_key stored_in(word w) {
    return static_cast<stored_key>((w & stored_mask) >> stored_shift);
  }
  TILEHASH_FN static constexpr bool is_second(stored_key n) { return (n & 2) != 0; }
  TILEHASH_FN static constexpr key_bits remainder_of(stored_key n) { return n >> 2; }

  // A word without filter bits.
  TILEHASH_FN static constexpr word make(stored_key n, value_bits v) {
    if constexpr (is_set)
      return static_cast<word>(n) << stored_shift;
    else
      return static_cast<word>(n) << stored_shift | v;
  }
  TILEHASH_FN static constexpr word filter_of(word w) { return w & filter_mask; }
  // The word of a slot after an item replaced `old`: the filter belongs to the bucket and stays.
  TILEHASH_FN static constexpr word written_over(word old, stored_key n, value_bits v) {
    return static_cast<word>(filter_of(old) | make(n, v));
  }
  TILEHASH_FN static constexpr bool is_free(word w) { return (w >> stored_shift & 1) == 0; }
};
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
