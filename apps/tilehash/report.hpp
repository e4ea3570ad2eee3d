// Rows for people and for programs. All return text; printing it is the caller's business.
#pragma once

#include <span>
#include <string>

#include "registry.hpp"
#include "row.hpp"
#include "workload.hpp"

namespace tilehash::app {

enum class colour { off, on };

std::string heading(const workload& work, const run_settings& settings);
std::string design_table(const run_result& result, colour use);   // the rows of one design
std::string rate_summary(std::span<const row> rows, colour use);  // design by op; best of each column marked
std::string design_list(const registry& designs, colour use);     // for `tilehash list`
std::string rows_as_json(std::span<const row> rows);              // an array, one object a line
std::string designs_as_json(const registry& designs);             // likewise

}  // namespace tilehash::app
