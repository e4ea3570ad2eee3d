// SPDX-License-Identifier: Apache-2.0
// Points on the surface of a mesh that assimp can read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "voxels.hpp"

namespace voxel_boolean {

// `n` points, spread evenly over all faces, in the unit cube. Throws std::runtime_error with one line where
// the file cannot be read or has no faces.
std::vector<point> sample_mesh(const std::string& path, std::uint32_t n);

}  // namespace voxel_boolean
