// SPDX-License-Identifier: Apache-2.0
// Voxels as a picture: lit, seen from the front and a little from above.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "voxels.hpp"

namespace voxel_boolean {

using colour = std::array<std::uint8_t, 3>;

struct coloured_voxels {
  const std::vector<voxel>* voxels;
  colour paint;
};

// One panel next to the other, each with all of its lists.
void write_picture(const std::string& path, count side,
                   const std::vector<std::vector<coloured_voxels>>& panels);

}  // namespace voxel_boolean
