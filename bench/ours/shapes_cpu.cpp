// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "ours/shapes_workload.hpp"

namespace tilehash::bench {

void cpu_shapes(std::span<const shape> shapes, const shapes_case& the_case, const tell_shape& tell) {
  cpu space(the_case.threads);
  measure_shapes<u32, u32>(space, "cpu", shapes, the_case, shape_width::of_4, tell);
  measure_shapes<u64, u64>(space, "cpu", shapes, the_case, shape_width::of_8, tell);
  measure_shapes<words<2>, u64>(space, "cpu", shapes, the_case, shape_width::of_16, tell);
  measure_shapes<words<3>, words<4>>(space, "cpu", shapes, the_case, shape_width::record, tell);
}

}  // namespace tilehash::bench
