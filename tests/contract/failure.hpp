// SPDX-License-Identifier: Apache-2.0
// A call that gets no memory, at any of its allocations. It throws and the table is unchanged, or it reports
// and names the items that it refused. Either way the table answers as the model does, bytes() accounts for
// all memory that is kept, and the next call works. (New memory is full of rubbish, so an outcome that is not
// written is invalid.)
#pragma once

#include <contract/question.hpp>
#include <tilehash/core/error.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct failure : question<Key, Value> {
  using typename question<Key, Value>::keys;
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::values;
  using subject_type = subject<Key, Value>;
  static constexpr const char* name = "failure";
  static constexpr abilities needs = {};
  static constexpr u64 all = ~u64(0);

  // A table, and the conditions of a call on it.
  struct setting {
    u64 capacity = 0;   // reserved items
    bool grows = true;  // else its capacity is for three quarters of the call's items
    u64 held = scaled(200, 60), come = scaled(400, 150);
    u64 step = 1, most = 200;  // allocations
    bool may_throw = true;     // else it takes no memory, or has a way without
  };

  // call(table, expected, keys, values) on a table with some items, with memory for 0, 1, 2, ... allocations,
  // until it needs no more. `call` may throw out_of_memory. Some keys are present, and some occur twice.
  template <class Call>
  static void with_less_and_less(const maker& make, Call call, const setting& set = {}) {
    auto random = numbers_of_this_test();
    const auto old = failure::distinct_keys(random, make.at_most(set.held));
    auto more = failure::distinct_keys(random, make.at_most(set.come));
    for (const Key& key : special_keys<Key>()) more.push_back(key);
    const keys again = failure::part(more, 0, 30);
    more.insert(more.end(), again.begin(), again.end());
    for (u64 i = 0; i < old.size(); i += 7) more.push_back(old[i]);
    const bool many = set.come > 1'000;
    const keys& next = many ? old : more;
    const auto values = failure::values_for(random, more), next_values = failure::values_for(random, next);
    const auto old_values = failure::values_for(random, old);
    for (u64 allocations = 0; allocations < set.most; allocations += set.step) {
      SCOPED_TRACE(std::to_string(allocations) + " allocations");
      // (A full table takes long to refuse items.)
      const u64 made_for = set.grows ? 0 : old.size() + (many ? more.size() : 3 * more.size() / 4);
      const auto table = make(made_for, {.grow = set.grows});
      model<Key, Value> expected(make.can);
      if (set.grows)
        expected.build(*table, old, old_values);
      else
        expected.insert(*table, old, old_values);
      table->reserve(set.capacity);
      const u64 capacity = table->capacity();
      table->refuse_memory_after(allocations);
      bool threw = false;
      model<Key, Value> after = expected;
      try {
        call(*table, after, more, values);
      } catch (const out_of_memory&) {
        threw = true;
      }
      const bool met = table->memory_was_refused();
      table->refuse_memory_after(all);
      ASSERT_EQ(table->bytes_allocated(), table->bytes()) << "memory is kept, or given back twice";
      if (threw) {
        ASSERT_TRUE(met);
        ASSERT_TRUE(set.may_throw) << "no want of memory is a reason to throw";
        ASSERT_EQ(table->capacity(), capacity) << "a call that throws leaves the table as it was";
        after = expected;
      }
      keys asked = more;
      asked.insert(asked.end(), old.begin(), old.end());
      if (many)
        after.verify_size(*table, asked);
      else
        after.verify(*table, more);
      if (make.can.inserts || make.can.adds) {  // the next call works
        after.insert(*table, next, next_values, !set.grows);
        after.verify_size(*table, asked);
      }
      if (!met) return;
    }
    if (!many) FAIL() << "the call never had memory enough";
  }

  static void of_a_build(const maker& make) {
    with_less_and_less(make, [](auto& table, auto& expected, const auto& k, const auto& v) {
      const auto report = table.build(k, v);
      table.refuse_memory_after(all);  // the model looks up the stored values
      expected.judge_build(table, k, v, report);
    });
  }
  static void of_an_insert(const maker& make) {
    if (!make.can.inserts && !make.can.adds) GTEST_SKIP() << "tables of this design are only built";
    for (const bool few : {false, true}) {  // (a few may find free slots where many do not)
      const auto insert = [few](auto& table, auto& expected, const auto& k, const auto& v) {
        const u64 n = few ? 3 : k.size();
        expected.insert(table, failure::part(k, 0, n),
                        values(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n)), true);
      };
      with_less_and_less(make, insert);
      if (make.can.inserts) with_less_and_less(make, insert, {.grows = false});
    }
  }
  // Its pending bits need memory, and there is none.
  static void of_a_large_insert(const maker& make) {
    if (make.small) GTEST_SKIP() << "asked of the first pair of types";
    constexpr u64 large = 17'000;
    for (const bool grows : {false, true}) {
      if (!is_asked(grows ? 1 : 0, 2)) continue;
      const setting set{.capacity = grows ? 3 * large / 2 : 0,
                        .grows = grows,
                        .held = 5'000,
                        .come = large,
                        .step = grows ? 4U : 1U,
                        .most = 8};
      with_less_and_less(
          make,
          [](auto& table, auto& expected, const auto& k, const auto& v) {
            expected.insert(table, k, v, true);
          },
          set);
      if (!make.can.maps) continue;
      with_less_and_less(
          make,
          [](auto& table, auto& expected, const auto& k, const auto& v) {
            expected.insert_or_apply(table, k, v, true);
          },
          set);
    }
  }
  static void of_an_update(const maker& make) {
    for (const bool applies : {false, true}) {
      const auto update = [applies](auto& table, auto& expected, const auto& k, const auto& v) {
        if (applies)
          expected.insert_or_apply(table, k, v, true);
        else
          expected.insert_or_assign(table, k, v, true);
      };
      with_less_and_less(make, update);
      with_less_and_less(make, update, {.grows = false});
    }
  }
  static void of_a_lookup(const maker& make) {
    with_less_and_less(make,
                       [](auto& table, auto&, const auto& k, const auto&) {
                         table.find(k);
                         table.contains(k);
                         table.count(k);
                         table.probe_counts(k);
                       },
                       {.may_throw = false});
  }
  static void of_a_for_each(const maker& make) {
    with_less_and_less(make, [](auto& table, auto&, const auto&, const auto&) { table.for_each(); },
                       {.may_throw = make.can.adds});
  }
  static void of_a_reserve(const maker& make) {
    with_less_and_less(make,
                       [](auto& table, auto&, const auto& k, const auto&) { table.reserve(2 * k.size()); });
  }
  static void of_a_rehash(const maker& make) {
    with_less_and_less(make, [](auto& table, auto&, const auto&, const auto&) { table.rehash(0); });
  }
  static void of_a_shrink(const maker& make) {
    const auto shrink = [](auto& table, auto&, const auto&, const auto&) { table.shrink_to_fit(); };
    with_less_and_less(make, shrink, {.capacity = 2'000});
  }
  static void of_an_erase(const maker& make) {
    with_less_and_less(make, [](auto& table, auto& expected, const auto&, const auto&) {
      expected.erase(table, failure::part(expected.all_keys(), 0, expected.size() / 2));
    });
  }
  static void of_a_clear(const maker& make) {
    with_less_and_less(make,
                       [](auto& table, auto& expected, const auto&, const auto&) { expected.clear(table); },
                       {.may_throw = !make.can.inserts});
  }
  static void of_a_retrieval(const maker& make) {
    with_less_and_less(make, [](auto& table, auto&, const auto&, const auto&) { table.retrieve_all(); });
  }

  static constexpr test tests[] = {
      {"of_a_build", of_a_build},
      {"of_an_insert", of_an_insert},
      {"of_a_reserve", of_a_reserve, {.reserves = true}},
      {"of_an_update", of_an_update, {.inserts = true, .maps = true}},
      {"of_a_lookup", of_a_lookup},
      {"of_a_for_each", of_a_for_each},
      {"of_a_rehash", of_a_rehash, {.reserves = true}},
      {"of_a_shrink", of_a_shrink, {.reserves = true}},
      {"of_an_erase", of_an_erase, {.erases = true}},
      {"of_a_clear", of_a_clear},
      {"of_a_retrieval", of_a_retrieval},
      {"of_a_large_insert", of_a_large_insert, {.inserts = true}},
  };
};

}  // namespace tilehash::contract
