// SPDX-License-Identifier: Apache-2.0
// A slot: a key and its value packed into one word that can be changed atomically.
//
//      most significant                                   least significant
//     +----------------------+--------------+-----------------------------+
//     |  key                 |  spare bits  |  value (none in a set)      |
//     +----------------------+--------------+-----------------------------+
//     |<--------- key bits ---------------->|
//
// The word has 4, 8 or 16 bytes, the smallest that fits. The *key bits* are the key as stored in the word,
// spare bits included; all comparisons are of key bits. Two patterns mark free slots: `empty` (never used
// since the last clear) and the `tombstone` (used once, so lookups must not stop here). With spare bits no
// key looks like a mark. Without them the two largest key patterns do. Keys with those patterns are
// `reserved` and stored in the table's two sentinel cells (core/sentinel_cells.hpp), so every key is legal.
//
// A key with members is stored as its packed bytes (core/key_members.hpp); -0.0 is stored as 0.0.
#pragma once

#include <tilehash/core/key_members.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

template <class T>
inline constexpr u32 bytes_of = sizeof(T);
template <>
inline constexpr u32 bytes_of<void> = 0;

// The value in the low bits of a slot's word; 0 in a set.
template <class Value, class Word>
TILEHASH_FN constexpr auto value_in(Word w) {
  constexpr u32 bytes = bytes_of<Value>;
  using bits = bits_t<bytes>;
  if constexpr (bytes == sizeof(bits))
    return static_cast<bits>(w);
  else
    return static_cast<bits>(static_cast<bits>(w) & ((bits(1) << 8 * bytes) - 1));
}

}  // namespace detail

template <class Key, class Value>
struct slot {
  static_assert(detail::checked_key<Key>::is);
  static_assert(detail::checked_value<Value>::is);
  static constexpr u32 key_bytes = detail::packed_bytes<Key>;
  static constexpr u32 value_bytes = detail::bytes_of<Value>;
  static_assert(key_bytes + value_bytes <= 16,
                "tilehash: this design keeps key and value in one atomic word of at most 16 bytes; "
                "use map, which takes any");

  using key_type = Key;
  using mapped_type = Value;
  using word = detail::bits_t<key_bytes + value_bytes>;
  using key_bits = detail::bits_t<sizeof(word) - value_bytes>;
  using stored_key = key_bits;  // the bits that are compared with a bucket's
  using value_bits = detail::bits_t<value_bytes>;

  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr u32 value_shift = 8 * value_bytes;
  static constexpr u32 stored_shift = value_shift;
  static constexpr u32 spare = 8 * (sizeof(word) - key_bytes - value_bytes);
  static constexpr bool reserves_keys = spare == 0;

  static constexpr key_bits all_ones = static_cast<key_bits>(
      static_cast<key_bits>(~key_bits(0)) >> (8 * (sizeof(key_bits) + value_bytes - sizeof(word))));
  static constexpr key_bits empty_mark = spare ? key_bits(1) : all_ones;
  static constexpr key_bits tombstone_mark = spare ? key_bits(2) : static_cast<key_bits>(all_ones - 1);

  TILEHASH_FN static constexpr word pack(key_bits k, value_bits v) {
    if constexpr (is_set)
      return k;
    else
      return static_cast<word>(k) << value_shift | v;
  }
  // The word of a slot after an item replaced `old`.
  TILEHASH_FN static constexpr word written_over(word /*old*/, stored_key n, value_bits v) {
    return pack(n, v);
  }
  static constexpr word empty_word = static_cast<word>(static_cast<word>(empty_mark) << value_shift);
  static constexpr word tombstone_word = static_cast<word>(static_cast<word>(tombstone_mark) << value_shift);

  TILEHASH_FN static constexpr key_bits key_of(word w) { return static_cast<key_bits>(w >> value_shift); }
  TILEHASH_FN static constexpr value_bits value_of(word w) { return detail::value_in<Value>(w); }
  // The same slot with another value.
  TILEHASH_FN static constexpr word with_value(word w, value_bits v)
    requires(!is_set)
  {
    return static_cast<word>(w >> value_shift << value_shift | v);
  }
  TILEHASH_FN static constexpr bool is_free(word w) {
    return key_of(w) == empty_mark || key_of(w) == tombstone_mark;
  }

  // Do these key bits look like a mark, so that the key must be stored in a sentinel cell?
  TILEHASH_FN static constexpr bool is_reserved(key_bits k) {
    return reserves_keys && (k == empty_mark || k == tombstone_mark);
  }

  TILEHASH_FN static key_bits encode(const Key& key) {
    return static_cast<key_bits>(detail::key_to_bits<key_bits>(key) << spare);
  }
  TILEHASH_FN static Key decode(key_bits k) {
    return detail::key_from_bits<Key>(static_cast<key_bits>(k >> spare));
  }

  // The input of a hash function: the key's bits without the spare ones.
  TILEHASH_FN static constexpr auto hash_input(key_bits k) {
    return static_cast<detail::bits_t<key_bytes>>(k >> spare);
  }
};

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
