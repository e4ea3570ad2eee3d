// SPDX-License-Identifier: Apache-2.0
// Slices through a grid at random orientations.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <tilehash/core/layout.hpp>

namespace sparse_voxels {

// The voxels of some slices that are in the grid, slice by slice and row by row.
struct slice_points {
  std::vector<tilehash::layouts::grid_point<3>> voxels;
  std::vector<std::size_t> pixels;  // the pixel of each in the slices, which have side^2 each
};

// Through the middle of the grid, at the same orientations in every run.
inline slice_points random_slices(std::uint32_t side, std::uint32_t slices) {
  using vector3 = std::array<double, 3>;
  std::mt19937_64 random(12);
  std::normal_distribution<double> any;
  const auto direction = [&](const vector3& at_right_angles_to) {
    vector3 v{any(random), any(random), any(random)};
    double along = 0, square = 0;
    for (std::size_t i = 0; i < 3; ++i) along += v[i] * at_right_angles_to[i];
    for (std::size_t i = 0; i < 3; ++i) v[i] -= along * at_right_angles_to[i], square += v[i] * v[i];
    for (double& x : v) x /= std::sqrt(square);
    return v;
  };
  const double middle = (side - 1) / 2.0;
  slice_points all;
  for (std::uint32_t slice = 0; slice < slices; ++slice) {
    const vector3 across = direction({}), down = direction(across);
    for (std::size_t at = 0; at < std::size_t(side) * side; ++at) {
      const double u = static_cast<double>(at % side) - middle, v = static_cast<double>(at / side) - middle;
      tilehash::layouts::grid_point<3> p{};
      bool inside = true;
      for (std::uint32_t i = 0; i < 3; ++i) {
        const double x = std::round(middle + u * across[i] + v * down[i]);
        inside = inside && x >= 0 && x < side;
        p[i] = inside ? static_cast<std::uint32_t>(x) : 0;
      }
      if (!inside) continue;
      all.voxels.push_back(p);
      all.pixels.push_back(std::size_t(slice) * side * side + at);
    }
  }
  return all;
}

}  // namespace sparse_voxels
