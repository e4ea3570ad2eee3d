// SPDX-License-Identifier: Apache-2.0
// Bit operations on masks, the same on CPU and GPU.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

TILEHASH_FN u32 count_ones(u32 mask) {
#if defined(__CUDA_ARCH__)
  return static_cast<u32>(__popc(static_cast<int>(mask)));
#else
  return static_cast<u32>(__builtin_popcount(mask));
#endif
}

// The index of the lowest bit that is set; `mask` must not be 0.
TILEHASH_FN u32 lowest(u32 mask) {
#if defined(__CUDA_ARCH__)
  return static_cast<u32>(__ffs(static_cast<int>(mask)) - 1);
#else
  return static_cast<u32>(__builtin_ctz(mask));
#endif
}

// The number of bits that x takes: 0 for 0.
TILEHASH_FN u32 bit_width(u64 x) {
#if defined(__CUDA_ARCH__)
  return static_cast<u32>(64 - __clzll(static_cast<long long>(x)));
#else
  return x == 0 ? 0 : static_cast<u32>(64 - __builtin_clzll(x));
#endif
}

// The lowest N bits, rotated so that bit `by` becomes bit 0; `by` < N.
template <u32 N>
TILEHASH_FN u32 rotate_right(u32 mask, u32 by) {
  static_assert(N < 32);
  constexpr u32 all = (1U << N) - 1;
  mask &= all;
  return (mask >> by | mask << (N - by)) & all;
}

// x if `yes`, else 0. It has no branch on a CPU, for conditions that branch predictors cannot guess.
TILEHASH_FN constexpr u32 only_if(bool yes, u32 x) {
#if defined(__CUDA_ARCH__)
  return yes ? x : 0;
#else
  return x & (0U - static_cast<u32>(yes));
#endif
}

// things[i], without a run-time index on a GPU: the index would move the array out of registers.
template <class T, u32 N>
TILEHASH_FN T pick(const T (&things)[N], u32 i) {
#if defined(__CUDA_ARCH__)
  T one = things[0];
#pragma unroll
  for (u32 k = 1; k < N; ++k) one = k == i ? things[k] : one;
  return one;
#else
  return things[i];
#endif
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
