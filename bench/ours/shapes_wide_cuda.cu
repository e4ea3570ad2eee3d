// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "ours/shapes_workload.hpp"

namespace tilehash::bench {

void cuda_wide_shapes(std::span<const shape> shapes, const shapes_case& the_case, const tell_shape& tell) {
  cuda space;
  measure_shapes<words<2>, u64>(space, "cuda", shapes, the_case, shape_width::of_16, tell);
  measure_shapes<words<3>, words<4>>(space, "cuda", shapes, the_case, shape_width::record, tell);
}

}  // namespace tilehash::bench
