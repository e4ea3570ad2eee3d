// Runs one design in one space: builds, inserts, looks up, erases, times each, and checks every answer.
#pragma once

#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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
        table_(made_for(work.data.size())) {
    blank_.input = work.data.name;
    blank_.n = work.data.size();
    blank_.unique = work.truth.distinct();
    blank_.key_bytes = sizeof(key_type);
    blank_.value_bytes = is_set ? 0 : sizeof(value_type);
    blank_.verified = settings.verify;
    if constexpr (requires { space.threads(); }) blank_.threads = space.threads();
  }

  // All operations, or those that were done when somebody asked to stop.
  run_result run() {
    run_result result{.machine = space_.name(), .rows = {}};
    try {
      const batch all = upload_items([](std::size_t) { return true; });
      measure_build(all);
      if (table_->inserts()) measure_insert(all);
      measure_find("find_hit", work_.hit, settings_.probes);
      measure_find("find_miss", work_.miss, settings_.probes);
      measure_find("find_mix", work_.mix, false);
      if (table_->inserts() && table_->erases()) measure_erase(all);
      measure_occurrences();
    } catch (const interrupted&) {
      result.was_interrupted = true;
    }
    result.rows = std::move(rows_);
    return result;
  }

 private:
  // Items in the space's memory.
  struct batch {
    memory<key_type> keys;
    memory<value_type> values;
  };

  // value(i) for every i of [0, n), in the space's memory.
  template <class T, class Of>
  memory<T> upload(std::size_t n, Of value) {
    std::vector<T> narrow(n);
    in_parallel(n, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) narrow[i] = static_cast<T>(value(i));
    });
    return memory<T>(space_, narrow);
  }
  memory<key_type> upload_keys(std::span<const std::uint64_t> keys) {
    return upload<key_type>(keys.size(), [&](std::size_t i) { return keys[i]; });
  }

  std::unique_ptr<table_type> made_for(std::uint64_t items) const {
    return make_(space_, items, {.load_factor = settings_.load_factor, .seed = settings_.seed});
  }

  template <class Chosen>
  batch upload_items(Chosen chosen) {
    std::vector<std::uint32_t> items;
    for (std::size_t item = 0; item < work_.data.size(); ++item) {
      if (chosen(item)) items.push_back(static_cast<std::uint32_t>(item));
    }
    return {upload<key_type>(items.size(), [&](std::size_t i) { return work_.data.keys[items[i]]; }),
            upload<value_type>(is_set ? 0 : items.size(),
                               [&](std::size_t i) { return work_.data.value(items[i]); })};
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
      const double seconds = space_.time([&] { report = build(items); });
      check_report(r, report, r.items, stored_items());
      return seconds;
    });
    check_contents(r);
    finish(std::move(r));
  }

  // A build makes room for all items; inserts get a table made for those it will hold.
  void measure_insert(const batch& items) {
    row r = start("insert", work_.data.size(), true);
    const std::uint64_t room = stored_items();
    table_.reset();  // before the next one takes memory
    table_ = made_for(room);
    repeat(r, [&] {
      table_->clear(space_);
      insert_report report;
      const double seconds = space_.time([&] { report = insert(items); });
      check_report(r, report, r.items, stored_items());
      return seconds;
    });
    check_contents(r);
    finish(std::move(r));
  }

  void measure_find(std::string_view op, const query_set& queries, bool probes) {
    row r = start(op, queries.size(), false);
    const memory<key_type> keys = upload_keys(queries.keys);
    checked_answers known;
    repeat(r, [&] { return check_lookups(r, keys, queries, known); });
    if (op == "find_hit") check_counts(r, upload_keys(work_.each.keys), work_.each);
    if (op == "find_miss") check_counts(r, keys, queries);
    if (probes && table_->counts_probes()) {
      memory<std::uint32_t> counts(space_, queries.size());
      table_->probe_counts(space_, keys.span(), counts.span());
      r.probes = summarise_probes(counts.to_host());
    }
    finish(std::move(r));
  }

  void measure_erase(const batch& all) {
    const batch some = upload_items([&](std::size_t item) { return work_.is_erased(item); });
    row r = start("erase", some.keys.size(), true);
    const std::uint64_t kept = expected_size(work_.items_after_erase(), table_->keeps_duplicates());
    bool looked_up = false;
    repeat(r, [&] {
      std::uint64_t erased = 0;
      const double seconds = space_.time([&] { erased = table_->erase(space_, some.keys.span()); });
      if (erased != stored_items() - kept || table_->size() != kept) ++r.wrong;
      // All items are looked up without these and with them again; once, for it is more work than what is
      // measured. How many there are is asked every time, and of the last time all contents.
      if (!looked_up) check_lookups(r, all.keys, work_.items_after_erase());
      check_report(r, insert(some), r.items, stored_items() - kept);  // slots that were freed are used again
      if (!looked_up) check_lookups(r, all.keys, work_.items());
      looked_up = true;
      return seconds;
    });
    check_contents(r);
    finish(std::move(r));
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
          upload<value_type>(is_set ? 0 : given.size(), [](std::size_t item) { return item; });
      table_ = made_for(given.size());
      row r = start("build_raw", given.size(), true);
      const std::uint64_t stored = table_->keeps_duplicates() ? given.size() : distinct;
      repeat(r, [&] {
        table_->clear(space_);
        insert_report report;
        const double seconds =
            space_.time([&] { report = table_->build(space_, keys.span(), numbers.span()); });
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
      const double seconds = space_.time([&] { report = table_->tally(space_, keys.span()); });
      check_report(r, report, r.items, distinct);
      return seconds;
    });
    check_contents(r, contents::tallies, distinct);
    finish(std::move(r));
  }

  // ---- checks ----
  std::uint64_t stored_items() const {
    return table_->keeps_duplicates() ? work_.data.size() : work_.truth.distinct();
  }

  void check_report(row& r, const insert_report& report, std::uint64_t given,
                    std::uint64_t expected_new) const {
    r.failed += report.refused;
    r.restarts += report.restarts;
    const bool all_told = report.inserted + report.present + report.refused == given;
    if (!all_told || (report.refused == 0 && report.inserted != expected_new)) ++r.wrong;
  }

  // Answers that were compared with the oracle's. The same answers again are as right, or as wrong.
  struct checked_answers {
    typename memory<bool>::host_vector found{};
    typename memory<value_type>::host_vector values{};
    std::uint64_t wrong = 0;
    bool there = false;
  };

  void check_lookups(row& r, const memory<key_type>& keys, query_view queries) {
    checked_answers none;
    if (settings_.verify) check_lookups(r, keys, queries, none);
  }
  double check_lookups(row& r, const memory<key_type>& keys, query_view queries, checked_answers& known) {
    memory<value_type> values(space_, is_set ? 0 : queries.size());
    memory<bool> found(space_, queries.size());
    // Wrong answers to begin with, so that none can be left out; and memory that is there before the clock
    // runs.
    space_.fill(values.data(), values.size(), static_cast<value_type>(~std::uint64_t{0}));
    space_.fill(found.data(), found.size(), false);
    const double seconds =
        space_.time([&] { table_->find(space_, keys.span(), values.span(), found.span()); });
    if (!settings_.verify) return seconds;
    auto these_found = found.to_host();
    auto these_values = values.to_host();
    if (!known.there || these_found != known.found || these_values != known.values) {
      const std::uint64_t wrong = wrong_lookups(work_, queries, these_found, these_values);
      known = {std::move(these_found), std::move(these_values), wrong, true};
    }
    r.wrong += known.wrong;
    return seconds;
  }

  void check_counts(row& r, const memory<key_type>& keys, query_view queries) {
    if (!settings_.verify) return;
    memory<std::uint32_t> counts(space_, queries.size());
    table_->count(space_, keys.span(), counts.span());
    r.wrong += wrong_counts(queries, counts.to_host(), table_->keeps_duplicates());
    memory<bool> contained(space_, queries.size());
    table_->contains(space_, keys.span(), contained.span());
    r.wrong += wrong_lookups(work_, queries, contained.to_host(), std::vector<value_type>());
  }

  void check_contents(row& r) { check_contents(r, contents::items, stored_items()); }
  void check_contents(row& r, contents what, std::uint64_t stored) {
    if (table_->size() != stored) ++r.wrong;
    if (!settings_.verify) return;
    memory<key_type> keys(space_, table_->size());
    memory<value_type> values(space_, is_set ? 0 : table_->size());
    if (table_->retrieve_all(space_, keys.span(), values.span()) != table_->size()) ++r.wrong;
    r.wrong += wrong_contents(work_, keys.to_host(), values.to_host(), table_->keeps_duplicates(), what);
  }

  Space& space_;
  const workload& work_;
  const run_settings& settings_;
  const announce& tell_;
  row blank_;
  table_maker<Key, Value, Space> make_;
  std::unique_ptr<table_type> table_;
  std::vector<row> rows_;
};

// As TILEHASH_CLI_PAIRS names it.
template <class Key, class Value>
std::string name_of_pair() {
  const std::string key = sizeof(Key) == 4 ? "u32" : "u64";
  if constexpr (std::is_void_v<Value>)
    return key + "/void";
  else
    return key + (sizeof(Value) == 4 ? "/u32" : "/u64");
}

// The run of any pair of types in a space, which open() makes of the settings.
template <class Space, class Open>
run_function run_in(const std::string& space_name, const table_makers<Space>& tables,
                    const std::string& design, Open open) {
  return [=](const workload& work, const run_settings& settings, const announce& tell) {
    auto space = open(settings);
    row blank;
    blank.design = design;
    blank.space = space_name;
    const auto run_as = [&]<class Key, class Value>() -> run_result {
      if constexpr (!is_offered<Key, Value>)
        throw input_error("this program was built without tables of these keys and values; build it with " +
                          name_of_pair<Key, Value>() +
                          " in TILEHASH_CLI_PAIRS, or ask for others (--key-bits, --value-bits)");
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
