// SPDX-License-Identifier: Apache-2.0
// How multimaps' measurements are printed.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "alcantara/thesis_multiplicity.hpp"

namespace tilehash::bench {

std::string multiplicity_heading();
std::string multiplicity_line(const multiplicity_row& row);
nlohmann::ordered_json multiplicities_as_json(std::span<const multiplicity_row> rows);

}  // namespace tilehash::bench
