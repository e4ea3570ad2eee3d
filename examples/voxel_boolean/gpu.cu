// SPDX-License-Identifier: Apache-2.0
// The same frames on a GPU.
#include <tilehash/space/cuda.cuh>

#include "voxels.hpp"

namespace voxel_boolean {

show run_on_gpu(const std::vector<point>& a, const std::vector<point>& b, count side, std::uint32_t frames) {
  if (!tilehash::cuda::available()) return {};
  tilehash::cuda space;
  return run_frames(space, a, b, side, frames);
}

}  // namespace voxel_boolean
