// SPDX-License-Identifier: Apache-2.0
// Decides by measured limits (docs/measured/hash_graph.md) whether items are put in order before they are
// written at random.
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Whether so many bytes stay in the cache that random writes to them are faster than a partition.
template <class Space>
bool stays_in_cache(const Space& space, u64 bytes) {
  if constexpr (Space::has_lanes)
    return false;
  else
    return bytes <= space.last_cache_bytes() / tuning::of<Space>::cache_share;
}

// Whether items that fit no word are put in bins first. They are if they take more than half of the shared
// cache, a GPU's L2 or a CPU's last level.
template <class Space>
bool bins_pay(const Space& space, u64 bytes) {
  if constexpr (Space::has_lanes)
    return bytes > space.cache_bytes() / tuning::of<Space>::cache_share;
  else
    return !stays_in_cache(space, bytes);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
