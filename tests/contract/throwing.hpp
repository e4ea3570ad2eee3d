// SPDX-License-Identifier: Apache-2.0
// A user's function that throws. Its exception reaches the caller, no key is lost, every value combines some
// of the items, size() is exact, and the table works afterwards.
#pragma once

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <contract/question.hpp>
#include <tilehash/core/error.hpp>

namespace tilehash::contract {

// Runs call() with a fuse for k calls of the user's function; returns whether the function threw and its
// exception arrived.
template <class Call>
bool throws_at(u64 k, const Call& call) {
  fuse = k;
  try {
    call();
    fuse = 0;
    return false;
  } catch (const fuse_burnt&) {
  } catch (const out_of_memory& e) {  // thrown by the function, not the table
    EXPECT_STREQ(e.what(), fuse_burnt::message);
  }
  fuse = 0;
  return true;
}

template <class Key, class Value>
struct throwing_ops : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::keys;
  using typename question<Key, Value>::values;
  using value = value_of<Value>;
  using subject_type = subject<Key, Value>;
  using counts = std::unordered_map<Key, u32, bytes_hash, bytes_equal>;
  static constexpr const char* name = "throwing_ops";
  static constexpr abilities needs = {.inserts = true, .maps = true, .throws = true};

  // A value's first byte counts items, which sum_of_bytes adds up.
  static value counting(u32 items) {
    value x;
    std::memset(static_cast<void*>(&x), 0, sizeof x);
    *reinterpret_cast<unsigned char*>(&x) = static_cast<unsigned char>(items);
    return x;
  }
  static u32 counted(const value& x) { return *reinterpret_cast<const unsigned char*>(&x); }

  // Some keys are present. The call has some items of those and of other keys, in any order.
  struct work {
    keys held, given, all;
    counts copies;

    work(const maker& make, random_numbers& random) {
      constexpr u32 each = 4;
      // More items than a thread takes at once, for the first pair of types.
      const u64 few = make.small ? 330 : 1'100;
      all = throwing_ops::distinct_keys(random, make.at_most(scaled(3'000, few)));
      for (const Key& key : special_keys<Key>()) {
        if (detail::is_legal(key)) all.push_back(one_representation(key));
      }
      for (const Key& key : all) copies[key] = each;
      all.clear();
      for (const auto& [key, n] : copies) all.push_back(key);
      held = throwing_ops::part(all, 0, all.size() / 2);
      for (u32 i = 0; i < each; ++i) given.insert(given.end(), all.begin(), all.end());
      for (u64 i = given.size(); i > 1; --i) std::swap(given[i - 1], given[random.below(i)]);
    }
  };

  // Counts the table's items, and checks that all verbs agree on them.
  static counts check(subject_type& table, const work& w, const counts& least, u32 more) {
    const auto found = table.find(w.all);
    counts now;
    for (u64 i = 0; i < w.all.size(); ++i) {
      const auto before = least.find(w.all[i]);
      const u32 old = before == least.end() ? 0 : before->second;
      EXPECT_TRUE(old == 0 || found[i].has_value()) << "lost: key " << model<Key, Value>::show(w.all[i]);
      if (!found[i]) continue;
      now[w.all[i]] = counted(*found[i]);
      EXPECT_GE(counted(*found[i]), std::max(old, 1U));
      EXPECT_LE(counted(*found[i]), old + more);
    }
    EXPECT_EQ(table.size(), now.size());
    EXPECT_EQ(table.retrieve_all().size(), now.size());
    EXPECT_EQ(table.for_each().size(), now.size());
    return now;
  }

  static void leave_the_table_whole(const maker& make) {
    auto random = numbers_of_this_test();
    const work w(make, random);
    u64 burnt = 0;
    for (const bool grows : {true, false}) {
      for (u64 k = 1, more = true; more; k = grows && k < 3 ? k + 1 : 10 * k) {
        SCOPED_TRACE("call " + std::to_string(k) + (grows ? ", grows" : ""));
        const auto table =
            make(grows ? 0 : 2 * w.all.size(), {.load_factor = grows ? 0.9 : 0.8, .grow = grows});
        const values ones(w.given.size(), counting(1));
        ASSERT_EQ(table->build(w.held, values(w.held.size(), counting(1))).inserted, w.held.size());
        if (!grows) table->reserve(2 * w.all.size());
        counts before;
        for (const Key& key : w.held) before[key] = 1;
        more = throws_at(k, [&] { table->insert_or_apply(w.given, ones); });
        burnt += more;
        const u32 each = w.copies.begin()->second;
        const counts then = check(*table, w, before, each);
        // Each item counts once more.
        const auto [report, outcomes] = table->insert_or_apply(w.given, ones);
        EXPECT_EQ(report.inserted, w.all.size() - then.size());
        EXPECT_EQ(report.refused, 0U);
        const counts last = check(*table, w, then, each);
        for (const Key& key : w.all) {
          const auto it = then.find(key);
          ASSERT_EQ(last.at(key), (it == then.end() ? 0 : it->second) + each) << model<Key, Value>::show(key);
        }
        if (!make.can.erases) continue;
        EXPECT_EQ(table->erase(w.all), w.all.size());
        EXPECT_EQ(table->size(), 0U);
      }
    }
    EXPECT_GE(burnt, 8U);
  }

  static constexpr test tests[] = {{"leave_the_table_whole", leave_the_table_whole}};
};

template <class Key, class Value>
struct throwing_callbacks : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  static constexpr const char* name = "throwing_callbacks";
  static constexpr abilities needs = {.throws = true};

  static void change_nothing(const maker& make) {
    auto random = numbers_of_this_test();
    const auto k = throwing_callbacks::distinct_keys(random, make.at_most(scaled(10'000, 2'000)));
    const auto table = make();
    model<Key, Value> expected(make.can);
    expected.build(*table, k, throwing_callbacks::values_for(random, k));
    for (const u64 call : {u64(1), u64(2), k.size() / 2, k.size()})
      EXPECT_TRUE(throws_at(call, [&] { table->for_each(); })) << "call " << call;
    EXPECT_FALSE(throws_at(k.size() + 1, [&] { table->for_each(); }));
    expected.verify(*table);
  }

  static constexpr test tests[] = {{"change_nothing", change_nothing}};
};

}  // namespace tilehash::contract
