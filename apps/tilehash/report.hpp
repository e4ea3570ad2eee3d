// SPDX-License-Identifier: Apache-2.0
// Rows for people and for programs. All return text; printing it is the caller's business.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "registry.hpp"
#include "row.hpp"
#include "terminal.hpp"
#include "workload.hpp"

namespace tilehash::app {

// In the order in which they are shown.
inline constexpr std::string_view all_ops[] = {"build", "insert",   "find_hit",  "find_miss", "find_mix",
                                               "erase", "reinsert", "build_raw", "count"};

std::string heading(const workload& work, const run_settings& settings, const style& look);
std::string design_table(const run_result& result, const style& look);  // the rows of one design
std::string rate_summary(std::span<const row> rows,
                         const style& look);  // design by op; best of each column marked
// The use of time: all of it, the input and its right answers, and what was measured.
std::string time_line(const spent& all, const spent& input, const spent& measured, const style& look);
std::string noise_warning(std::span<const row> rows, const style& look);  // empty where the runs agree
std::string design_list(const registry& designs, const style& look,
                        const std::string& why_no_cuda);  // `tilehash list`
nlohmann::ordered_json rows_as_json(std::span<const row> rows);
std::string designs_as_json(const registry& designs);  // an array, one object a line

}  // namespace tilehash::app
