// SPDX-License-Identifier: Apache-2.0
// Sparse pictures and voxel models by arithmetic, and the order in which they are asked for: the data of
// Garcia et al.'s experiments, any size of it, without files.
#pragma once

#include <tilehash/core/config.hpp>

#include <string>
#include <vector>

#include "yardstick.hpp"

namespace tilehash::bench {

// "random": each point by chance. "structured": patches of three sizes, with holes, as a picture cut out of
// its background has them. "hairy": thin fibres.
inline const std::vector<std::string> coherent_models{"random", "structured", "hairy"};
// The layouts of include/tilehash/core/layout.hpp.
inline const std::vector<std::string> coherent_layouts{"row_major", "morton", "hilbert", "bit_reversal"};

struct coherent_data {
  std::string model = "structured", layout = "row_major";
  u32 side = 0;           // of the square or the cube
  double share = 0.3055;  // of its points that are defined, on average
  // Rows of a picture; the same picture turned, as a screen shows it; or slices of a voxel model through its
  // middle at random orientations, so many.
  enum class access { rows, turned, slices } how = access::rows;
  u32 slices = 0;
  double degrees = 30;  // of the turn
  std::string mesh{};   // a file: its inside is defined, in place of a model's share; `model` is its name
};

// On all threads. Throws invalid_argument if the layout does not fit the grid in 32 bits.
given_keys make_given(const coherent_data& what);

}  // namespace tilehash::bench
