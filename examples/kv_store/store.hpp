// SPDX-License-Identifier: Apache-2.0
// The store, written once for every space and every table of ids, and how fast it is.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/map.hpp>

#include "records.hpp"

namespace kv_store {

struct settings {
  count records = 1'000'000, operations = 1'000'000;  // operations of each workload
  count batch = 8'192;
  int threads = 0;                  // of the CPU; 0: all
  std::string workloads = "ABCFD";  // in YCSB's order: the one that inserts comes last
  std::string space = "all";        // or one: cpu, cuda
};

// Keys and values are stored in records; `Ids` is the table that finds a key's record.
template <class Space>
using map_design = typename tilehash::map<key, value, Space>::design_type;
template <class Ids, class Space>
using table_over = tilehash::table<typename map_design<Space>::template with_ids<Ids>, Space>;

template <class Ids, class Space>
class store {
 public:
  // With capacity for the inserts of one workload D.
  store(Space& space, const settings& s)
      : space_(space),
        settings_(s),
        table_(space, s.records + s.operations / 16),
        model_(s.records),
        asked_(space, s.batch),
        given_(space, s.batch),
        answers_(space, s.batch),
        written_(space, s.batch),
        found_(space, s.batch) {}

  // The seconds that each batch took.
  std::vector<double> load() {
    std::vector<double> seconds;
    while (records_ < settings_.records) {
      batch b;
      b.writes.resize(std::min(settings_.batch, settings_.records - records_));
      std::iota(b.writes.begin(), b.writes.end(), records_);
      records_ += b.writes.size();
      seconds.push_back(perform(b, write_kind::insert));
    }
    return seconds;
  }
  std::vector<double> run(const workload& w) {
    std::vector<double> seconds;
    requests source(w, records_);
    for (count done = 0; done < settings_.operations; done += settings_.batch) {
      const batch b = source.next(std::min(settings_.batch, settings_.operations - done), records_);
      seconds.push_back(perform(b, w.writes));
    }
    return seconds;
  }

  // How many answers were wrong so far; at last all records are read, and as many absent ones.
  count mistakes() {
    wrong_ += table_.size() != records_;
    for (count done = 0; done < 2 * records_; done += settings_.batch) {
      batch b;
      b.reads.resize(std::min(settings_.batch, 2 * records_ - done));
      std::iota(b.reads.begin(), b.reads.end(), done);
      perform(b, write_kind::none);
    }
    return wrong_;
  }

 private:
  template <class T>
  using memory = tilehash::buffer<T, Space>;

  // The seconds that the table takes, from arrays in the memory of the space to answers there. Reads come
  // before the writes of their batch: the two may not run side by side, and of requests that come together
  // any order is right.
  double perform(const batch& b, write_kind how) {
    const count reads = b.reads.size(), writes = b.writes.size();
    const auto values = new_values(b.writes);
    asked_.copy_from(keys_of(b.reads));
    given_.copy_from(keys_of(b.writes));
    written_.copy_from(values);
    space_.synchronize();

    const auto start = std::chrono::steady_clock::now();
    if (reads != 0) table_.find(space_, asked_.first(reads), answers_.first(reads), found_.first(reads));
    const auto report =
        writes != 0 ? write(given_.first(writes), written_.first(writes), how) : tilehash::insert_report{};
    const auto end = std::chrono::steady_clock::now();

    wrong_ += writes - (how == write_kind::insert ? report.inserted : report.present);
    check(b.reads);
    model_.write(b.writes, values, how);
    return std::chrono::duration<double>(end - start).count();
  }
  tilehash::insert_report write(std::span<const key> keys, std::span<const value> values, write_kind how) {
    switch (how) {
      case write_kind::insert:
        return table_.insert(space_, keys, values);
      case write_kind::read_modify_write:
        return table_.insert_or_apply(space_, keys, values, modify{});
      default:
        return table_.insert_or_assign(space_, keys, values);
    }
  }

  void check(std::span<const count> records) {
    if (records.empty()) return;
    std::vector<value> values(records.size());
    std::vector<std::uint8_t> found(records.size());
    space_.copy_to_host(values.data(), answers_.data(), records.size() * sizeof(value));
    space_.copy_to_host(found.data(), found_.data(), records.size());
    wrong_ += model_.mistakes(records, found, values);
  }

  static std::vector<key> keys_of(std::span<const count> records) {
    std::vector<key> keys(records.size());
    std::transform(records.begin(), records.end(), keys.begin(), key_of);
    return keys;
  }
  std::vector<value> new_values(std::span<const count> records) {
    std::vector<value> values;
    values.reserve(records.size());
    for (const count record : records) values.push_back(value_of(record, ++version_));
    return values;
  }

  Space& space_;
  settings settings_;
  table_over<Ids, Space> table_;
  model model_;
  memory<key> asked_, given_;
  memory<value> answers_, written_;
  memory<bool> found_;
  count records_ = 0, wrong_ = 0;
  std::uint32_t version_ = 0;
};

inline void print(const char* ids, const char* phase, count operations, std::vector<double> seconds) {
  const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  std::sort(seconds.begin(), seconds.end());
  const auto quantile = [&](double q) {
    return seconds[static_cast<std::size_t>(q * static_cast<double>(seconds.size()))];
  };
  std::printf("%-16s %-36s %9.3f M %9.3f %9.3f\n", ids, phase, 1e-6 * static_cast<double>(operations) / total,
              1e3 * quantile(0.5), 1e3 * quantile(0.99));
  std::fflush(stdout);  // the next line may take a while
}

template <class Ids, class Space>
count run_over(Space& space, const settings& s) {
  store<Ids, Space> kv(space, s);
  print(Ids::name, "load", s.records, kv.load());
  for (const char name : s.workloads) {
    const auto& w =
        *std::find_if(workloads.begin(), workloads.end(), [&](auto& x) { return x.name == name; });
    print(Ids::name, (std::string(1, name) + ": " + w.what).c_str(), s.operations, kv.run(w));
  }
  const count wrong = kv.mistakes();
  if (wrong != 0)
    std::printf("WRONG: %llu answers of %s\n", static_cast<unsigned long long>(wrong), Ids::name);
  return wrong;
}

// How many answers were wrong.
template <class Space>
count run(Space& space, const settings& s) {
  using fingerprint = typename map_design<Space>::fingerprint;
  std::printf("%s\n%-16s %-36s %11s %9s %9s\n", space.name().c_str(), "ids in", "workload", "operations/s",
              "p50 ms", "p99 ms");
  count wrong = run_over<tilehash::horton<fingerprint, std::uint32_t>>(space, s);
  wrong += run_over<tilehash::bucketed_cuckoo<fingerprint, std::uint32_t>>(space, s);
  wrong += run_over<tilehash::tiled<fingerprint, std::uint32_t>>(space, s);
  return wrong;
}

// On the GPU, where the program is built with CUDA and there is one.
count run_on_gpu(const settings& s);

}  // namespace kv_store
