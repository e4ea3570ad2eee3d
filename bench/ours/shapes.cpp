// SPDX-License-Identifier: Apache-2.0
#include "ours/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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

// The best rows of the rows of one verb, width and space, and of those of one bound among them.
class best_rows {
 public:
  void add(const shape_row& row, const shape_bound* bound) {
    if (row.wrong != 0 || row.over_limit) return;
    for (const shape_bound* const of : {bound, all}) {
      const shape_row*& best = best_[key(row, of)];
      if (best == nullptr || best->rate() < row.rate()) best = &row;
    }
  }
  // Null: all rows are over the limit, or wrong.
  const shape_row* of(const shape_row& row, const shape_bound* bound = all) const {
    const auto at = best_.find(key(row, bound));
    return at != best_.end() ? at->second : nullptr;
  }

 private:
  static constexpr const shape_bound* all = nullptr;
  using kind = std::tuple<std::string_view, shape_verb, shape_width, const shape_bound*>;
  static kind key(const shape_row& row, const shape_bound* bound) {
    return {row.space, row.what.verb, row.what.width, bound};
  }
  std::map<kind, const shape_row*> best_;
};

// Items per second that are possible for a row; 0: not known.
double possible_rate(const shape_row& row, const shape_bound& bound, const best_rows& best,
                     const rates_of_memory& rates, double least) {
  const shape_row *const fastest = best.of(row), *const alike = best.of(row, &bound);
  if (alike == nullptr) return 0;
  const double memory = rate_by_cost(row, bound.cost, rates);
  // The best row of the same bound says what the instructions take, unless it is slow itself.
  const double of_alike = std::min(fastest->rate(), rate_by_cost(*alike, bound.cost, rates));
  const double possible = alike->rate() >= least * of_alike ? 1 / (1 / memory + 1 / alike->rate()) : memory;
  return possible < fastest->rate() ? possible : 0;
}

shape_verdict verdict_of(const judged_shape& j, double least, double refused) {
  if (j.row.wrong != 0) return shape_verdict::wrong;
  if (j.row.refused_share() > refused) return shape_verdict::refused;
  if (j.row.over_limit) return shape_verdict::over_limit;
  if (j.share >= least) return shape_verdict::fine;
  return j.bound > 0 && j.row.rate() >= least * j.bound ? shape_verdict::bounded : shape_verdict::slow;
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

double most_frequent(shape_keys keys, u64 items) {
  const u64 distinct = std::min(distinct_keys(keys, items), items);
  const auto all = static_cast<double>(items), of = static_cast<double>(distinct);
  if (keys == shape_keys::half_one_key) return all - of + 1;
  if (keys != shape_keys::zipf) return all / of;
  return 1 + (all - of) * std::min(1.0, std::log(2.0) / std::log(of));  // zipf_number()
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

u64 table_bytes(const shape_row& row) {
  const shape& s = row.what;
  const u64 own = std::min(distinct_keys(s.keys, row.items), row.items);
  const bool adds_new = s.adds() && s.state != shape_state::present;
  u64 slots = row.held + (adds_new ? own : 0);
  if (s.state == shape_state::empty) slots = std::max(slots, own);
  if (s.state == shape_state::half) slots = std::max(slots, 2 * row.held);
  const double load = s.state == shape_state::near_full ? 0.95 : 0.8;
  return static_cast<u64>(static_cast<double>(slots * (row.key_bytes + row.value_bytes)) / load);
}

double rate_by_cost(const shape_row& row, const shape_cost& cost, const rates_of_memory& rates) {
  constexpr u64 core_cache = u64(1) << 18;  // bytes
  const auto seconds = [](double accesses, double rate) { return accesses > 0 ? accesses / rate : 0; };
  const access_rates of_table = rates(row.space, table_bytes(row));
  const double per_item = seconds(cost.reads, of_table.reads) + seconds(cost.updates, of_table.updates) +
                          seconds(cost.reads_alone, of_table.reads_alone) +
                          seconds(cost.updates_alone, of_table.updates_alone) +
                          seconds(cost.steps, of_table.steps);
  const u64 keys = std::min(distinct_keys(row.what.keys, row.items), row.items);
  const auto items = static_cast<double>(row.items);
  const double places = row.what.width == shape_width::record ? 3 : row.what.wide() ? 2 : 1;
  double all = places * per_item * (cost.by_key ? static_cast<double>(keys) : items) +
               places * seconds(cost.moved * static_cast<double>(row.held), of_table.updates);
  if (cost.combined > 0) all += seconds(cost.combined * items, rates(row.space, core_cache).updates);
  if (cost.one_line > 0)
    all += seconds(cost.one_line * most_frequent(row.what.keys, row.items), rates(row.space, 1).updates);
  if (cost.waits > 0) all += cost.waits * of_table.call;
  constexpr double launches = 1e-4;  // seconds of the kernels and waits of any call on a GPU
  if (all > 0 && row.space == "cuda") all += launches;
  return all > 0 ? items / all : std::numeric_limits<double>::infinity();
}

std::vector<judged_shape> judge(std::span<const shape_row> rows, std::span<const shape_bound> bounds,
                                const rates_of_memory& rates, double least) {
  best_rows best;
  for (const shape_row& row : rows) best.add(row, bound_of(row, bounds));
  std::vector<judged_shape> judged;
  for (const shape_row& row : rows) {
    const shape_row* const fastest = best.of(row);
    judged_shape j{.row = row, .share = fastest != nullptr ? row.rate() / fastest->rate() : 0};
    const shape_bound* const bound = bound_of(row, bounds);
    if (bound != nullptr && j.share < least) j.bound = possible_rate(row, *bound, best, rates, least);
    j.verdict = verdict_of(j, least, bound != nullptr ? bound->refused : 0);
    if (bound != nullptr && (j.bound > 0 || row.refused != 0)) j.reason = bound->reason;
    judged.push_back(std::move(j));
  }
  std::ranges::stable_sort(judged, {}, [](const judged_shape& j) { return std::pair(j.verdict, j.share); });
  return judged;
}

}  // namespace tilehash::bench
