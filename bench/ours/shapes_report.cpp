// SPDX-License-Identifier: Apache-2.0
#include "ours/shapes_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fields.hpp"
#include "report.hpp"

namespace tilehash::bench {
namespace {

std::string_view name_of(shape_verdict verdict) { return verdict_names[static_cast<unsigned>(verdict)]; }

}  // namespace

std::string shapes_summary(std::span<const judged_shape> rows, double least) {
  const auto of = [&](auto... verdicts) {
    return std::ranges::count_if(rows,
                                 [&](const judged_shape& j) { return ((j.verdict == verdicts) || ...); });
  };
  using enum shape_verdict;
  return fmt::format(
      "{} rows; {} fail: {} wrong, {} refused items, {} over the limit, {} under {} of the best "
      "of their verb and of what is possible; {} are under it of the former alone\n",
      rows.size(), of(wrong, refused, over_limit, slow), of(wrong), of(refused), of(over_limit), of(slow),
      least, of(bounded));
}

fields fields_of(const judged_shape& j) {
  const shape_row& row = j.row;
  return {{"", name_of(j.verdict), "", -10},
          {"space", row.space},
          {"op", row.what.verb_name(), "verb", -16},
          {"", row.what.width_name(), "key", 6},
          {"key_bytes", row.key_bytes},
          {"value_bytes", row.value_bytes},
          {"keys", row.what.keys_name(), "keys", -14},
          {"form", row.what.form_name(), "form", -9},
          {"state", row.what.state_name(), "state", -9},
          {"held", row.held},
          {"items", row.items, "items", 9},
          {"", row.rate(), "G items/s", 10, ".4f", 1e-9},
          {"seconds", as_json(row.seconds)},
          {"mitems_per_s", row.rate() / 1e6},
          {"share_of_best", j.share, "share", 6, ".3f"},
          {"verdict", name_of(j.verdict)},
          {"", or_null(j.bound), "possible", 10, ".4f", 1e-9},
          {"", fmt::format("{}  {}", faults({{"REFUSED", row.refused}}), j.reason), "", -1},
          {"possible_mitems_per_s", j.bound / 1e6},
          {"bound", j.reason},
          {"over_limit", row.over_limit},
          {"failed", row.refused},  // which some calls may
          wrong_answers(row.wrong),
          {"", j.fails() ? 1 : 0, "", 0, {}, 1, true}};
}

}  // namespace tilehash::bench
