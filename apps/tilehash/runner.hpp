// Runs one design in one space: builds, inserts, looks up, erases, times each, and checks every answer.
#pragma once

#include <tilehash/core/buffer.hpp>
#include <tilehash/core/concepts.hpp>
#include <tilehash/table.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry.hpp"
#include "verify.hpp"

namespace tilehash::app {

template <class Design, class Space>
class runner {
  using key_type = typename Design::key_type;
  using value_type = typename table<Design, Space>::value_element;
  static constexpr bool is_set = table<Design, Space>::is_set;  // whose buffers of values are empty
  static constexpr bool keeps_all = multivalue<Design>;
  template <class T>
  using memory = buffer<T, Space>;

 public:
  runner(Space& space, const workload& work, const run_settings& settings, const announce& tell, row blank)
      : space_(space),
        work_(work),
        settings_(settings),
        tell_(tell),
        blank_(std::move(blank)),
        table_(space, work.data.size(), {.load_factor = settings.load_factor, .seed = settings.seed}) {
    blank_.input = work.data.name;
    blank_.n = work.data.size();
    blank_.unique = work.truth.distinct();
    blank_.key_bytes = sizeof(key_type);
    blank_.value_bytes = is_set ? 0 : sizeof(value_type);
  }

  std::vector<row> run() {
    const batch all = upload_items([](std::size_t) { return true; });
    measure_build(all);
    if constexpr (insertable<Design>) measure_insert(all);
    measure_find("find_hit", work_.hit, settings_.probes);
    measure_find("find_miss", work_.miss, settings_.probes);
    measure_find("find_mix", work_.mix, false);
    if constexpr (insertable<Design> && erasable<Design>) measure_erase(all);
    return std::move(rows_);
  }

 private:
  // Items in the space's memory.
  struct batch {
    memory<key_type> keys;
    memory<value_type> values;
  };

  template <class T>
  memory<T> upload(const words& host) {
    std::vector<T> narrow(host.size());
    std::transform(host.begin(), host.end(), narrow.begin(), [](auto word) { return static_cast<T>(word); });
    return memory<T>(space_, narrow);
  }

  template <class T>
  static words download(const memory<T>& there) {
    const auto host = there.to_host();
    return words(host.begin(), host.end());
  }

  template <class Chosen>
  batch upload_items(Chosen chosen) {
    words keys, values;
    for (std::size_t item = 0; item < work_.data.size(); ++item) {
      if (!chosen(item)) continue;
      keys.push_back(work_.data.keys[item]);
      if (!is_set) values.push_back(work_.data.value(item));
    }
    return {upload<key_type>(keys), upload<value_type>(values)};
  }

  // ---- the table's verbs, alike for maps and sets ----
  insert_report build(const batch& items) {
    if constexpr (is_set)
      return table_.build(space_, items.keys.span());
    else
      return table_.build(space_, items.keys.span(), items.values.span());
  }

  insert_report insert(const batch& items) {
    if constexpr (is_set)
      return table_.insert(space_, items.keys.span());
    else
      return table_.insert(space_, items.keys.span(), items.values.span());
  }

  void find(const memory<key_type>& keys, memory<value_type>& values, memory<bool>& found) {
    if constexpr (is_set)
      table_.contains(space_, keys.span(), found.span());
    else
      table_.find(space_, keys.span(), values.span(), found.span());
  }

  std::uint64_t retrieve_all(memory<key_type>& keys, memory<value_type>& values) {
    if constexpr (is_set)
      return table_.retrieve_all(space_, keys.span());
    else
      return table_.retrieve_all(space_, keys.span(), values.span());
  }

  // ---- measurements ----
  row start(std::string_view op, std::uint64_t items) {
    tell_(op);
    row r = blank_;
    r.op = op;
    r.items = items;
    return r;
  }

  // `once` does the operation, adds to the row's failed, wrong and restarts, and returns the seconds it took.
  template <class Once>
  void repeat(row& r, Once once) {
    std::vector<double> seconds(settings_.repeat);
    std::generate(seconds.begin(), seconds.end(), once);
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    r.seconds = *middle;
    if (r.seconds > 0) r.mitems_per_s = static_cast<double>(r.items) / r.seconds / 1e6;
  }

  void finish(row r) {
    r.load_factor = table_.load_factor();
    r.bytes = table_.bytes();
    if (table_.size() > 0)
      r.bytes_per_pair = static_cast<double>(r.bytes) / static_cast<double>(table_.size());
    rows_.push_back(std::move(r));
  }

  void measure_build(const batch& items) {
    row r = start("build", work_.data.size());
    repeat(r, [&] {
      insert_report report;
      const double seconds = space_.time([&] { report = build(items); });
      check_report(r, report, r.items, stored_items());
      return seconds;
    });
    check_contents(r);
    finish(std::move(r));
  }

  void measure_insert(const batch& items) {
    row r = start("insert", work_.data.size());
    repeat(r, [&] {
      table_.clear(space_);
      insert_report report;
      const double seconds = space_.time([&] { report = insert(items); });
      check_report(r, report, r.items, stored_items());
      return seconds;
    });
    check_contents(r);
    finish(std::move(r));
  }

  void measure_find(std::string_view op, const query_set& queries, bool probes) {
    row r = start(op, queries.size());
    const memory<key_type> keys = upload<key_type>(queries.keys);
    repeat(r, [&] { return check_lookups(r, keys, queries); });
    check_counts(r, keys, queries);
    if (probes) {
      memory<std::uint32_t> counts(space_, queries.size());
      table_.probe_counts(space_, keys.span(), counts.span());
      r.probes = summarise_probes(counts.to_host());
    }
    finish(std::move(r));
  }

  void measure_erase(const batch& all) {
    const batch some = upload_items([&](std::size_t item) { return work_.is_erased(item); });
    row r = start("erase", some.keys.size());
    const std::uint64_t kept = expected_size(work_.items_after_erase, keeps_all);
    repeat(r, [&] {
      std::uint64_t erased = 0;
      const double seconds = space_.time([&] { erased = table_.erase(space_, some.keys.span()); });
      if (erased != stored_items() - kept || table_.size() != kept) ++r.wrong;
      check_lookups(r, all.keys, work_.items_after_erase);
      check_report(r, insert(some), r.items, stored_items() - kept);  // slots that were freed are used again
      check_lookups(r, all.keys, work_.items);
      return seconds;
    });
    check_contents(r);
    finish(std::move(r));
  }

  // ---- checks ----
  std::uint64_t stored_items() const { return keeps_all ? work_.data.size() : work_.truth.distinct(); }

  void check_report(row& r, const insert_report& report, std::uint64_t given,
                    std::uint64_t expected_new) const {
    r.failed += report.refused;
    r.restarts += report.restarts;
    const bool all_told = report.inserted + report.present + report.refused == given;
    if (!all_told || (report.refused == 0 && report.inserted != expected_new)) ++r.wrong;
  }

  double check_lookups(row& r, const memory<key_type>& keys, const query_set& queries) {
    memory<value_type> values(space_, is_set ? 0 : queries.size());
    memory<bool> found(space_, queries.size());
    // Wrong answers to begin with, so that none can be left out; and memory that is there before the clock
    // runs.
    space_.fill(values.data(), values.size(), static_cast<value_type>(~std::uint64_t{0}));
    space_.fill(found.data(), found.size(), false);
    const double seconds = space_.time([&] { find(keys, values, found); });
    r.wrong += wrong_lookups(work_, queries, download(found), download(values));
    return seconds;
  }

  void check_counts(row& r, const memory<key_type>& keys, const query_set& queries) {
    memory<std::uint32_t> counts(space_, queries.size());
    table_.count(space_, keys.span(), counts.span());
    r.wrong += wrong_counts(queries, download(counts), keeps_all);
    memory<bool> contained(space_, queries.size());
    table_.contains(space_, keys.span(), contained.span());
    r.wrong += wrong_lookups(work_, queries, download(contained), {});
  }

  void check_contents(row& r) {
    if (table_.size() != stored_items()) ++r.wrong;
    memory<key_type> keys(space_, table_.size());
    memory<value_type> values(space_, is_set ? 0 : table_.size());
    if (retrieve_all(keys, values) != table_.size()) ++r.wrong;
    r.wrong += wrong_contents(work_, download(keys), download(values), keeps_all);
  }

  Space& space_;
  const workload& work_;
  const run_settings& settings_;
  const announce& tell_;
  row blank_;
  table<Design, Space> table_;
  std::vector<row> rows_;
};

template <class Design>
std::vector<std::string> abilities_of() {
  std::vector<std::string> abilities;
  if (insertable<Design>) abilities.emplace_back("insert");
  if (erasable<Design>) abilities.emplace_back("erase");
  if (bulk_built<Design>) abilities.emplace_back("bulk build");
  if (multivalue<Design>) abilities.emplace_back("multivalue");
  return abilities;
}

template <class Design>
double max_load_factor_of() {
  if constexpr (requires { Design::max_load_factor; })
    return Design::max_load_factor;
  else
    return detail::max_load_factor;
}

// Adds what Entry (see designs/) describes, run in the space that `open` makes of the settings.
template <class Entry, class Open>
void register_design(registry& all, const std::string& name, const std::string& space_name, Open open) {
  const auto run = [=](const workload& work, const run_settings& settings, const announce& tell) {
    auto space = open(settings);
    row blank;
    blank.design = name;
    blank.space = space_name;
    const auto run_as = [&]<class Key, class Value>() {
      using design = typename Entry::template design<Key, Value>;
      return runner<design, decltype(space)>(space, work, settings, tell, blank).run();
    };
    const auto run_with = [&]<class Key>() {
      if (settings.value_bits == 0) return run_as.template operator()<Key, void>();
      if (settings.value_bits == 32) return run_as.template operator()<Key, std::uint32_t>();
      return run_as.template operator()<Key, std::uint64_t>();
    };
    return run_result{.machine = space.name(),
                      .rows = work.data.key_bits == 32 ? run_with.template operator()<std::uint32_t>()
                                                       : run_with.template operator()<std::uint64_t>()};
  };
  all.add({.name = name,
           .paper = std::string(Entry::paper),
           .summary = std::string(Entry::summary),
           .abilities = abilities_of<typename Entry::template design<std::uint32_t, std::uint32_t>>(),
           .spaces = {{space_name, run}},
           .max_load_factor =
               max_load_factor_of<typename Entry::template design<std::uint32_t, std::uint32_t>>()});
}

}  // namespace tilehash::app
