// SPDX-License-Identifier: Apache-2.0
// A CPU prefetches memory long before it reads it; a GPU runs other warps while one waits for memory.
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

inline constexpr u32 in_flight = tuning::cpu::in_flight;  // operations a CPU thread keeps in flight

TILEHASH_FN void prefetch(const void* p) {
#if !defined(__CUDA_ARCH__)
  __builtin_prefetch(p);
#endif
}
TILEHASH_FN void prefetch_to_write(const void* p) {
#if !defined(__CUDA_ARCH__)
  __builtin_prefetch(p, 1);
#endif
}

// A CPU's schedule for changes: calls use(i, x) for every i, where x is the result of fetch(i), called
// `in_flight` operations earlier.
template <class Fetch, class Use>
void fetch_ahead(u64 from, u64 to, Fetch fetch, Use use) {
  decltype(fetch(from)) ring[in_flight];
  for (u64 i = from; i < to && i < from + in_flight; ++i) ring[i % in_flight] = fetch(i);
  for (u64 i = from; i < to; ++i) {
    const auto x = ring[i % in_flight];
    if (i + in_flight < to) ring[i % in_flight] = fetch(i + in_flight);
    use(i, x);
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
