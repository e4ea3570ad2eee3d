// SPDX-License-Identifier: Apache-2.0
// Maximum load factors of tables with two buckets a key (tiled, bucketed_cuckoo).
#pragma once

#include <tilehash/core/capacity.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// In the limit, two buckets of one slot can be filled to 0.5, of two slots to 0.897 and of four to 0.98. Up
// to the values below, the paths that a displacement searches suffice for every key. Buckets of one slot are
// the exception: at any load, some keys in a million cannot be placed (three keys with the same two buckets).
// With four slots, most tables of a million items have keys that cannot be placed at 0.97, and all have at
// 0.98.
template <u32 BucketSlots>
inline constexpr double max_load_factor_of_two_buckets = BucketSlots == 1   ? 0.45
                                                         : BucketSlots == 2 ? 0.88
                                                         : BucketSlots == 4 ? 0.96
                                                                            : max_load_factor;

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
