// A slot that stores a remainder (core/quotient_slot.hpp) and three bits of its bucket's overflow filter.
//
//      most significant                                                    least significant
//     +------------------+-----+------+-----------+--------------------------------+
//     | remainder (K-5)  | 2nd | used | filter(3) |  value (none in a set)         |   K = 32 or 64
//     +------------------+-----+------+-----------+--------------------------------+
//     |<-------- stored key ------------->|
//
// `used`: a free slot has stored_key 0, so no key looks like a free slot. `2nd`: this key is stored in its
// second bucket. The filter's three bits belong to the bucket and stay when the slot's key is removed.
#pragma once

#include <tilehash/core/quotient_slot.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

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
