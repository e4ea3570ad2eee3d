// SPDX-License-Identifier: Apache-2.0
// Tests that an insert adds every new key, leaves every present key unchanged, and reports each outcome.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct insertion : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  static constexpr const char* name = "insert";
  static constexpr abilities needs = {.inserts = true};

  static void every_family(const maker& make) {
    auto random = numbers_of_this_test();
    for (const auto& [title, k] : families<Key>(random, make.at_most(scaled(4'000, 500)))) {
      SCOPED_TRACE(title);
      const auto table = make(random.below(k.size()));
      model<Key, Value> expected(make.can);
      expected.insert(*table, k, insertion::values_for(random, k));
      expected.verify(*table, others(random, k, k.size() / 4));
    }
  }

  // insert(model, table, keys, values)
  template <class Insert>
  static void families_into_one_table(const maker& make, Insert insert) {
    auto random = numbers_of_this_test();
    const auto table = make();
    model<Key, Value> expected(make.can);
    for (const auto& [title, k] : families<Key>(random, make.at_most(scaled(3'000, 300)))) {
      SCOPED_TRACE(title);
      insert(expected, *table, k, insertion::values_for(random, k));
      expected.verify_answers(*table, k);
    }
    expected.verify(*table);
  }

  static void all_families_into_one_table(const maker& make) {
    families_into_one_table(make, [](auto& expected, auto& table, const auto& k, const auto& v) {
      expected.insert(table, k, v);
    });
  }

  static void a_present_key_keeps_its_value(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = insertion::random_keys(random, make.at_most(scaled(9'000, 5'000)));
    const auto table = make();
    model<Key, Value> expected(make.can);
    expected.insert(*table, k, insertion::values_for(random, k));
    const u64 size = table->size();
    const auto again = expected.insert(*table, k, insertion::values_for(random, k));
    ASSERT_EQ(again.present, k.size());
    ASSERT_EQ(table->size(), size);
    expected.verify(*table);
  }

  static void without_outcomes(const maker& make) {
    families_into_one_table(make, [](auto& expected, auto& table, const auto& k, const auto& v) {
      expected.insert_unnamed(table, k, v);
    });
  }

  static void a_few_at_a_time(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = insertion::random_keys(random, make.at_most(scaled(3'000, 300)));
    const auto table = make();
    model<Key, Value> expected(make.can);
    for (u64 done = 0; done < k.size();) {
      const auto some = insertion::part(k, done, done + random.between(1, 50));
      expected.insert(*table, some, insertion::values_for(random, some));
      done += some.size();
    }
    expected.verify(*table, others(random, k, 100));
  }

  static void over_many_growths_at_once(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = insertion::random_keys(random, make.at_most(scaled(20'000, 6'000)));
    const auto table = make(1);
    model<Key, Value> expected(make.can);
    const auto report = expected.insert(*table, k, insertion::values_for(random, k));
    if (report.inserted > 2'000) {
      ASSERT_GT(report.restarts, 0U);
    }
    expected.verify(*table);
  }

  static constexpr test tests[] = {
      {"every_family", every_family},
      {"all_families_into_one_table", all_families_into_one_table},
      {"a_present_key_keeps_its_value", a_present_key_keeps_its_value},
      {"without_outcomes", without_outcomes},
      {"a_few_at_a_time", a_few_at_a_time},
      {"over_many_growths_at_once", over_many_growths_at_once},
  };
};

}  // namespace tilehash::contract
