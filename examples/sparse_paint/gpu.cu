// SPDX-License-Identifier: Apache-2.0
// The same frames on a GPU.
#include <tilehash/space/cuda.cuh>

#include "paint.hpp"

namespace sparse_paint {

count run_on_gpu(const settings& s, picture& last) {
  if (!tilehash::cuda::available()) return 0;
  tilehash::cuda space;
  return run(space, s, last);
}

}  // namespace sparse_paint
