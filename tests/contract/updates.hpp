// SPDX-License-Identifier: Apache-2.0
// insert_or_assign and insert_or_apply: a present key gets another value, and every item counts once.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct updates : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::keys;
  static constexpr const char* name = "updates";
  static constexpr abilities needs = {.inserts = true, .maps = true};

  // n items of about `distinct` keys, special keys included.
  static keys repeated(random_numbers& random, u64 n, u64 distinct) {
    keys universe = updates::distinct_keys(random, distinct), k;
    const auto special = special_keys<Key>();
    universe.insert(universe.end(), special.begin(), special.end());
    for (u64 i = 0; i < n; ++i) k.push_back(universe[random.below(universe.size())]);
    return k;
  }
  static void change(model<Key, Value>& expected, subject<Key, Value>& table, random_numbers& random,
                     const keys& k, bool applies, bool may_refuse = false) {
    const auto v = updates::values_for(random, k);
    if (applies)
      expected.insert_or_apply(table, k, v, may_refuse);
    else
      expected.insert_or_assign(table, k, v, may_refuse);
  }

  static void of_keys_that_come_often(const maker& make) {
    auto random = numbers_of_this_test();
    const u64 n = make.at_most(scaled(4'000, 500));
    for (u64 distinct : {u64(1), u64(30), n / 3, n}) {
      for (bool applies : {false, true}) {
        SCOPED_TRACE(distinct);
        const auto table = make(applies ? distinct : 0);
        model<Key, Value> expected(make.can);
        for (int round = 0; round < 2; ++round)
          change(expected, *table, random, repeated(random, n, distinct), applies);
        expected.verify(*table, others(random, expected.all_keys(), 100));
      }
    }
  }

  // One call displaces keys and changes their values.
  static void in_a_crowded_table(const maker& make) {
    auto random = numbers_of_this_test();
    for (bool applies : {false, true}) {
      const u64 distinct = make.at_most(scaled(500, 200));
      const auto table = make(distinct, {.load_factor = 0.98, .grow = false});
      model<Key, Value> expected(make.can);
      for (int round = 0; round < 3; ++round)
        change(expected, *table, random, repeated(random, 2 * distinct, distinct), applies, true);
      expected.verify(*table, expected.all_keys());
    }
  }

  // Contiguous copies of some new keys: the capacity suffices for the keys, but not for as many items.
  static void of_new_keys_in_a_nearly_full_table(const maker& make) {
    auto random = numbers_of_this_test();
    const u64 fresh = 20, copies = 40;
    const auto all = updates::distinct_keys(random, make.at_most(2'000));
    const auto new_ones = all.end() - static_cast<std::ptrdiff_t>(fresh);
    const keys held(all.begin(), new_ones);
    keys k;
    for (auto key = new_ones; key != all.end(); ++key) k.insert(k.end(), copies, *key);
    for (const bool applies : {false, true}) {
      const auto table = make(all.size(), {.load_factor = 0.9});
      const u64 capacity = table->capacity();
      model<Key, Value> expected(make.can);
      expected.insert(*table, held, updates::values_for(random, held));
      change(expected, *table, random, k, applies);
      EXPECT_EQ(table->capacity(), capacity);
      expected.verify(*table, all);
    }
  }

  static void between_other_calls(const maker& make) {
    auto random = numbers_of_this_test();
    const auto table = make();
    model<Key, Value> expected(make.can);
    const u64 n = make.at_most(scaled(1'000, 200));
    for (int round = 0; round < 12; ++round) {
      const auto k = repeated(random, 1 + random.below(n), n / 2);
      switch (random.below(make.can.erases ? 4 : 3)) {
        case 0:
          expected.insert(*table, k, updates::values_for(random, k));
          break;
        case 1:
          change(expected, *table, random, k, false);
          break;
        case 2:
          change(expected, *table, random, k, true);
          break;
        default:
          expected.erase(*table, k);
      }
      expected.verify(*table, k);
    }
  }

  static constexpr test tests[] = {
      {"of_keys_that_come_often", of_keys_that_come_often},
      {"in_a_crowded_table", in_a_crowded_table},
      {"of_new_keys_in_a_nearly_full_table", of_new_keys_in_a_nearly_full_table},
      {"between_other_calls", between_other_calls},
  };
};

}  // namespace tilehash::contract
