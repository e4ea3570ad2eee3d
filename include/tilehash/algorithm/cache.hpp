// When it pays to put items in order before they are written at random, as measured
// (docs/designs/hash_graph.md).
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Does so much stay in the cache that it is written at random faster than after a partition?
template <class Space>
bool stays_in_cache(const Space& space, u64 bytes) {
  if constexpr (Space::has_lanes)
    return false;
  else
    return bytes <= space.last_cache_bytes() / 2;
}

// What fits no word to be partitioned in: is it put in bins first? Where it takes more than half of the cache
// that all share, a GPU's L2 or a CPU's last.
template <class Space>
bool bins_pay(const Space& space, u64 bytes) {
  if constexpr (Space::has_lanes)
    return bytes > space.cache_bytes() / 2;
  else
    return !stays_in_cache(space, bytes);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
