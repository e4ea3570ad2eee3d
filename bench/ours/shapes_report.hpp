// SPDX-License-Identifier: Apache-2.0
// How the shapes are printed.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "ours/shapes.hpp"

namespace tilehash::bench {

// A table of all rows, those that fail first, and how many do.
std::string shapes_table(std::span<const judged_shape> rows, double least);
nlohmann::ordered_json shapes_as_json(std::span<const judged_shape> rows);

}  // namespace tilehash::bench
