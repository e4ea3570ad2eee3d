// SPDX-License-Identifier: Apache-2.0
#include "ours/shapes_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fields.hpp"
#include "report.hpp"

namespace tilehash::bench {
namespace {

std::string_view name_of(shape_verdict verdict) { return verdict_names[static_cast<unsigned>(verdict)]; }

std::string shape_line(const judged_shape& j) {
  const shape& s = j.row.what;
  std::string text = fmt::format("{:<10} {:<16} {:>6}  {:<14} {:<9} {:<9} {:>9} {:>10.4f} {:>6.3f}",
                                 name_of(j.verdict), s.verb_name(), s.width_name(), s.keys_name(),
                                 s.form_name(), s.state_name(), j.row.items, j.row.rate() / 1e9, j.share);
  text += j.bound > 0 ? fmt::format(" {:>10.4f}", j.bound / 1e9) : std::string(11, ' ');
  text += faults({{"REFUSED", j.row.refused}, {"WRONG", j.row.wrong}});
  if (!j.reason.empty()) text += fmt::format("  {}", j.reason);
  return text + '\n';
}

}  // namespace

std::string shapes_table(std::span<const judged_shape> rows, double least) {
  std::string text =
      fmt::format("{:<10} {:<16} {:>6}  {:<14} {:<9} {:<9} {:>9} {:>10} {:>6} {:>10}\n", "", "verb", "key",
                  "keys", "form", "state", "items", "G items/s", "share", "possible");
  for (const judged_shape& row : rows) text += shape_line(row);
  const auto of = [&](auto... verdicts) {
    return std::ranges::count_if(rows,
                                 [&](const judged_shape& j) { return ((j.verdict == verdicts) || ...); });
  };
  using enum shape_verdict;
  return text +
         fmt::format(
             "{} rows; {} fail: {} wrong, {} refused items, {} over the limit, {} under {} of the best "
             "of their verb and of what is possible; {} are under it of the former alone\n",
             rows.size(), of(wrong, refused, over_limit, slow), of(wrong), of(refused), of(over_limit),
             of(slow), least, of(bounded));
}

fields fields_of(const judged_shape& j) {
  const shape_row& row = j.row;
  return {{"space", row.space},
          {"op", row.what.verb_name()},
          {"key_bytes", row.key_bytes},
          {"value_bytes", row.value_bytes},
          {"keys", row.what.keys_name()},
          {"form", row.what.form_name()},
          {"state", row.what.state_name()},
          {"held", row.held},
          {"items", row.items},
          {"seconds", as_json(row.seconds)},
          {"mitems_per_s", row.rate() / 1e6},
          {"share_of_best", j.share},
          {"verdict", name_of(j.verdict)},
          {"possible_mitems_per_s", j.bound / 1e6},
          {"bound", j.reason},
          {"over_limit", row.over_limit},
          refused_items(row.refused),
          wrong_answers(row.wrong)};
}

}  // namespace tilehash::bench
