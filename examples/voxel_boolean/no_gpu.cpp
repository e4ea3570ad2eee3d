// SPDX-License-Identifier: Apache-2.0
// Built without CUDA.
#include "voxels.hpp"

namespace voxel_boolean {

show run_on_gpu(const std::vector<point>& /*a*/, const std::vector<point>& /*b*/, count /*side*/,
                std::uint32_t /*frames*/) {
  return {};
}

}  // namespace voxel_boolean
