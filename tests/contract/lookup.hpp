// SPDX-License-Identifier: Apache-2.0
// Tests that a lookup finds every key with its value, and no other.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct lookup : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::keys;
  static constexpr const char* name = "lookup";
  static constexpr abilities needs = {};

  static void in_every_family(const maker& make) {
    auto random = numbers_of_this_test();
    for (const auto& [title, k] : families<Key>(random, make.at_most(scaled(4'500, 750)))) {
      SCOPED_TRACE(title);
      const auto table = make();
      model<Key, Value> expected(make.can);
      expected.build(*table, k, lookup::values_for(random, k));
      expected.verify(*table, others(random, k, k.size() / 4));
    }
  }

  static void at_every_load(const maker& make) {
    auto random = numbers_of_this_test();
    for (double load : {0.05, 0.5, 0.8, 0.95, 0.98}) {
      SCOPED_TRACE(load);
      const u64 few = load > 0.05 && load < 0.98 ? 1'000 : 4'500;
      const auto k = lookup::distinct_keys(random, make.at_most(scaled(6'000, few)));
      const auto table = make(0, {.load_factor = load});
      model<Key, Value> expected(make.can);
      expected.build(*table, k, lookup::values_for(random, k));
      expected.verify(*table, others(random, k, k.size() / 4));
    }
  }

  static void in_an_empty_table(const maker& make) {
    auto random = numbers_of_this_test();
    const model<Key, Value> nothing(make.can);
    for (u64 capacity : {0, 1, 100}) nothing.verify(*make(capacity), others<Key>(random, {}, 100));
  }

  static void in_a_table_that_was_moved_from(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = lookup::distinct_keys(random, 100);
    const auto table = make();
    EXPECT_EQ(table->seen_when_moved_from(k), 0U) << "of a table that was never filled";
    model<Key, Value> expected(make.can);
    expected.build(*table, k, lookup::values_for(random, k));
    EXPECT_EQ(table->seen_when_moved_from(k), 0U);
    expected.verify_answers(*table, k);
  }

  static void of_one_key_many_times(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = lookup::distinct_keys(random, 100);
    const auto table = make();
    model<Key, Value> expected(make.can);
    expected.build(*table, k, lookup::values_for(random, k));
    expected.verify_answers(*table, keys(make.at_most(5'000), k[0]));
    expected.verify_answers(*table, keys(make.at_most(5'000), lookup::distinct_keys(random, 1)[0]));
  }

  static void find_or_gives_what_was_asked_for(const maker& make) {
    auto random = numbers_of_this_test();
    auto k = lookup::distinct_keys(random, 64);
    const auto table = make();
    const auto v = lookup::values_for(random, k);
    const auto first_values = v.begin() + static_cast<std::ptrdiff_t>(std::min<u64>(32, v.size()));
    ASSERT_EQ(table->build(lookup::part(k, 0, 32), {v.begin(), first_values}).refused, 0U);
    const auto missing = any_value<value_of<Value>>(random);
    const auto got = table->find_or(k, missing);
    for (u64 i = 0; i < k.size(); ++i) ASSERT_TRUE(same_bytes(got[i], i < 32 ? v[i] : missing)) << i;
  }

  static void reads_few_buckets(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = lookup::distinct_keys(random, make.at_most(scaled(20'000, 5'000)));
    const auto table = make();
    ASSERT_EQ(table->build(k, lookup::values_for(random, k)).refused, 0U);
    u64 sum = 0;
    for (u32 probes : table->probe_counts(k)) {
      ASSERT_GE(probes, 1U);
      sum += probes;
    }
    ASSERT_LE(static_cast<double>(sum), make.can.most_read * static_cast<double>(k.size()))
        << "READS in tests/designs.cmake says how many buckets a lookup reads";
  }

  static constexpr test tests[] = {
      {"in_every_family", in_every_family},
      {"at_every_load", at_every_load},
      {"in_an_empty_table", in_an_empty_table},
      {"in_a_table_that_was_moved_from", in_a_table_that_was_moved_from},
      {"of_one_key_many_times", of_one_key_many_times},
      {"find_or_gives_what_was_asked_for", find_or_gives_what_was_asked_for},
      {"reads_few_buckets", reads_few_buckets, {.hashes = true}},
  };
};

}  // namespace tilehash::contract
