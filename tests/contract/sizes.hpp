// SPDX-License-Identifier: Apache-2.0
// Inputs of any size: none, one, near every tile width and batch size, odd and large.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct sizes : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  static constexpr const char* name = "sizes";
  static constexpr abilities needs = {};
  static constexpr u64 edges[] = {0,   1,   2,    3,    4,    5,    7,    8,    9,    15,   16,   17,
                                  31,  32,  33,   63,   64,   65,   127,  128,  129,  255,  256,  257,
                                  511, 513, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8193, 12'289};

  static void of_builds(const maker& make) {
    auto random = numbers_of_this_test();
    const auto table = make();  // one table: a build replaces its contents
    model<Key, Value> expected(make.can);
    for (u64 n : edges) {
      if (n > make.at_most(scaled(n, 5'000))) break;
      SCOPED_TRACE(n);
      const auto k = sizes::random_keys(random, n);
      expected.build(*table, k, sizes::values_for(random, k));
      expected.verify(*table, others(random, k, 20));
    }
  }

  static void of_inserts_and_erases(const maker& make) {
    auto random = numbers_of_this_test();
    for (u64 n : edges) {
      if (n > make.at_most(scaled(n, 300))) break;
      SCOPED_TRACE(n);
      const auto table = make(n);
      const auto k = sizes::random_keys(random, n);
      model<Key, Value> expected(make.can);
      expected.insert(*table, k, sizes::values_for(random, k));
      expected.verify(*table, others(random, k, 20));
      if (!make.can.erases) continue;
      expected.erase(*table, sizes::part(k, n / 3, n));
      expected.verify(*table, k);
    }
  }

  // Enough for all threads and for designs that build large tables in another way; some keys repeat.
  static void large(const maker& make) {
    auto random = numbers_of_this_test();
    const auto table = make(0, {.load_factor = 0.9});
    model<Key, Value> expected(make.can);
    const u64 n = std::min(make.largest, scaled(40'000, 33'000));
    auto k = sizes::random_keys(random, n);
    for (u64 i = 0; i < n / 10; ++i) k[random.below(n)] = k[i];
    expected.build(*table, k, sizes::values_for(random, k));
    expected.verify(*table, others(random, k, 1'000));
  }

  // Tables of very few slots, filled to the last one. (A refused key costs a long search.)
  static void of_tables(const maker& make) {
    auto random = numbers_of_this_test();
    for (u64 capacity = 0; capacity <= 40; capacity += capacity < 10 ? 1 : scaled(3, 10)) {
      SCOPED_TRACE(capacity);
      const auto table = make(capacity, {.load_factor = 0.98, .grow = false});
      const u64 n = std::min(3 * capacity + 40, table->capacity() + scaled(2 * capacity + 40, 8));
      const auto k = sizes::distinct_keys(random, n);
      model<Key, Value> expected(make.can);
      expected.insert(*table, k, sizes::values_for(random, k), true);
      ASSERT_GE(table->size(), std::min(table->capacity(), u64(1)));
      ASSERT_LE(table->size(), table->capacity() + 2);  // sentinel cells may hold two more
      expected.verify(*table, k);
    }
  }

  static constexpr test tests[] = {
      {"of_builds", of_builds},
      {"of_inserts_and_erases", of_inserts_and_erases, {.inserts = true}},
      {"of_tables", of_tables, {.inserts = true}},
      {"large", large},
  };
};

}  // namespace tilehash::contract
