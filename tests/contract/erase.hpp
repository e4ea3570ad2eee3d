// SPDX-License-Identifier: Apache-2.0
// Tests that an erased key stays absent, and that its slot is reused without storing a key twice.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct erasure : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::keys;
  static constexpr const char* name = "erase";
  static constexpr abilities needs = {.inserts = true, .erases = true};

  static void every_family(const maker& make) {
    auto random = numbers_of_this_test();
    for (const auto& [title, k] : families<Key>(random, make.at_most(scaled(3'000, 300)))) {
      SCOPED_TRACE(title);
      const auto table = make();
      model<Key, Value> expected(make.can);
      expected.build(*table, k, erasure::values_for(random, k));
      expected.erase(*table, erasure::part(k, 0, k.size() / 2));
      expected.verify(*table, k);
      expected.erase(*table, others(random, k, k.size() / 8));
      expected.verify(*table, k);
      expected.insert(*table, k, erasure::values_for(random, k));
      expected.verify(*table, k);
      expected.erase(*table, k);
      ASSERT_TRUE(table->empty());
      expected.verify(*table, k);
    }
  }

  static void of_nothing(const maker& make) {
    auto random = numbers_of_this_test();
    const auto table = make(10);
    model<Key, Value> expected(make.can);
    expected.erase(*table, others<Key>(random, {}, 100));
    expected.erase(*table, {});
    expected.verify(*table);
  }

  static void counts_a_key_once(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = erasure::distinct_keys(random, 50);
    const auto table = make();
    model<Key, Value> expected(make.can);
    expected.build(*table, k, erasure::values_for(random, k));
    keys often;
    for (u64 i = 0; i < make.at_most(10'000); ++i) often.push_back(k[random.below(10)]);
    expected.erase(*table, often);
    expected.verify(*table, k);
  }

  // A crowded table of fixed size whose slots are reused repeatedly.
  static void slots_are_used_again(const maker& make) {
    auto random = numbers_of_this_test();
    const auto table = make(300, {.load_factor = 0.9, .grow = false});
    model<Key, Value> expected(make.can);
    const auto universe = erasure::distinct_keys(random, 400);
    for (u64 round = 0; round < scaled(60, 10); ++round) {
      keys in, out;
      for (u64 i = 0; i < 80; ++i) in.push_back(universe[random.below(universe.size())]);
      expected.insert(*table, in, erasure::values_for(random, in), true);
      expected.verify(*table, universe);
      for (u64 i = 0; i < 60; ++i) out.push_back(universe[random.below(universe.size())]);
      expected.erase(*table, out);
      expected.verify(*table, universe);
    }
    // After any number of inserts and erases, half of the table's planned items still find slots.
    const keys half = erasure::part(universe, 0, 150);
    for (u64 round = 0; round < 5; ++round) {
      expected.erase(*table, universe);
      expected.insert(*table, half, erasure::values_for(random, half));
      expected.verify(*table, universe);
    }
  }

  static void a_rehash_forgets_the_erased(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = erasure::distinct_keys(random, make.at_most(scaled(6'000, 500)));
    const auto table = make();
    model<Key, Value> expected(make.can);
    expected.build(*table, k, erasure::values_for(random, k));
    expected.erase(*table, erasure::part(k, 10, k.size()));
    const u64 before = table->capacity();
    table->rehash(0);
    if (k.size() > 500) {
      ASSERT_LT(table->capacity(), before);
    }
    expected.verify(*table, k);
  }

  static constexpr test tests[] = {
      {"every_family", every_family},
      {"of_nothing", of_nothing},
      {"counts_a_key_once", counts_a_key_once},
      {"slots_are_used_again", slots_are_used_again},
      {"a_rehash_forgets_the_erased", a_rehash_forgets_the_erased},
  };
};

}  // namespace tilehash::contract
