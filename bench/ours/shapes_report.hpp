// SPDX-License-Identifier: Apache-2.0
// How the shapes are printed.
#pragma once

#include <span>
#include <string>

#include "fields.hpp"
#include "ours/shapes.hpp"

namespace tilehash::bench {

// How many fail, and why.
std::string shapes_summary(std::span<const judged_shape> rows, double least);
fields fields_of(const judged_shape& j);

}  // namespace tilehash::bench
