// SPDX-License-Identifier: Apache-2.0
#include "kolushev/hashgraph_join_report.hpp"

#include <fmt/format.h>

#include "fields.hpp"

namespace tilehash::bench {

const char* name_of(join_kind kind) {
  switch (kind) {
    case join_kind::inner:
      return "inner";
    case join_kind::left:
      return "left";
    case join_kind::semi:
      return "semi";
    default:
      return "anti";
  }
}

const char* name_of(join_skew skew) {
  switch (skew) {
    case join_skew::none:
      return "none";
    case join_skew::left:
      return "left";
    default:
      return "right";
  }
}

std::string join_heading(const join_case& the_case) {
  return fmt::format(
      "\n{} join of {} left rows, {:.4g} of them found, and {} right rows, {} of a key; skewed: {}\n"
      "seconds to build, to join, and for both (least to most); billion rows a second that come out, and "
      "that "
      "go in;\nhow many times as long as `join`\n"
      "  {:<22} {:>9} {:>9} {:>9} {:<22} {:>8} {:>8} {:>7}\n",
      name_of(the_case.kind), the_case.left, the_case.found, the_case.right, the_case.copies,
      name_of(the_case.skew), "", "build", "join", "both", "", "out", "in", "ratio");
}

std::string join_line(const join_measurement& m, const join_measurement* ours) {
  if (!m.obstacle.empty()) return fmt::format("  {:<22} {}\n", m.design, m.obstacle);
  const double s = m.all.median;
  std::string text = fmt::format(
      "  {:<22} {:>9.5f} {:>9.5f} {:>9.5f} {:<22} {:>8.3f} {:>8.3f}", m.design, m.build.median, m.join.median,
      s, fmt::format("({:.5f} to {:.5f})", m.all.min, m.all.max), m.rate(s) / 1e9, m.rate_in(s) / 1e9);
  if (ours != nullptr && ours->obstacle.empty()) text += fmt::format(" {:>7.2f}", s / ours->all.median);
  return text + faults({{"WRONG", m.wrong}}) + '\n';
}

fields fields_of(const join_measurement& m) {
  fields all{{"design", m.design},           {"space", m.space},      {"kind", name_of(m.what.kind)},
             {"left", m.what.left},          {"right", m.what.right}, {"copies", m.what.copies},
             {"skew", name_of(m.what.skew)}, {"found", m.what.found}, {"key_bytes", sizeof(u32)}};
  if (!m.obstacle.empty()) {
    all.push_back({"obstacle", m.obstacle});
    return all;
  }
  all.push_back({"rows", m.rows});
  all.push_back(
      {"seconds", {{"build", as_json(m.build)}, {"join", as_json(m.join)}, {"both", as_json(m.all)}}});
  all.push_back(
      {"grows_per_s", {{"out", m.rate(m.all.median) / 1e9}, {"in", m.rate_in(m.all.median) / 1e9}}});
  all.push_back(wrong_answers(m.wrong));
  return all;
}

}  // namespace tilehash::bench
