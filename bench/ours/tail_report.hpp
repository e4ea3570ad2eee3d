// SPDX-License-Identifier: Apache-2.0
// How the rates of the last inserts, of erases and of skewed lookups are printed.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "ours/tail.hpp"

namespace tilehash::bench {

std::string tail_heading(const std::string& machine);
std::string tail_line(const tail_row& row);
nlohmann::ordered_json tails_as_json(std::span<const tail_row> rows);

}  // namespace tilehash::bench
