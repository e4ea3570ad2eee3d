// SPDX-License-Identifier: Apache-2.0
#include "shapes.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tilehash::bench {
namespace {

// The forms that a verb has, and the states of its table, the plain one first.
struct verb_rule {
  shape_verb verb;
  std::vector<shape_form> forms;
  std::vector<shape_state> states;
};
const std::vector<verb_rule>& rules() {
  using enum shape_verb;
  using enum shape_form;
  using enum shape_state;
  static const std::vector<shape_form> updates{sync, async, by_thread, by_tile, growing, fixed, outcomes},
      lookups{sync, async, by_thread, by_tile};
  static const std::vector<shape_state> filling{empty, half, near_full, present},
      asked{present, half, near_full, empty}, emptied{present, half, near_full};
  static const std::vector<verb_rule> all{
      {build, {sync}, {empty}},
      {insert, updates, filling},
      {insert_or_assign, updates, filling},
      {insert_or_apply, updates, filling},
      {count, {sync, growing, fixed, outcomes}, filling},
      {find, lookups, asked},
      {contains, lookups, asked},
      {erase, lookups, emptied},
      {insert_and_find, {sync, growing, fixed}, filling},
      {retrieve, {sync}, {present}},
  };
  return all;
}

bool makes_sense(const shape& s, const verb_rule& rule, u64 items, bool lanes) {
  using enum shape_form;
  using enum shape_state;
  if (s.form == by_tile && !lanes) return false;
  if (s.form == growing && s.state != empty && s.state != half) return false;
  const bool grouped = s.keys >= shape_keys::groups_10 && s.keys <= shape_keys::groups_2097152;
  if (grouped && distinct_keys(s.keys, items) > items / 2) return false;
  const int differs = (s.keys != shape_keys::distinct) + (s.form != sync) + (s.state != rule.states.front());
  return differs <= 2;
}

bool names(std::string_view list, std::string_view name) {
  if (list.empty()) return true;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}
const shape_bound* bound_of(const shape_row& row, std::span<const shape_bound> bounds) {
  const shape& s = row.what;
  const auto applies = [&](const shape_bound& b) {
    return names(b.space, row.space) && names(b.verbs, s.verb_name()) && names(b.widths, s.width_name()) &&
           names(b.keys, s.keys_name()) && names(b.forms, s.form_name()) && names(b.states, s.state_name());
  };
  const auto at = std::ranges::find_if(bounds, applies);
  return at != bounds.end() ? &*at : nullptr;
}

shape_verdict verdict_of(const shape_row& row, double share, double least, const shape_bound* bound) {
  if (row.wrong != 0) return shape_verdict::wrong;
  if (row.refused_share() > (bound != nullptr ? bound->refused : 0)) return shape_verdict::refused;
  if (row.over_limit) return shape_verdict::over_limit;
  if (share >= least) return shape_verdict::fine;
  return bound != nullptr && share >= bound->least ? shape_verdict::bounded : shape_verdict::slow;
}

}  // namespace

u64 distinct_keys(shape_keys keys, u64 items) {
  switch (keys) {
    case shape_keys::one_key:
      return 1;
    case shape_keys::groups_10:
      return 10;
    case shape_keys::groups_1000:
      return 1000;
    case shape_keys::groups_65536:
      return 1 << 16;
    case shape_keys::groups_2097152:
      return 1 << 21;
    case shape_keys::half_one_key:
      return items / 2 + 1;
    case shape_keys::zipf:
      return std::max<u64>(items / 16, 1);
    default:
      return items;
  }
}

std::vector<shape> all_shapes(u64 items, bool lanes) {
  std::vector<shape> all;
  // The states go before the verbs: the items of a state are made once.
  for (unsigned width = 0; width < width_names.size(); ++width) {
    for (unsigned keys = 0; keys < keys_names.size(); ++keys) {
      for (unsigned state = 0; state < state_names.size(); ++state) {
        for (const verb_rule& rule : rules()) {
          if (std::ranges::find(rule.states, static_cast<shape_state>(state)) == rule.states.end()) continue;
          for (const shape_form form : rule.forms) {
            const shape s{rule.verb, static_cast<shape_width>(width), static_cast<shape_keys>(keys), form,
                          static_cast<shape_state>(state)};
            if (makes_sense(s, rule, items, lanes)) all.push_back(s);
          }
        }
      }
    }
  }
  return all;
}

std::vector<judged_shape> judge(std::span<const shape_row> rows, std::span<const shape_bound> bounds,
                                double least) {
  const auto kind = [](const shape_row& row) { return std::tuple(row.space, row.what.verb, row.what.width); };
  std::map<decltype(kind(rows[0])), double> best;
  for (const shape_row& row : rows) {
    double& its = best[kind(row)];
    if (row.wrong == 0 && !row.over_limit) its = std::max(its, row.rate());
  }
  std::vector<judged_shape> judged;
  for (const shape_row& row : rows) {
    const double fastest = best[kind(row)];
    const double share = fastest > 0 ? row.rate() / fastest : 0;
    const shape_bound* const bound = bound_of(row, bounds);
    const shape_verdict verdict = verdict_of(row, share, least, bound);
    const bool explained = bound != nullptr && (verdict == shape_verdict::bounded || row.refused != 0);
    judged.push_back({row, share, verdict, explained ? bound->reason : std::string_view{}});
  }
  std::ranges::stable_sort(judged, {}, [](const judged_shape& j) { return std::pair(j.verdict, j.share); });
  return judged;
}

}  // namespace tilehash::bench
