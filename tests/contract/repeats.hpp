// SPDX-License-Identifier: Apache-2.0
// Verbs that insert and change values, with keys that repeat in one call: every item counts once, and a refused
// key refuses all of its items.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <contract/keys.hpp>
#include <contract/random.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

enum class repeats { one_key, two_in_turn, few, some, half_of_one, skewed, distinct };
inline constexpr repeats all_repeats[] = {repeats::one_key, repeats::two_in_turn, repeats::few,
                                          repeats::some,    repeats::half_of_one, repeats::skewed,
                                          repeats::distinct};

inline u64 repeated_number(repeats how, u64 i, random_numbers& random) {
  switch (how) {
    case repeats::one_key:
      return 5;
    case repeats::two_in_turn:
      return i % 2;
    case repeats::few:
      return random() % 10;
    case repeats::some:
      return random() % 700;
    case repeats::half_of_one:
      return random() % 2 == 0 ? 3 : i;
    case repeats::skewed:
      return static_cast<u64>(std::exp(static_cast<double>(random() % 1000) / 1000 * 8));
    case repeats::distinct:
      break;
  }
  return i;
}
// The numbers 0 and 1 are the keys with all bits clear and all bits set, and 2 is NaN where there is one.
template <class Key>
Key repeated_key(u64 number) {
  if (number == 0) return Key(0);
  if constexpr (std::floating_point<Key>) {
    return number == 2 ? std::numeric_limits<Key>::quiet_NaN() : static_cast<Key>(number);
  } else {
    if (number == 1) return static_cast<Key>(~Key(0));
    return static_cast<Key>(spread_key<std::conditional_t<sizeof(Key) == 4, u32, u64>>(number));
  }
}

template <class Key, class Value>
struct repeating_items {
  std::vector<Key> keys;
  std::vector<Value> values;
  std::map<Key, std::vector<Value>> of_key;
  u64 illegal = 0;

  repeating_items(u64 n, repeats how, random_numbers& random) {
    for (u64 i = 0; i < n; ++i) {
      const Key key = repeated_key<Key>(repeated_number(how, i, random));
      const Value value = static_cast<Value>(random() % 1000);
      keys.push_back(key);
      values.push_back(value);
      if (is_nan(key))
        ++illegal;
      else
        of_key[key].push_back(value);
    }
  }
};

// A user's op, which may be applied to stored and given values only: counts the items, and adds them.
struct count_and_add {
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return static_cast<Value>(stored + given + 4096);
  }
};

// The possible results of a verb for the values of a key; false: the value cannot be the result.
struct may_be {
  template <class Value>
  static bool result(op::sum /*op*/, const std::vector<Value>& given, Value got) {
    Value sum = given[0];
    for (u64 i = 1; i < given.size(); ++i) sum = op::sum()(sum, given[i]);
    return got == sum;
  }
  template <class Value>
  static bool result(op::maximum /*op*/, const std::vector<Value>& given, Value got) {
    return got == *std::max_element(given.begin(), given.end());
  }
  template <class Value>
  static bool result(op::minimum /*op*/, const std::vector<Value>& given, Value got) {
    return got == *std::min_element(given.begin(), given.end());
  }
  template <class Value>
  static bool result(op::assign /*op*/, const std::vector<Value>& given, Value got) {
    return std::find(given.begin(), given.end(), got) != given.end();
  }
  template <class Value>
  static bool result(count_and_add /*op*/, const std::vector<Value>& given, Value got) {
    Value sum = given[0];
    for (u64 i = 1; i < given.size(); ++i) sum = count_and_add()(sum, given[i]);
    return got == sum;
  }
};

// The table has some of the keys, with all items of each, and the report says so.
template <class Op, class Table, class Space, class Items>
void expect_repeats(Space& space, const Table& t, const Items& items, const insert_report& report) {
  using value = typename Table::mapped_type;
  const u64 n = items.keys.size();
  const buffer<typename Table::key_type, Space> keys(space, items.keys);
  const buffer<value, Space> out(space, n);
  const buffer<bool, Space> found(space, n);
  t.find(space, keys.span(), out.span(), found.span());
  const auto got = out.to_host();
  const auto is = found.to_host();
  std::map<typename Table::key_type, value> stored;
  u64 refused = items.illegal, wrong = 0;
  for (u64 i = 0; i < n; ++i) {
    if (is_nan(items.keys[i])) continue;
    refused += !is[i];
    if (is[i]) stored[items.keys[i]] = got[i];
  }
  for (const auto& [key, result] : stored) wrong += !may_be::result(Op(), items.of_key.at(key), result);
  EXPECT_EQ(wrong, 0U) << "of " << stored.size() << " keys";
  EXPECT_EQ(report.inserted, stored.size());
  EXPECT_EQ(report.refused, refused);
  EXPECT_EQ(report.present, n - stored.size() - refused);
  EXPECT_EQ(t.size(), stored.size());
}

// One table, one verb: into an empty table, at once or without waiting.
template <class Design, class Space, class Op, class Items>
void insert_repeats(Space& space, const Items& items, u64 capacity, bool grow, bool waits, bool keeps) {
  SCOPED_TRACE("made for " + std::to_string(capacity) + (grow ? ", grows" : "") + (waits ? "" : ", async") +
               (keeps ? ", insert" : ""));
  const buffer<typename Design::key_type, Space> k(space, items.keys);
  const buffer<typename Design::mapped_type, Space> v(space, items.values);
  buffer<insert_report, Space> later(space, 1);
  table<Design, Space> t(space, capacity, {.grow = grow});
  insert_report report;
  if (keeps && waits) report = t.insert(space, k.span(), v.span());
  if (keeps && !waits) t.insert_async(space, k.span(), v.span(), later.data());
  if (!keeps && waits) report = t.insert_or_apply(space, k.span(), v.span(), Op());
  if (!keeps && !waits) t.insert_or_apply_async(space, k.span(), v.span(), Op(), later.data());
  if (!waits) report = later.to_host()[0];
  if (grow) {
    EXPECT_EQ(report.refused, items.illegal);
  }
  if (keeps)
    expect_repeats<op::assign>(space, t, items, report);
  else
    expect_repeats<Op>(space, t, items, report);
}

template <class Design, class Op, class Space>
void insert_all_repeats(Space& space, u64 n, std::span<const repeats> kinds = all_repeats) {
  random_numbers random(run_seed());
  for (const repeats how : kinds) {
    SCOPED_TRACE("repeats " + std::to_string(static_cast<int>(how)) +
                 ", TILEHASH_SEED=" + std::to_string(run_seed()));
    const repeating_items<typename Design::key_type, typename Design::mapped_type> items(n, how, random);
    const u64 keys = items.of_key.size();
    const bool waits = static_cast<int>(how) % 2 != 0;
    if (is_asked(0, 2)) insert_repeats<Design, Space, Op>(space, items, keys, false, !waits, false);
    if (is_asked(1, 2)) insert_repeats<Design, Space, Op>(space, items, keys, false, true, true);
    if (n / keys > 8) insert_repeats<Design, Space, Op>(space, items, keys / 2, false, true, true);
    if (keys > 300 && is_asked(1, 2))
      insert_repeats<Design, Space, Op>(space, items, scaled(keys / 3, keys * 7 / 8), false, waits, false);
    if (how != repeats::two_in_turn && is_asked(0, 2))
      insert_repeats<Design, Space, Op>(space, items, 0, true, true, false);
  }
}

}  // namespace tilehash::contract
