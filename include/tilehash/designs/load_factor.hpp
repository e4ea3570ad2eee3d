// How full tables of two buckets a key may get (tiled, bucketed_cuckoo).
#pragma once

#include <tilehash/core/capacity.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Two buckets of one slot can be filled to 0.5, of two to 0.897 and of four to 0.98, in the limit. Up to what
// stands here the paths that are searched are enough for every key, but for one slot, where some keys in a
// million find no place at any load (three keys with the same two buckets). With four slots, at 0.97 some
// keys of most tables of a million items find none, at 0.98 of all.
template <u32 BucketSlots>
inline constexpr double max_load_factor_of_two_buckets = BucketSlots == 1   ? 0.45
                                                         : BucketSlots == 2 ? 0.88
                                                         : BucketSlots == 4 ? 0.96
                                                                            : max_load_factor;

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
