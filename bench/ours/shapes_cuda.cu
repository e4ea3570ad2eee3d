// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "ours/shapes_workload.hpp"

namespace tilehash::bench {

void cuda_shapes(std::span<const shape> shapes, const shapes_case& the_case, const tell_shape& tell) {
  cuda space;
  measure_shapes<u32, u32>(space, "cuda", shapes, the_case, shape_width::of_4, tell);
  measure_shapes<u64, u64>(space, "cuda", shapes, the_case, shape_width::of_8, tell);
  cuda_wide_shapes(shapes, the_case, tell);
}

}  // namespace tilehash::bench
