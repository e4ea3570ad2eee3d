// SPDX-License-Identifier: Apache-2.0
// The same store on a GPU.
#include <stdexcept>

#include <tilehash/space/cuda.cuh>

#include "store.hpp"

namespace kv_store {

count run_on_gpu(const settings& s) {
  if (!tilehash::cuda::available()) {
    if (s.space == "cuda") throw std::runtime_error("--space cuda: there is no GPU here");
    std::puts("no GPU here");
    return 0;
  }
  tilehash::cuda space;
  return run(space, s);
}

}  // namespace kv_store
