// SPDX-License-Identifier: Apache-2.0
#include "ours/calls_report.hpp"

#include <fmt/format.h>

#include "report.hpp"
#include "rows.hpp"

namespace tilehash::bench {
namespace {

std::string microseconds(const spread& s) {
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", s.median * 1e6, s.min * 1e6, s.max * 1e6);
}
nlohmann::ordered_json in_microseconds(spread s) {
  for (double* second : {&s.min, &s.median, &s.max}) *second *= 1e6;
  for (double& run : s.runs) run *= 1e6;
  return as_json(s);
}

}  // namespace

std::string calls_heading(const std::string& design, const std::string& machine) {
  return fmt::format(
      "\n{} of 32 + 32 bits on {}\nmicroseconds of the host until the answers are there: median (least to "
      "most)\n{:<24} {:>10} {:>10} {:>6}\n",
      design, machine, "call", "items", "held", "times");
}

std::string call_line(const call_row& row) {
  std::string text = fmt::format("{:<24} {:>10} {:>10} {:>6} {}", row.call, row.items, row.held, row.repeat,
                                 microseconds(row.done));
  if (!row.waits) text += ", back after " + microseconds(row.returned);
  return text + faults({{"WRONG", row.wrong}}) + '\n';
}

nlohmann::ordered_json calls_as_json(std::span<const call_row> rows) {
  return rows_as_json(rows, [](const call_row& row) {
    return nlohmann::ordered_json{{"design", row.design},
                                  {"space", row.space},
                                  {"call", row.call},
                                  {"items", row.items},
                                  {"held", row.held},
                                  {"waits", row.waits},
                                  {"repeat", row.repeat},
                                  {"microseconds", in_microseconds(row.done)},
                                  {"microseconds_until_back", in_microseconds(row.returned)},
                                  {"wrong", row.wrong}};
  });
}

}  // namespace tilehash::bench
