// SPDX-License-Identifier: Apache-2.0
// The content of a slot of a Robin Hood table: a key's age, and the remainder that its home does not
// determine.
//
//      most significant                                            least significant
//     +---------+------------------+---------+-----------------------------+
//     | age (a) | remainder (K-g)  | max (m) |  value (none in a set)      |   K = 32 or 64, a + m = g
//     +---------+------------------+---------+-----------------------------+
//     |<------ stored key -------->|
//
// The bucket's number and the age give the home, and the home gives g bits of the key (robin_hood/homes.hpp).
// Those bits hold the age and, in the first slot of a bucket, its maximum age. So no key bit is lost, where
// the paper loses 4 of 32. A free slot has age 0 and looks like no key. g grows with the table, and with it
// the oldest age that fits a slot; robin_hood_homes has the widths that depend on the table.
//
// The maximum age belongs to the bucket, as the home of its keys, and stays when the slot's key goes.
#pragma once

#include <tilehash/core/quotient_slot.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

template <class Key, class Value, u32 MaxAgeBits>
struct robin_hood_slot : quotient_slot<Key, Value> {
  using base = quotient_slot<Key, Value>;
  using base::is_set;
  using base::value_shift;
  using typename base::key_bits;
  using typename base::stored_key;
  using typename base::value_bits;
  using typename base::word;

  static constexpr u32 stored_shift = value_shift + MaxAgeBits;
  static constexpr u32 code_mask = (1U << MaxAgeBits) - 1;

  TILEHASH_FN static constexpr stored_key stored_in(word w) {
    return static_cast<stored_key>(w >> stored_shift);
  }
  TILEHASH_FN static constexpr bool is_free(word w) { return (w >> stored_shift) == 0; }
  TILEHASH_FN static constexpr u32 max_code_in(word w) {
    return static_cast<u32>(w >> value_shift) & code_mask;
  }
  TILEHASH_FN static constexpr word with_max_code(word w, u32 bits) {
    return static_cast<word>((w & ~(word(code_mask) << value_shift)) | word(bits) << value_shift);
  }
  // The slot's word after an item replaced `old`.
  TILEHASH_FN static constexpr word written_over(word old, stored_key n, value_bits v) {
    const word kept = static_cast<word>(old & static_cast<word>(word(code_mask) << value_shift));
    if constexpr (is_set)
      return static_cast<word>(word(n) << stored_shift | kept);
    else
      return static_cast<word>(word(n) << stored_shift | kept | v);
  }
  TILEHASH_FN static constexpr word emptied(word old) { return written_over(old, 0, 0); }
};

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
