// SPDX-License-Identifier: Apache-2.0
// How calls' costs are printed.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "ours/calls.hpp"

namespace tilehash::bench {

std::string calls_heading(const std::string& design, const std::string& machine);
std::string call_line(const call_row& row);
nlohmann::ordered_json calls_as_json(std::span<const call_row> rows);

}  // namespace tilehash::bench
