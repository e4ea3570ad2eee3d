// SPDX-License-Identifier: Apache-2.0
// Key columns: arrays, and arrays with a validity bitmap as Arrow has it.
//
//   keys    | 7 | 4 | 7 | 9 |      valid   1 0 1 1 (bit 0 first)      row 1 has no key
#pragma once

#include <ranges>
#include <span>
#include <type_traits>

#include <tilehash/analysis/factorize.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis {

/// The row number of what has no row: a side of a join, or a group.
inline constexpr u32 no_row = ~u32(0);

/// A key column of which some rows have no key (nulls). Its arrays are in memory of the space.
template <class Key>
struct nullable {
  std::span<const Key> keys;  ///< one for each row; the key of a null is not read as a key
  const u8* valid =
      nullptr;     ///< bit (offset + i) % 8 of byte (offset + i) / 8 is 1 if row i has a key; null: all
  u64 offset = 0;  ///< the bit of row 0
};

namespace detail {

template <class T>
struct nullable_key {};
template <class Key>
struct nullable_key<nullable<Key>> {
  using type = Key;
};

// A column's keys and bitmap, whatever its type.
template <std::ranges::contiguous_range Keys>
nullable<key_of_array<Keys>> as_nullable(const Keys& keys) {
  return {std::span<const key_of_array<Keys>>(keys)};
}
template <class Key>
nullable<Key> as_nullable(const nullable<Key>& column) {
  return column;
}
template <class Column>
concept key_column = requires(const Column& c) { as_nullable(c); };

struct validity {
  const u8* bits;
  u64 offset;
  TILEHASH_FN bool at(u64 i) const {
    const u64 bit = offset + i;
    return bits == nullptr || ((bits[bit / 8] >> (bit % 8)) & 1) != 0;
  }
};
template <class Key>
validity validity_of(const nullable<Key>& column) {
  return {column.valid, column.offset};
}

// Codes of a column whose rows without a key have ~0; the least such row in *least_missing.
struct write_valid {
  const u32* codes;
  validity valid;
  u64* words;
  u32* least_missing;
  TILEHASH_FN void operator()(u64 i) const {
    const bool none = codes[i] == no_code || !valid.at(i);
    words[i] = none ? ~u64(0) : codes[i];
    if (none) tilehash::TILEHASH_ABI::detail::fetch_min(least_missing, static_cast<u32>(i));
  }
};

}  // namespace detail
}  // namespace analysis
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
