// SPDX-License-Identifier: Apache-2.0
// Keys by the number of their item: how often each comes, and how far apart.
#pragma once

#include "emulated.hpp"

namespace tilehash::designs_test {

template <class Space>
Space make_space() {
  if constexpr (Space::has_lanes)
    return Space({.seed = 7, .preempt = true});
  else
    return Space(2);
}

// The key of the i-th item.
using which_key = u64 (*)(u64 i, u64 n);
// Each key has two copies; the second comes so many items after the first.
template <u64 Apart>
u64 twice(u64 i, u64 /*n*/) {
  return i / (2 * Apart) * Apart + i % Apart;
}
template <u64 Distinct>
u64 random_key(u64 i, u64 /*n*/) {
  return mix64(i) % Distinct;
}
template <u64 OneIn>
u64 one_key_often(u64 i, u64 n) {
  return mix64(i) % OneIn == 0 ? 0 : mix64(i) % (4 * n);
}
// First copies of few keys, more than a region's list can hold, then keys of their own.
inline u64 often_and_then_once(u64 i, u64 n) { return i < n / 2 ? mix64(i) % (n / 50) : i; }

}  // namespace tilehash::designs_test
