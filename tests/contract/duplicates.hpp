// SPDX-License-Identifier: Apache-2.0
// Exactly one of equal keys in a call wins, any of them, unless the design keeps duplicates.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct duplicates : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::keys;
  static constexpr const char* name = "duplicates";
  static constexpr abilities needs = {};

  // n items of `distinct` keys, shuffled, or with each key's items contiguous.
  static keys repeated(random_numbers& random, u64 n, u64 distinct, bool mixed) {
    const auto k = duplicates::distinct_keys(random, distinct);
    keys result;
    for (u64 i = 0; i < n; ++i) result.push_back(k[mixed ? random.below(k.size()) : i * k.size() / n]);
    return result;
  }

  // check(random, keys, distinct, mixed), for few and many items of a key.
  template <class Check>
  static void for_each_share(const maker& make, Check check) {
    auto random = numbers_of_this_test();
    const u64 n = make.at_most(scaled(10'000, 5'000));
    for (u64 distinct : {u64(1), u64(2), u64(7), u64(100), n / 3}) {
      for (bool mixed : {false, true}) {
        SCOPED_TRACE(distinct);
        check(random, repeated(random, n, distinct, mixed), distinct, mixed);
      }
    }
  }

  static void in_a_build(const maker& make) {
    for_each_share(make, [&](random_numbers& random, const keys& k, u64 /*distinct*/, bool /*mixed*/) {
      const auto table = make();
      model<Key, Value> expected(make.can);
      expected.build(*table, k, duplicates::values_for(random, k));
      expected.verify(*table, others(random, k, 100));
    });
  }

  static void in_an_insert(const maker& make) {
    for_each_share(make, [&](random_numbers& random, const keys& k, u64 distinct, bool mixed) {
      const auto table = make(mixed ? 0 : distinct);
      model<Key, Value> expected(make.can);
      expected.insert(*table, k, duplicates::values_for(random, k));
      expected.insert(*table, k, duplicates::values_for(random, k));
      expected.verify(*table, others(random, k, 100));
    });
  }

  // Many keys must be displaced while equal keys are inserted.
  static void in_a_crowded_table(const maker& make) {
    auto random = numbers_of_this_test();
    for (int round = 0; round < 5; ++round) {
      const u64 distinct = make.at_most(scaled(6'000, 1'000));
      auto k = duplicates::distinct_keys(random, distinct);
      for (u64 i = 0; i < distinct; ++i) k.push_back(k[random.below(k.size())]);
      std::shuffle(k.begin(), k.end(), random);
      const auto table = make(distinct, {.load_factor = 0.98, .grow = false});
      model<Key, Value> expected(make.can);
      expected.insert(*table, k, duplicates::values_for(random, k), true);
      expected.verify(*table, k);
    }
  }

  // The copies of one new key whose buckets are full wait for slots together, but need only one.
  static void of_a_new_key_in_a_crowded_table(const maker& make) {
    if (make.can.keeps_duplicates) GTEST_SKIP() << "copies of a key stay";
    auto random = numbers_of_this_test();
    const u64 candidates = 30;
    const auto all = duplicates::distinct_keys(random, make.at_most(2'000) + candidates);
    const u64 n = all.size() - candidates;
    const keys held(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n) - 1);
    const auto table = make(n, {.load_factor = 0.9});
    const u64 capacity = table->capacity();
    model<Key, Value> expected(make.can);
    expected.insert(*table, held, duplicates::values_for(random, held));
    for (u64 c = n; c < all.size(); ++c) {
      const keys copies(500, all[c]);
      expected.insert(*table, copies, duplicates::values_for(random, copies));
      ASSERT_EQ(table->capacity(), capacity);
      expected.erase(*table, {all[c]});
    }
    expected.verify(*table, all);
  }

  // There are free slots for the new keys, but not for all their copies, which are contiguous.
  static void of_many_new_keys_in_a_crowded_table(const maker& make) {
    if (make.can.keeps_duplicates) GTEST_SKIP() << "copies of a key stay";
    auto random = numbers_of_this_test();
    const auto all = duplicates::distinct_keys(random, make.at_most(scaled(100'000, 4'000)));
    const auto new_ones = all.end() - 100;
    const keys held(all.begin(), new_ones);
    keys copies;
    for (auto key = new_ones; key != all.end(); ++key) copies.insert(copies.end(), 50, *key);
    const auto table = make(all.size(), {.load_factor = 0.9});
    const u64 capacity = table->capacity();
    model<Key, Value> expected(make.can);
    expected.insert(*table, held, duplicates::values_for(random, held));
    expected.insert(*table, copies, duplicates::values_for(random, copies));
    EXPECT_EQ(table->capacity(), capacity);
    expected.verify(*table, all);
  }

  static constexpr test tests[] = {
      {"in_a_build", in_a_build},
      {"in_an_insert", in_an_insert, {.inserts = true}},
      {"in_a_crowded_table", in_a_crowded_table, {.inserts = true}},
      {"of_a_new_key_in_a_crowded_table", of_a_new_key_in_a_crowded_table, {.inserts = true, .erases = true}},
      {"of_many_new_keys_in_a_crowded_table", of_many_new_keys_in_a_crowded_table, {.inserts = true}},
  };
};

}  // namespace tilehash::contract
