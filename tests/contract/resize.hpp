// SPDX-License-Identifier: Apache-2.0
// Tests that reserve, rehash, clear and a second build change the memory and nothing else.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct resizing : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  static constexpr const char* name = "resize";
  static constexpr abilities needs = {};

  static void reserve_never_shrinks(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = resizing::distinct_keys(random, make.at_most(2'000));
    const auto table = make();
    model<Key, Value> expected(make.can);
    expected.insert(*table, k, resizing::values_for(random, k));
    for (u64 capacity : {u64(0), u64(1), k.size(), 2 * k.size() + 50, u64(10), 3 * k.size() + 200}) {
      const u64 before = table->capacity();
      table->reserve(capacity);
      ASSERT_GE(table->capacity(), before);
      ASSERT_GE(static_cast<double>(table->capacity()) * 0.81 + 1, static_cast<double>(capacity));
      expected.verify(*table, k);
    }
  }

  static void what_was_reserved_can_be_used(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = resizing::distinct_keys(random, make.at_most(scaled(10'000, 5'000)));
    const auto table = make();
    table->reserve(k.size());
    model<Key, Value> expected(make.can);
    const u64 capacity = table->capacity();
    const auto report = expected.insert(*table, k, resizing::values_for(random, k));
    if (report.restarts == 0) {
      ASSERT_EQ(table->capacity(), capacity);
    }
    ASSERT_LE(report.restarts, 2U);
    expected.verify(*table);
  }

  static void rehash_keeps_all(const maker& make) {
    auto random = numbers_of_this_test();
    const auto table = make();
    table->rehash(0);
    model<Key, Value> expected(make.can);
    expected.verify(*table);
    const auto k = resizing::random_keys(random, make.at_most(scaled(6'000, 500)));
    expected.insert(*table, k, resizing::values_for(random, k));
    for (u64 capacity : {u64(0), u64(1), 4 * k.size(), u64(0), k.size()}) {
      table->rehash(capacity);
      expected.verify(*table, others(random, k, 50));
    }
  }

  // Frees memory and changes nothing else; a second call frees none.
  static void shrinks_to_what_it_holds(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = resizing::distinct_keys(random, make.at_most(scaled(6'000, 500)));
    const auto table = make(4 * k.size() + 5'000);
    model<Key, Value> expected(make.can);
    expected.insert(*table, k, resizing::values_for(random, k));
    u64 bytes = table->bytes();
    table->shrink_to_fit();
    ASSERT_LT(table->bytes(), bytes);
    expected.verify(*table, others(random, k, 50));
    bytes = table->bytes();
    const u64 capacity = table->capacity();
    table->shrink_to_fit();
    ASSERT_EQ(table->capacity(), capacity);
    ASSERT_EQ(table->bytes(), bytes);
    if (make.can.erases) {
      expected.erase(*table, resizing::part(k, 0, k.size() - k.size() / 8));
      table->shrink_to_fit();
      ASSERT_LE(table->bytes(), bytes);
    }
    expected.verify(*table, k);
    expected.insert(*table, k, resizing::values_for(random, k));  // and it grows again
    expected.verify(*table);
    expected.clear(*table);
    table->shrink_to_fit();
    expected.verify(*table, k);
  }

  // At any load and with any duplicates, reserve() never lowers the capacity, and shrink_to_fit() never
  // raises it or the bytes. A second shrink_to_fit() changes nothing.
  static void reserve_and_shrink_go_one_way(const maker& make) {
    auto random = numbers_of_this_test();
    const u64 most = make.at_most(scaled(2'000, 300));
    for (u32 round = 0; round < 8; ++round) {
      if (!is_asked(round / 2, 2)) continue;
      const bool grows = round % 4 != 3;
      const table_options options = {
          .load_factor = round % 2 == 0 ? 0.1 : 0.95, .grow = grows, .slack = static_cast<double>(round % 3)};
      const auto table = make(round % 3 == 0 ? most : 0, options);
      model<Key, Value> expected(make.can);
      const auto pool = resizing::random_keys(random, most);
      for (u32 step = 0; step < 6; ++step) {
        const u64 different = random.one_in(2) ? std::min<u64>(3, pool.size()) : pool.size();
        auto k = resizing::part(pool, 0, different);
        while (k.size() < random.below(most)) k.push_back(pool[random.below(different)]);
        expected.insert(*table, k, resizing::values_for(random, k), !grows);
        u64 capacity = table->capacity();
        table->reserve(random.below(2 * most));
        ASSERT_GE(table->capacity(), capacity);
        if (make.can.erases && random.one_in(2)) expected.erase(*table, resizing::part(pool, 0, most / 2));
        if (random.one_in(2)) continue;
        capacity = table->capacity();
        u64 bytes = table->bytes();
        // A rebuild may need several hash functions, so a second call can find a smaller table.
        for (u32 again = 0; again < 2; ++again) {
          table->shrink_to_fit();
          ASSERT_LE(table->capacity(), capacity);
          ASSERT_LE(table->bytes(), bytes);
          capacity = table->capacity();
          bytes = table->bytes();
        }
      }
      expected.verify(*table);
    }
  }

  static void clear_keeps_the_capacity(const maker& make) {
    auto random = numbers_of_this_test();
    const auto table = make();
    model<Key, Value> expected(make.can);
    expected.clear(*table);
    expected.verify(*table);
    for (int round = 0; round < 3; ++round) {
      const auto k = resizing::random_keys(random, make.at_most(3'000));
      expected.build(*table, k, resizing::values_for(random, k));
      const u64 capacity = table->capacity();
      expected.clear(*table);
      if (make.can.inserts) {
        ASSERT_EQ(table->capacity(), capacity);
      }
      ASSERT_TRUE(table->empty());
      expected.verify(*table, k);
    }
  }

  static void a_build_replaces(const maker& make) {
    auto random = numbers_of_this_test();
    const auto table = make(500);
    model<Key, Value> expected(make.can);
    for (u64 n : {u64(2'000), u64(10), u64(0), u64(5'000), u64(1)}) {
      const auto before = expected.all_keys(), k = resizing::random_keys(random, make.at_most(n));
      expected.build(*table, k, resizing::values_for(random, k));
      expected.verify(*table, before);
    }
  }

  // The capacity follows the given load factor.
  static void capacity_follows_the_load(const maker& make) {
    auto random = numbers_of_this_test();
    for (double load : {0.1, 0.5, 0.8, 0.98}) {
      const auto k = resizing::distinct_keys(random, make.at_most(10'000));
      const auto table = make(0, {.load_factor = load});
      if (table->build(k, resizing::values_for(random, k)).restarts != 0) continue;
      const double least = std::ceil(static_cast<double>(k.size()) / std::min(load, make.can.highest_load));
      ASSERT_GE(static_cast<double>(table->capacity()), least);
      ASSERT_LE(static_cast<double>(table->capacity()), 1.02 * least + 1'024);
    }
  }

  static constexpr test tests[] = {
      {"reserve_never_shrinks", reserve_never_shrinks, {.inserts = true}},
      {"what_was_reserved_can_be_used", what_was_reserved_can_be_used, {.inserts = true}},
      {"rehash_keeps_all", rehash_keeps_all, {.inserts = true}},
      {"shrinks_to_what_it_holds", shrinks_to_what_it_holds, {.reserves = true}},
      {"reserve_and_shrink_go_one_way", reserve_and_shrink_go_one_way, {.reserves = true}},
      {"clear_keeps_the_capacity", clear_keeps_the_capacity},
      {"a_build_replaces", a_build_replaces},
      {"capacity_follows_the_load", capacity_follows_the_load, {.hashes = true}},
  };
};

}  // namespace tilehash::contract
