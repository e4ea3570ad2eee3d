// SPDX-License-Identifier: Apache-2.0
// Every item that does not fit is refused by name, and the table still gives all right answers.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct reports : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  static constexpr const char* name = "reports";
  static constexpr abilities needs = {.inserts = true};

  // Twice as many items as slots; then again, with a full table.
  static void of_a_full_table(const maker& make) {
    auto random = numbers_of_this_test();
    for (double load : {0.5, 0.98}) {
      SCOPED_TRACE(load);
      const u64 items = sizeof(Key) == 1 ? 60 : make.at_most(scaled(600, 150));
      const auto table = make(items, {.load_factor = load, .grow = false});
      const u64 capacity = table->capacity();
      auto k = reports::distinct_keys(random, capacity + capacity / 4);
      for (const Key& key : special_keys<Key>()) k.push_back(key);
      model<Key, Value> expected(make.can);
      const auto report = expected.insert(*table, k, reports::values_for(random, k), true);
      if (k.size() > capacity + capacity / 4) {
        ASSERT_GT(report.refused, 0U);
      }
      // A design whose inserts move keys may take another hash function, when a moved key finds no slot.
      ASSERT_LE(report.restarts, 4U);
      ASSERT_EQ(table->capacity(), capacity);
      expected.verify(*table, k);
      expected.insert(*table, k, reports::values_for(random, k), true);
      expected.verify(*table, k);
    }
  }

  // A table that refused items may still grow later.
  static void and_frees_slots(const maker& make) {
    auto random = numbers_of_this_test();
    const auto table = make(100, {.load_factor = 0.98, .grow = false});
    const auto k = reports::distinct_keys(random, scaled(300, 150));
    model<Key, Value> expected(make.can);
    expected.insert(*table, k, reports::values_for(random, k), true);
    table->reserve(2 * k.size());
    const auto second = expected.insert(*table, k, reports::values_for(random, k), true);
    ASSERT_EQ(second.refused, 0U);
    expected.verify(*table, k);
  }

  // Filled to its planned load: very few items may be refused where the table may not grow.
  static void at_the_load_asked_for(const maker& make) {
    auto random = numbers_of_this_test();
    for (double load : {0.8, 0.95}) {
      SCOPED_TRACE(load);
      const auto k = reports::distinct_keys(random, make.at_most(scaled(12'000, 5'000)));
      const auto table = make(k.size(), {.load_factor = load, .grow = false});
      model<Key, Value> expected(make.can);
      const auto report = expected.insert(*table, k, reports::values_for(random, k), true);
      ASSERT_LE(report.refused, k.size() / 20);
      expected.verify(*table, k);
    }
  }

  // Many small tables, each filled up through displacements: no item may be lost.
  static void of_many_small_builds(const maker& make) {
    auto random = numbers_of_this_test();
    for (double load : {0.95, 0.98}) {
      const auto table = make(0, {.load_factor = load});
      const u64 builds = make.at_most(scaled(1'000, 50));
      for (u64 i = 0; i < builds; ++i) {
        const auto k = reports::distinct_keys(random, random.between(1, 300));
        const auto v = reports::values_for(random, k);
        const auto report = table->build(k, v);
        ASSERT_EQ(report.inserted, k.size());
        ASSERT_EQ(table->size(), k.size());
        const auto found = table->find(k);
        for (u64 j = 0; j < k.size(); ++j)
          ASSERT_TRUE(found[j] && same_bytes(*found[j], v[j])) << "lost in build " << i;
      }
    }
  }

  static constexpr test tests[] = {
      {"of_a_full_table", of_a_full_table},
      {"and_frees_slots", and_frees_slots, {.erases = true}},
      {"at_the_load_asked_for", at_the_load_asked_for},
      {"of_many_small_builds", of_many_small_builds},
  };
};

}  // namespace tilehash::contract
