// Bit tricks on masks, the same on both machines.
#pragma once

#include <cuda/std/bit>

#include <tilehash/core/config.hpp>

namespace tilehash::detail {

TILEHASH_FN u32 count_ones(u32 mask) { return static_cast<u32>(::cuda::std::popcount(mask)); }

// The index of the lowest bit that is set; `mask` must not be 0.
TILEHASH_FN u32 lowest(u32 mask) { return static_cast<u32>(::cuda::std::countr_zero(mask)); }

// The lowest N bits, turned so that bit `by` becomes bit 0; `by` < N.
template <u32 N>
TILEHASH_FN u32 rotate_right(u32 mask, u32 by) {
  static_assert(N < 32);
  constexpr u32 all = (1U << N) - 1;
  mask &= all;
  return (mask >> by | mask << (N - by)) & all;
}

}  // namespace tilehash::detail
