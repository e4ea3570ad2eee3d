// How full tables of two buckets a key may get (tiled, bucketed_cuckoo).
#pragma once

#include <tilehash/core/capacity.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// With four slots each: up to it 256 paths are enough for every key; at 0.97 in most tables of a million
// items some do not, at 0.98 in all.
inline constexpr double max_load_factor_of_four = 0.96;

template <u32 BucketSlots>
inline constexpr double max_load_factor_of_two_buckets =
    BucketSlots < 8 ? max_load_factor_of_four : max_load_factor;

}  // namespace tilehash::inline TILEHASH_ABI::detail
