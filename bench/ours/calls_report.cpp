// SPDX-License-Identifier: Apache-2.0
#include "ours/calls_report.hpp"

#include <fmt/format.h>

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

fields fields_of(const call_row& row) {
  return {{"design", row.design, "design", -15},
          {"space", row.space},
          {"call", row.call, "call", -24},
          {"items", row.items, "items", 10},
          {"held", row.held, "held", 10},
          {"waits", row.waits},
          {"repeat", row.repeat, "times", 6},
          {"microseconds", in_microseconds(row.done)},
          {"", microseconds(row.done), "until done", 30},
          {"microseconds_until_back", in_microseconds(row.returned)},
          {"", row.waits ? "" : microseconds(row.returned), "until back", 30},
          wrong_answers(row.wrong)};
}

}  // namespace tilehash::bench
