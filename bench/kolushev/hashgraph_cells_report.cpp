// SPDX-License-Identifier: Apache-2.0
#include "kolushev/hashgraph_cells_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fields.hpp"

namespace tilehash::bench {
namespace {

// Seconds, and how many times as fast as the standard's set.
std::string time_of(const spread& its, const spread* standard) {
  const std::string times = standard == nullptr ? "" : fmt::format("{:.2f}x", standard->median / its.median);
  return fmt::format(" {:>9.3g} {:>7}", its.median, times);
}

}  // namespace

std::string cells_heading(const cells_case& the_case, int threads) {
  const std::string who = threads == 0   ? ""
                          : threads == 1 ? "; one thread"
                                         : fmt::format("; {} threads", threads);
  const char* const clock = the_case.clock == cells_clock::processor ? " of the processor" : "";
  const char* const times = threads == 0 ? "" : ", and how many times as fast as std::unordered_set";
  return fmt::format(
      "\n{} cells ({}), {} asked for, {} a row{}\nseconds{}{}; bytes a cell\n"
      "  {:<26} {:>9} {:>7} {:>9} {:>7} {:>9} {:>7} {:>7}\n",
      the_case.n, the_case.data, the_case.queries, the_case.load, who, clock, times, "", "build", "", "found",
      "", "not found", "", "bytes");
}

std::string cells_line(const cells_measurement& m, const cells_measurement* standard) {
  if (!m.obstacle.empty()) return fmt::format("  {:<26} {}\n", m.design, m.obstacle);
  if (standard != nullptr && !standard->obstacle.empty()) standard = nullptr;
  const auto part = [&](spread cells_measurement::*its) {
    return time_of(m.*its, standard == nullptr ? nullptr : &(standard->*its));
  };
  std::string text = fmt::format("  {:<26}{}{}{} {:>7}", m.design, part(&cells_measurement::build),
                                 part(&cells_measurement::found), part(&cells_measurement::not_found),
                                 m.bytes == 0 ? "" : fmt::format("{:.1f}", m.bytes));
  text += faults({{"LOST", m.lost}, {"WRONG", m.wrong}});
  const double noise = std::max({m.build.noise(), m.found.noise(), m.not_found.noise()});
  if (noise > 0.1) text += fmt::format("  (runs differ by up to {:.0f} %)", noise * 100);
  return text + '\n';
}

fields fields_of(const cells_measurement& m) {
  fields all{{"design", m.design},        {"space", m.space},  {"threads", m.threads},
             {"data", m.what.data},       {"cells", m.what.n}, {"queries", m.what.queries},
             {"load_factor", m.what.load}};
  if (m.what.clock == cells_clock::processor) all.push_back({"clock", "processor"});
  if (!m.obstacle.empty()) {
    all.push_back({"obstacle", m.obstacle});
    return all;
  }
  if (m.bytes != 0) all.push_back({"bytes_per_cell", m.bytes});
  nlohmann::ordered_json seconds, rates;
  const auto add = [&](const char* op, const spread& its, u64 n) {
    seconds[op] = as_json(its);
    rates[op] = static_cast<double>(n) / its.median / 1e6;
  };
  add("build", m.build, m.what.n);
  add("found", m.found, m.what.queries);
  add("not_found", m.not_found, m.what.queries);
  all.push_back({"seconds", std::move(seconds)});
  all.push_back({"mcells_per_s", std::move(rates)});
  all.push_back({.name = "lost", .value = m.lost, .head = "LOST", .is_fault = true});
  all.push_back(wrong_answers(m.wrong));
  return all;
}

}  // namespace tilehash::bench
