// When it pays to put items in order before they are written at random. Measured on a CPU; a GPU does as it
// did.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// Does so much stay in the cache that it is written at random faster than after a partition?
template <class Space>
bool stays_in_cache(const Space& space, u64 bytes) {
  if constexpr (Space::has_lanes)
    return false;
  else
    return bytes <= space.last_cache_bytes() / 2;
}

// What does not, and fits no word to be partitioned in: is it to be put in bins first?
template <class Space>
inline constexpr bool bins_pay = !Space::has_lanes;

}  // namespace tilehash::inline TILEHASH_ABI::detail
