// A slot that keeps what its bucket's number does not tell of a key.
//
//      most significant                                                    least significant
//     +------------------+-----+------+-----------+--------------------------------+
//     | remainder (K-5)  | 2nd | used | filter(3) |  value (none in a set)         |   K = 32 or 64
//     +------------------+-----+------+-----------+--------------------------------+
//     |<-------- stored key ------------->|
//
// A bijective hash sends the key to K bits; a table of at least 2^5 buckets knows 5 of them from the bucket.
// The five bits won hold: `used` (a free slot has stored_key 0, so no key looks like a free slot), `2nd`
// (this key stands in its second bucket), and three bits of the bucket's overflow filter, which belong to the
// bucket and stay when the slot's key goes.
//
// Keys of 1, 2 and 4 bytes are hashed as 32 bits, of 8 bytes as 64; the word has 4, 8 or 16 bytes.
#pragma once

#include <tilehash/core/hash.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash::inline TILEHASH_ABI {

template <class Key, class Value>
struct remainder_slot {
  static_assert(key_like<Key>,
                "tilehash: a key must be trivially copyable and have no padding (or be a float or double)");
  static_assert(value_like<Value>, "tilehash: a mapped value must be trivially copyable, or void for a set");
  static_assert(
      sizeof(Key) <= 8 && detail::bytes_of<Value> <= 8,
      "tilehash: this design keeps keys and values of at most 8 bytes each; use map, which takes any");

  using key_type = Key;
  using mapped_type = Value;
  using key_bits = detail::bits_t<sizeof(Key)>;  // the key's bits; also what its hash has
  using stored_key = key_bits;
  static constexpr u32 key_width = 8 * sizeof(key_bits);
  static constexpr u32 value_bytes = detail::bytes_of<Value>;
  using word = detail::bits_t<sizeof(key_bits) + value_bytes>;
  using value_bits = detail::bits_t<value_bytes>;

  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr u32 value_shift = 8 * value_bytes;
  static constexpr u32 filter_bits = 3;
  static constexpr u32 quotient_bits = 5;
  static constexpr u32 remainder_bits = key_width - quotient_bits;
  static constexpr u32 filter_shift = value_shift;
  static constexpr u32 stored_shift = value_shift + filter_bits;
  static constexpr u32 second_shift = stored_shift + 1;
  static constexpr key_bits remainder_mask = (key_bits(1) << remainder_bits) - 1;
  static constexpr word stored_mask =
      static_cast<word>(static_cast<word>((key_bits(1) << (key_width - filter_bits)) - 1) << stored_shift);
  static constexpr word filter_mask = static_cast<word>(static_cast<word>(7) << filter_shift);

  static constexpr stored_key empty_mark = 0;
  static constexpr word empty_word = 0;
  static constexpr bool reserves_keys = false;

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
  // What stands in a slot after an item took the place of `old`: the filter is the bucket's and stays.
  TILEHASH_FN static constexpr word written_over(word old, stored_key n, value_bits v) {
    return static_cast<word>(filter_of(old) | make(n, v));
  }

  TILEHASH_FN static constexpr value_bits value_of(word w) {
    if constexpr (is_set)
      return 0;
    else if constexpr (value_bytes == sizeof(value_bits))
      return static_cast<value_bits>(w);
    else
      return static_cast<value_bits>(w) & ((value_bits(1) << value_shift) - 1);
  }
  // The same slot with another value.
  TILEHASH_FN static constexpr word with_value(word w, value_bits v)
    requires(!is_set)
  {
    return static_cast<word>(w >> value_shift << value_shift | v);
  }
  TILEHASH_FN static constexpr bool is_free(word w) { return (w >> stored_shift & 1) == 0; }

  // What a design's insert() is given: the value alone; the design knows the remainder.
  TILEHASH_FN static constexpr word pack(key_bits, value_bits v) {
    if constexpr (is_set)
      return 0;
    else
      return v;
  }
  TILEHASH_FN static constexpr bool is_reserved(key_bits) { return false; }
  TILEHASH_FN static key_bits encode(const Key& key) {
    return detail::to_bits<key_bits>(detail::canonical(key));
  }
  TILEHASH_FN static Key decode(key_bits k) { return detail::from_bits<Key>(k); }
};

}  // namespace tilehash::inline TILEHASH_ABI
