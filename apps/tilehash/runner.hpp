// Runs one design in one space: builds, inserts, looks up, erases, times each, and checks every answer.
#pragma once

#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataset.hpp"
#include "offered_pairs.hpp"
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
  }

  std::vector<row> run() {
    const batch all = upload_items([](std::size_t) { return true; });
    measure_build(all);
    if (table_->inserts()) measure_insert(all);
    measure_find("find_hit", work_.hit, settings_.probes);
    measure_find("find_miss", work_.miss, settings_.probes);
    measure_find("find_mix", work_.mix, false);
    if (table_->inserts() && table_->erases()) measure_erase(all);
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

  std::unique_ptr<table_type> made_for(std::uint64_t items) const {
    return make_(space_, items, {.load_factor = settings_.load_factor, .seed = settings_.seed});
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

  insert_report build(const batch& items) {
    return table_->build(space_, items.keys.span(), items.values.span());
  }
  insert_report insert(const batch& items) {
    return table_->insert(space_, items.keys.span(), items.values.span());
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
    r.load_factor = table_->load_factor();
    r.bytes = table_->bytes();
    if (table_->size() > 0)
      r.bytes_per_pair = static_cast<double>(r.bytes) / static_cast<double>(table_->size());
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

  // A build makes room for all items; inserts get a table made for those it will hold.
  void measure_insert(const batch& items) {
    row r = start("insert", work_.data.size());
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
    row r = start(op, queries.size());
    const memory<key_type> keys = upload<key_type>(queries.keys);
    repeat(r, [&] { return check_lookups(r, keys, queries); });
    check_counts(r, keys, queries);
    if (probes) {
      memory<std::uint32_t> counts(space_, queries.size());
      table_->probe_counts(space_, keys.span(), counts.span());
      r.probes = summarise_probes(counts.to_host());
    }
    finish(std::move(r));
  }

  void measure_erase(const batch& all) {
    const batch some = upload_items([&](std::size_t item) { return work_.is_erased(item); });
    row r = start("erase", some.keys.size());
    const std::uint64_t kept = expected_size(work_.items_after_erase, table_->keeps_duplicates());
    repeat(r, [&] {
      std::uint64_t erased = 0;
      const double seconds = space_.time([&] { erased = table_->erase(space_, some.keys.span()); });
      if (erased != stored_items() - kept || table_->size() != kept) ++r.wrong;
      check_lookups(r, all.keys, work_.items_after_erase);
      check_report(r, insert(some), r.items, stored_items() - kept);  // slots that were freed are used again
      check_lookups(r, all.keys, work_.items);
      return seconds;
    });
    check_contents(r);
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

  double check_lookups(row& r, const memory<key_type>& keys, const query_set& queries) {
    memory<value_type> values(space_, is_set ? 0 : queries.size());
    memory<bool> found(space_, queries.size());
    // Wrong answers to begin with, so that none can be left out; and memory that is there before the clock
    // runs.
    space_.fill(values.data(), values.size(), static_cast<value_type>(~std::uint64_t{0}));
    space_.fill(found.data(), found.size(), false);
    const double seconds =
        space_.time([&] { table_->find(space_, keys.span(), values.span(), found.span()); });
    r.wrong += wrong_lookups(work_, queries, download(found), download(values));
    return seconds;
  }

  void check_counts(row& r, const memory<key_type>& keys, const query_set& queries) {
    memory<std::uint32_t> counts(space_, queries.size());
    table_->count(space_, keys.span(), counts.span());
    r.wrong += wrong_counts(queries, download(counts), table_->keeps_duplicates());
    memory<bool> contained(space_, queries.size());
    table_->contains(space_, keys.span(), contained.span());
    r.wrong += wrong_lookups(work_, queries, download(contained), {});
  }

  void check_contents(row& r) {
    if (table_->size() != stored_items()) ++r.wrong;
    memory<key_type> keys(space_, table_->size());
    memory<value_type> values(space_, is_set ? 0 : table_->size());
    if (table_->retrieve_all(space_, keys.span(), values.span()) != table_->size()) ++r.wrong;
    r.wrong += wrong_contents(work_, download(keys), download(values), table_->keeps_duplicates());
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

// The run of any pair of types in a space, which open() makes of the settings.
template <class Space, class Open>
run_function run_in(const std::string& space_name, const table_makers<Space>& tables,
                    const std::string& design, Open open) {
  return [=](const workload& work, const run_settings& settings, const announce& tell) {
    auto space = open(settings);
    row blank;
    blank.design = design;
    blank.space = space_name;
    const auto run_as = [&]<class Key, class Value>() -> std::vector<row> {
      if constexpr (!is_offered<Key, Value>)
        throw input_error(
            "this program was built without tables of such keys and values (TILEHASH_CLI_PAIRS)");
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
    return run_result{.machine = space.name(),
                      .rows = work.data.key_bits == 32 ? run_with_keys.template operator()<u32>()
                                                       : run_with_keys.template operator()<u64>()};
  };
}

}  // namespace tilehash::app
