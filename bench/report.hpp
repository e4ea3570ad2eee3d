// Measurements for people and for programs. All return text; printing it is the caller's business.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "aggregation.hpp"
#include "ceilings.hpp"
#include "measure.hpp"
#include "yardstick.hpp"

namespace tilehash::bench {

// What was measured more than once: "min", "median" and "max" of its "runs".
nlohmann::ordered_json as_json(const spread& seconds);
// A warning for the end of a line where the runs differ by more than a tenth; else nothing.
std::string noise_of(std::string_view op, const spread& seconds);

std::string ceiling_table(std::span<const ceiling> rows);
nlohmann::ordered_json ceilings_as_json(std::span<const ceiling> rows, const std::string& space);

std::string aggregation_line(const aggregation& row);
nlohmann::ordered_json aggregations_as_json(std::span<const aggregation> rows);

// The table of one case: a heading, then lines.
std::string case_heading(const yardstick_case& the_case, const std::string& machine);
std::string subject_line(std::span<const measurement> of_one_subject);
std::string advantage_line(std::span<const measurement> of_one_subject, std::span<const measurement> of_peer);
std::string limits_lines(const known_limits& known);
nlohmann::ordered_json measurements_as_json(std::span<const measurement> rows);

}  // namespace tilehash::bench
