// SPDX-License-Identifier: Apache-2.0
// The surface of a mesh that assimp can read, as voxels with colours.
#pragma once

#include <string>
#include <vector>

#include <tilehash/core/layout.hpp>

#include "../png.hpp"

namespace sparse_voxels {

struct voxel {
  tilehash::layouts::grid_point<3> at;
  tilehash_examples::pixel colour;
};

// Each voxel of a grid of side^3 that the surface meets once, row by row, with the colour that the mesh has
// there: of its texture, where that is a PNG file, else of its vertices or its material. Throws
// std::runtime_error with one line where the file cannot be read or has no faces.
std::vector<voxel> voxelise(const std::string& path, std::uint32_t side);

}  // namespace sparse_voxels
