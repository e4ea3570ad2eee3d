// SPDX-License-Identifier: Apache-2.0
// The GPU examples on a machine without a GPU: they say so, and leave with the exit code that means
// "skipped".
#pragma once

#include <cstdio>

#include <tilehash/space/cuda.cuh>

namespace tilehash_examples {

inline int with_gpu(int (*run)()) {
  if (tilehash::cuda::available()) return run();
  std::puts("skipped: no GPU");
  return 77;
}

}  // namespace tilehash_examples
