// SPDX-License-Identifier: Apache-2.0
// Runs one design in one space: builds, inserts, looks up, erases, times each, and checks every answer.
#pragma once

#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "dataset.hpp"
#include "interrupt.hpp"
#include "offered_pairs.hpp"
#include "parallel.hpp"
#include "registry.hpp"
#include "verify.hpp"

namespace tilehash::app {

template <class Key, class Value, class Space>
class runner {
  using table_type = any_table<Key, Value, Space>;
  using key_type = Key;
  using value_type = typename table_type::value_type;
  static constexpr bool is_set = table_type::is_set;  // whose buffers of values are empty
  template <class T>
  using memory = buffer<T, Space>;

 public:
  runner(Space& space, table_maker<Key, Value, Space> make, const workload& work,
         const run_settings& settings, const announce& tell, row blank)
      : space_(space),
        work_(work),
        settings_(settings),
        tell_(tell),
        blank_(std::move(blank)),
        make_(make),
        table_(made_for(work.data.size())),
        found_(space),
        counts_(space),
        values_(space),
        values_before_(space),
        found_before_(space),
        keys_(space) {
    blank_.input = work.data.name;
    blank_.n = work.data.size();
    blank_.unique = work.truth.distinct();
    blank_.key_bytes = sizeof(key_type);
    blank_.value_bytes = is_set ? 0 : sizeof(value_type);
    blank_.verified = settings.verify;
    if constexpr (requires { space.threads(); }) blank_.threads = space.threads();
  }

  // All operations, or those that were done when the user asked to stop.
  run_result run() {
    run_result result{.machine = space_.name(), .rows = {}};
    try {
      const batch all = upload_items(work_.data.size(), [](std::size_t i) { return i; });
      measure_build(all);
      if (table_->inserts()) measure_insert(all);
      measure_find("find_hit", work_.hit, settings_.probes);
      measure_find("find_miss", work_.miss, settings_.probes);
      measure_find("find_mix", work_.mix, false);
      if (table_->inserts() && table_->erases()) measure_erase();
      measure_occurrences();
    } catch (const interrupted&) {
      result.was_interrupted = true;
    }
    result.rows = std::move(rows_);
    result.measured = measured_;
    return result;
  }

 private:
  // Items in the space's memory.
  struct batch {
    memory<key_type> keys;
    memory<value_type> values;
  };

  memory<key_type> upload_keys(std::span<const std::uint64_t> keys) {
    return upload<key_type>(space_, keys.size(), [&](std::size_t i) { return keys[i]; });
  }

  std::unique_ptr<table_type> made_for(std::uint64_t items) const {
    return make_(space_, items, {.load_factor = settings_.load_factor, .seed = settings_.seed});
  }

  // The items item(i), i below n.
  template <class Item>
  batch upload_items(std::size_t n, Item item) {
    return {
        upload<key_type>(space_, n, [&](std::size_t i) { return work_.data.keys[item(i)]; }),
        upload<value_type>(space_, is_set ? 0 : n, [&](std::size_t i) { return work_.data.value(item(i)); })};
  }

  insert_report build(const batch& items) {
    return table_->build(space_, items.keys.span(), items.values.span());
  }
  insert_report insert(const batch& items) {
    return table_->insert(space_, items.keys.span(), items.values.span());
  }

  // ---- measurements ----
  row start(std::string_view op, std::uint64_t items, bool writes) {
    stop_if_asked();
    tell_(op);
    row r = blank_;
    r.op = op;
    r.items = items;
    if (writes && table_->one_writer()) r.threads = 1;
    return r;
  }

  // `once` does the operation, adds to the row's failed, wrong and restarts, and returns the seconds it took.
  // Once to warm up, unless it is done only once anyway.
  template <class Once>
  void repeat(row& r, Once once) {
    std::vector<double> seconds;
    if (settings_.repeat > 1) once();
    for (unsigned i = 0; i < settings_.repeat; ++i) {
      stop_if_asked();
      seconds.push_back(once());
    }
    r.seconds = spread(std::move(seconds));
  }

  // The seconds that work() takes.
  template <class Work>
  double timed(Work work) {
    const stopwatch all;
    const double seconds = space_.time(work);
    const double cpu = all.so_far().cpu;
    measured_ += {seconds, cpu};
    return settings_.processor_time ? cpu : seconds;
  }

  void finish(row r) {
    r.load_factor = table_->load_factor();
    r.bytes = table_->bytes();
    if (table_->size() > 0)
      r.bytes_per_pair = static_cast<double>(r.bytes) / static_cast<double>(table_->size());
    rows_.push_back(std::move(r));
  }

  void measure_build(const batch& items) {
    row r = start("build", work_.data.size(), true);
    repeat(r, [&] {
      table_->clear(space_);
      insert_report report;
      const double seconds = timed([&] { report = build(items); });
      check_report(r, report, r.items, stored_items());
      return seconds;
    });
    check_contents(r);
    finish(std::move(r));
  }

  // A build makes capacity for all items; inserts get a table made for those it will hold.
  void measure_insert(const batch& items) {
    row r = start("insert", work_.data.size(), true);
    const std::uint64_t capacity = stored_items();
    table_.reset();  // before the next one takes memory
    table_ = made_for(capacity);
    repeat(r, [&] {
      table_->clear(space_);
      insert_report report;
      const double seconds = timed([&] { report = insert(items); });
      check_report(r, report, r.items, stored_items());
      return seconds;
    });
    check_contents(r);
    finish(std::move(r));
  }

  void measure_find(std::string_view op, const query_set& queries, bool probes) {
    row r = start(op, queries.size(), false);
    const memory<key_type> keys = upload_keys(queries.keys);
    checked known;
    repeat(r, [&] { return timed_lookups(r, keys.span(), queries, known); });
    if (op == "find_hit") check_counts(r, upload_keys(work_.some.keys).span(), work_.some);
    if (op == "find_miss") {
      const std::size_t n = std::min(queries.size(), workload::enough);
      check_counts(r, keys.first(n), query_view(queries).first(n));
    }
    if (probes && table_->counts_probes()) {
      table_->probe_counts(space_, keys.span(), counts_.take(queries.size()));
      r.probes = summarise_probes(counts_.on_host());
    }
    finish(std::move(r));
  }

  // And inserts of the same items again, into slots that were freed.
  void measure_erase() {
    const bool keeps_all = table_->keeps_duplicates();
    const batch items = upload_items(work_.erased.size(), [&](std::size_t i) { return work_.erased[i]; });
    const memory<key_type> asked = upload_keys(work_.some.keys);
    row erase = start("erase", items.keys.size(), true),
        reinsert = start("reinsert", items.keys.size(), true);
    const std::uint64_t kept = work_.items_left(keeps_all);
    std::vector<double> again;
    bool looked_up = false;
    repeat(erase, [&] {
      std::uint64_t erased = 0;
      const double seconds = timed([&] { erased = table_->erase(space_, items.keys.span()); });
      if (erased != stored_items() - kept || table_->size() != kept) ++erase.wrong;
      if (!looked_up) check_lookups(erase, asked.span(), work_.some_after_erase());
      insert_report report;
      again.push_back(timed([&] { report = insert(items); }));
      check_report(reinsert, report, reinsert.items, stored_items() - kept);
      if (!looked_up) check_lookups(reinsert, asked.span(), work_.some);
      looked_up = true;
      return seconds;
    });
    if (again.size() > settings_.repeat) again.erase(again.begin());  // to warm up
    reinsert.seconds = spread(std::move(again));
    finish(std::move(erase));
    check_contents(reinsert);
    finish(std::move(reinsert));
  }

  // Where keys come again: all that a file holds built into a table as it comes, and how often each key
  // comes, counted in a table made for the different ones.
  void measure_occurrences() {
    const auto given = work_.occurrences();
    const std::uint64_t distinct = work_.truth.distinct();
    if (given.size() == distinct) return;
    const memory<key_type> keys = upload_keys(given);
    table_.reset();
    if (work_.has_raw()) {
      const memory<value_type> numbers =
          upload<value_type>(space_, is_set ? 0 : given.size(), [](std::size_t item) { return item; });
      table_ = made_for(given.size());
      row r = start("build_raw", given.size(), true);
      const std::uint64_t stored = table_->keeps_duplicates() ? given.size() : distinct;
      repeat(r, [&] {
        table_->clear(space_);
        insert_report report;
        const double seconds = timed([&] { report = table_->build(space_, keys.span(), numbers.span()); });
        check_report(r, report, r.items, stored);
        return seconds;
      });
      check_contents(r, contents::occurrences, stored);
      finish(std::move(r));
      table_.reset();
    }
    table_ = made_for(distinct);
    if (!table_->tallies()) return;
    row r = start("count", given.size(), true);
    repeat(r, [&] {
      table_->clear(space_);
      insert_report report;
      const double seconds = timed([&] { report = table_->tally(space_, keys.span()); });
      check_report(r, report, r.items, distinct);
      return seconds;
    });
    check_contents(r, contents::tallies, distinct);
    finish(std::move(r));
  }

  // ---- checks ----
  std::uint64_t stored_items() const { return work_.items_of(table_->keeps_duplicates()); }

  void check_report(row& r, const insert_report& report, std::uint64_t given,
                    std::uint64_t expected_new) const {
    r.failed += report.refused;
    r.restarts += report.restarts;
    const bool all_counted = report.inserted + report.present + report.refused == given;
    if (!all_counted || (report.refused == 0 && report.inserted != expected_new)) ++r.wrong;
  }

  // How many of the answers in `values_before_` and `found_before_` the oracle does not give. The same
  // answers again are as right, or as wrong.
  struct checked {
    std::uint64_t wrong = 0;
    bool there = false;
  };

  double timed_lookups(row& r, std::span<const key_type> keys, query_view queries, checked& known) {
    const double seconds = look_up(keys, true);
    if (!settings_.verify) return seconds;
    const auto found = found_.on_host();
    const auto values = values_.on_host();
    if (!known.there || !same_in_parallel(found, found_before_.as_last_on_host()) ||
        !same_in_parallel(values, values_before_.as_last_on_host())) {
      known = {wrong_lookups(work_, queries, found, values), true};
      std::swap(found_, found_before_);
      std::swap(values_, values_before_);
    }
    r.wrong += known.wrong;
    return seconds;
  }
  void check_lookups(row& r, std::span<const key_type> keys, query_view queries) {
    if (!settings_.verify) return;
    look_up(keys, false);
    r.wrong += wrong_lookups(work_, queries, found_.on_host(), values_.on_host());
  }
  double look_up(std::span<const key_type> keys, bool measured) {
    const auto values = values_.take(is_set ? 0 : keys.size());
    const auto found = found_.take(keys.size());
    // Wrong answers to begin with, so that none can be left out.
    space_.fill(values.data(), values.size(), static_cast<value_type>(~std::uint64_t{0}));
    space_.fill(found.data(), found.size(), false);
    const auto find = [&] { table_->find(space_, keys, values, found); };
    if (measured) return timed(find);
    find();
    return 0;
  }

  void check_counts(row& r, std::span<const key_type> keys, query_view queries) {
    if (!settings_.verify) return;
    table_->count(space_, keys, counts_.take(keys.size()));
    r.wrong += wrong_counts(queries, counts_.on_host(), table_->keeps_duplicates());
    table_->contains(space_, keys, found_.take(keys.size()));
    r.wrong += wrong_lookups(work_, queries, found_.on_host(), std::span<const value_type>());
  }

  void check_contents(row& r) { check_contents(r, contents::items, stored_items()); }
  void check_contents(row& r, contents what, std::uint64_t stored) {
    if (table_->size() != stored) ++r.wrong;
    if (!settings_.verify) return;
    const auto keys = keys_.take(table_->size());
    const auto values = values_.take(is_set ? 0 : table_->size());
    if (table_->retrieve_all(space_, keys, values) != table_->size()) ++r.wrong;
    const bool keeps_all = table_->keeps_duplicates();
    const auto& sums = sums_.try_emplace(what, work_, what, keeps_all, !is_set).first->second;
    r.wrong += wrong_contents(work_, sums, keys_.on_host(), values_.on_host(), keeps_all, what);
  }

  Space& space_;
  const workload& work_;
  const run_settings& settings_;
  const announce& tell_;
  row blank_;
  table_maker<Key, Value, Space> make_;
  std::unique_ptr<table_type> table_;
  answers<bool, Space> found_;
  answers<std::uint32_t, Space> counts_;
  answers<value_type, Space> values_, values_before_;
  answers<bool, Space> found_before_;
  answers<key_type, Space> keys_;
  std::map<contents, contents_sums> sums_{};  // by what a table should hold
  spent measured_{};
  std::vector<row> rows_;
};

// The run of any pair of types in a space, which open() makes of the settings.
template <class Space, class Open>
run_function run_in(const std::string& space_name, const table_makers<Space>& tables,
                    const std::string& design, Open open) {
  return [=](const workload& work, const run_settings& settings, const announce& tell) {
    require_offered(work.data.key_bits, settings.value_bits);
    auto space = open(settings);
    row blank;
    blank.design = design;
    blank.space = space_name;
    const auto run_as = [&]<class Key, class Value>() -> run_result {
      if constexpr (!is_offered<Key, Value>)
        return {};  // refused before
      else
        return runner<Key, Value, Space>(space, std::get<table_maker<Key, Value, Space>>(tables), work,
                                         settings, tell, blank)
            .run();
    };
    const auto run_with_keys = [&]<class Key>() {
      if (settings.value_bits == 0) return run_as.template operator()<Key, void>();
      if (settings.value_bits == 32) return run_as.template operator()<Key, u32>();
      return run_as.template operator()<Key, u64>();
    };
    return work.data.key_bits == 32 ? run_with_keys.template operator()<u32>()
                                    : run_with_keys.template operator()<u64>();
  };
}

}  // namespace tilehash::app
