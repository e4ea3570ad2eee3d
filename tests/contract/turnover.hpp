// SPDX-License-Identifier: Apache-2.0
// Tests that a table of constant size stays fast while its items are replaced: a tenth of them in each of many
// rounds. Lookups then read at most 1.5 times what they read in the first round, or in a new table with the
// same items: in a small table the average depends on the keys, whatever their history.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct turnover : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::model;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::keys;
  static constexpr const char* name = "turnover";
  static constexpr abilities needs = {.erases = true, .hashes = true};
  static constexpr double most_growth = 1.5;

  struct reads {
    double present = 0, absent = 0;  // buckets, slots or steps a lookup
    reads& operator+=(const reads& other) {
      present += other.present, absent += other.absent;
      return *this;
    }
  };
  static double average(subject<Key, Value>& table, const keys& k) {
    u64 sum = 0;
    for (const u32 probes : table.probe_counts(k)) sum += probes;
    return static_cast<double>(sum) / static_cast<double>(k.size());
  }
  // The reads of lookups of keys, the first n of which are present.
  static reads reads_of(subject<Key, Value>& table, const keys& all, u64 n) {
    return {average(table, turnover::part(all, 0, n)), average(table, turnover::part(all, n, all.size()))};
  }
  static void expect_no_more(double then, double first, double fresh, const char* of) {
    EXPECT_LE(then, most_growth * std::max(first, fresh))
        << "a lookup of " << of << " keys; at first " << first << ", in a new table " << fresh;
  }

  static void at_load(const maker& make, double load) {
    SCOPED_TRACE(load);
    auto random = numbers_of_this_test();
    const u64 rounds = scaled(1'000, 100), judged_rounds = 10;
    keys all = turnover::distinct_keys(random, make.at_most(scaled(2'000, 1'000)));
    const u64 n = all.size() / 2, some = n / 10;
    const table_options options{.load_factor = load, .seed = random(), .grow = make.can.adds};
    const auto table = make(n, options);
    model expected(make.can);
    const auto insert = [&](auto& into, model& its_model, const keys& k) {
      its_model.insert(into, k, turnover::values_for(random, k), true);
    };
    insert(*table, expected, turnover::part(all, 0, n));
    const reads first = reads_of(*table, all, n);
    reads then, fresh;
    for (u64 round = 1; round <= rounds; ++round) {
      for (u64 i = 0; i < some;
           ++i) {  // the present keys that go come first, the absent ones that come behind
        std::swap(all[i], all[random.between(i, n - 1)]);
        std::swap(all[n + i], all[random.between(n + i, all.size() - 1)]);
      }
      expected.erase(*table, turnover::part(all, 0, some));
      insert(*table, expected, turnover::part(all, n, n + some));
      for (u64 i = 0; i < some; ++i) std::swap(all[i], all[n + i]);
      if (round + judged_rounds <= rounds && round % (rounds / 4) != 0) continue;
      expected.verify(*table, all);
      if (round + judged_rounds <= rounds) continue;
      then += reads_of(*table, all, n);
      const auto other = make(n, options);
      model its_model(make.can);
      insert(*other, its_model, turnover::part(all, 0, n));
      fresh += reads_of(*other, all, n);
    }
    expect_no_more(then.present / judged_rounds, first.present, fresh.present / judged_rounds, "present");
    expect_no_more(then.absent / judged_rounds, first.absent, fresh.absent / judged_rounds, "absent");
  }
  static void leaves_lookups_short(const maker& make) {
    for (const double load : {0.5, 0.8, 0.95}) at_load(make, std::min(load, make.can.highest_load));
  }

  static constexpr test tests[] = {
      {"leaves_lookups_short", leaves_lookups_short},
  };
};

}  // namespace tilehash::contract
