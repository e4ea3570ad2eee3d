// SPDX-License-Identifier: Apache-2.0
// The changes of a table by asynchronous calls and views, which they count in the memory of the space.
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Words in which a table's changes are counted, each in a cache line of its own. A GPU adds to the words of
// one line one after the other.
inline constexpr u32 size_stripes = tuning::table::size_stripes, size_stride = 16;
inline constexpr u32 size_words = size_stripes * size_stride;

// In a word, the lower 36 bits, signed, are the difference of inserted and erased keys. The bits above count
// erased keys, from which the table knows when a sweep is due. One addition counts both.
struct table_change {
  static constexpr u32 item_bits = 36;
  u64 items = 0, erased = 0;

  TILEHASH_FN static constexpr u64 word(u64 inserted, u64 gone) {
    return inserted - gone + (gone << item_bits);
  }
  constexpr void add(u64 word) {
    constexpr u64 sign = u64(1) << (item_bits - 1);
    const u64 difference = ((word & (2 * sign - 1)) ^ sign) - sign;
    items += difference;
    erased += (word - difference) >> item_bits;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
