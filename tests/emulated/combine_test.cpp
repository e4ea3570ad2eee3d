// Items of equal keys combined block by block before they come to a table.
#include <gtest/gtest.h>

#include <numeric>
#include <unordered_set>

#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

using i64 = std::int64_t;

using average = mean_of<u32>;  // 8 bytes that no machine adds at once

template <class Value>
Value some_value(u64 x) {
  if constexpr (std::same_as<Value, average>)
    return {static_cast<u32>(x), 1};
  else
    return static_cast<Value>(std::floating_point<Value> ? x % 1024 : x);
}

template <class Key, class Value, class Op>
std::unordered_map<Key, Value> sums_of(const std::vector<Key>& keys, const std::vector<Value>& values,
                                       Op op) {
  std::unordered_map<Key, Value> sums;
  for (u64 i = 0; i < keys.size(); ++i) {
    const auto [at, is_new] = sums.try_emplace(keys[i], values[i]);
    if (!is_new) at->second = op(at->second, values[i]);
  }
  return sums;
}

// Every key that came is on the list once, with what its items give, what was left over included.
template <class Design, class Op>
void combine_items(u64 n, pattern p, u64 seed) {
  SCOPED_TRACE(std::to_string(n) + " items, seed " + std::to_string(seed));
  using slot = typename Design::slot_type;
  using key = typename Design::key_type;
  using value = typename Design::mapped_type;
  emulated space({.seed = seed, .preempt = true});
  const auto keys = make_keys<key>(n, p, seed);
  std::vector<value> values(n);
  for (u64 i = 0; i < n; ++i) values[i] = some_value<value>(mix64(seed + i));
  buffer<key, emulated> k(space, keys);
  buffer<value, emulated> v(space, values);
  const auto made = detail::combine<slot>(space, detail::array_source<slot>{k.data(), v.data()}, n, Op{});
  ASSERT_TRUE(made.complete);
  EXPECT_TRUE(made.unique);
  EXPECT_EQ(made.illegal, 0U);
  std::vector<key> listed;
  std::vector<value> totals;
  for (const auto& [source, size] : {std::pair(made.source(), made.size), {made.rest(), made.left}}) {
    for (u64 i = 0; i < size; ++i) {
      const auto x = source(i);
      EXPECT_EQ(x.key.reserved, slot::is_reserved(x.key.bits));
      listed.push_back(slot::decode(x.key.bits));
      totals.push_back(detail::from_bits<value>(x.value));
    }
  }
  const std::vector<key> once(listed.begin(), listed.begin() + static_cast<i64>(made.size));
  EXPECT_EQ(std::unordered_set<key>(once.begin(), once.end()).size(), made.size);
  EXPECT_EQ(sums_of(listed, totals, Op{}), sums_of(keys, values, Op{}));
}

TEST(Combine, EveryItemOfAKeyCounts) {
  combine_items<tiled<u32, u32>, op::sum>(17'000, pattern::few, 1);
  combine_items<tiled<u64, average>, op::mean>(9'000, pattern::few, 2);
#if !TILEHASH_FEW_TYPES
  combine_items<tiled<u32, u32>, op::sum>(33'000, pattern::all_equal, 3);
  combine_items<linear_probing<u32, std::int32_t>, op::minimum>(20'001, pattern::distinct, 4);
  combine_items<tiled<u64, i64>, op::maximum>(20'001, pattern::some_twice, 5);
  combine_items<tiled<u16, u8>, op::sum>(20'000, pattern::distinct, 6);
  combine_items<tiled<u32, float>, op::sum>(20'000, pattern::few, 7);
  combine_items<linear_probing<float, u32>, op::maximum>(17'000, pattern::few, 8);
#endif
}

// Into a table that is empty, grows, holds items, or is full: the report and the sums are those of one by
// one.
template <class Design>
void aggregate(u64 n, u64 distinct, table_options options, u64 seed) {
  SCOPED_TRACE(std::to_string(distinct) + " keys");
  emulated space({.seed = seed, .preempt = true});
  table<Design, emulated> t(space, options.grow ? 100 : distinct - distinct / 50, options);
  std::unordered_map<u32, u32> model;
  for (u64 round = 0; round < 2; ++round) {
    std::vector<u32> keys(n), values(n);
    for (u64 i = 0; i < n; ++i) {
      keys[i] = ~static_cast<u32>(mix64(seed + round * n + i) % distinct);
      values[i] = static_cast<u32>(i);
    }
    buffer<u32, emulated> k(space, keys), v(space, values), out(space, n);
    buffer<bool, emulated> flags(space, n);
    const u64 before = t.size();
    const insert_report r = t.insert_or_apply(space, k.span(), v.span(), op::sum{});
    EXPECT_EQ(r.inserted + r.present + r.refused, n);
    EXPECT_EQ(r.inserted, t.size() - before);
    t.find(space, k.span(), out.span(), flags.span());
    const auto found = flags.to_host();
    const auto got = out.to_host();
    u64 refused = 0, wrong = 0;
    for (u64 i = 0; i < n; ++i) {
      if (found[i] != 0) model[keys[i]] += values[i];
      refused += found[i] == 0;
    }
    for (u64 i = 0; i < n; ++i) wrong += found[i] != 0 && got[i] != model[keys[i]];
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(r.refused, refused);
    EXPECT_EQ(t.size(), model.size());
    EXPECT_TRUE(refused == 0 || !options.grow);
  }
}

TEST(Combine, AggregatesIntoATable) {
  aggregate<tiled<u32, u32>>(9'000, 300, {}, 1);
#if !TILEHASH_FEW_TYPES
  aggregate<tiled<u32, u32>>(20'000, 15'000, {.load_factor = 0.9}, 2);
  aggregate<linear_probing<u32, u32>>(9'000, 2'000, {}, 3);
  aggregate<linear_probing<u32, u32>>(9'000, 2'000, {.load_factor = 0.9, .grow = false}, 4);
  aggregate<tiled<u32, u32>>(9'000, 4'000, {.load_factor = 0.9, .grow = false}, 5);
#endif
}

// What an op is given may be numbers, or nothing but the keys.
TEST(Combine, CountsAndTakesMeans) {
  const u64 n = 3'000, distinct = 40;
  std::vector<u32> keys(n), numbers(n);
  for (u64 i = 0; i < n; ++i) keys[i] = static_cast<u32>(mix64(i) % distinct), numbers[i] = keys[i] + i % 2;
  emulated space({.preempt = true});
  const buffer<u32, emulated> k(space, keys), given(space, numbers), counts(space, n);
  const buffer<average, emulated> means(space, n);
  table<linear_probing<u32, u32>, emulated> counted(space, 100);
  EXPECT_EQ(counted.insert_or_apply(space, k.span(), op::count{}).inserted, distinct);
  table<tiled<u32, average>, emulated> averaged(space, 100);
  EXPECT_EQ(averaged.insert_or_apply(space, k.span(), given.span(), op::mean{}).inserted, distinct);
  counted.find(space, k.span(), counts.span());
  averaged.find(space, k.span(), means.span());
  const auto times = counts.to_host();
  const auto got = means.to_host();
  for (u64 i = 0; i < n; ++i) {
    ASSERT_EQ(times[i], std::count(keys.begin(), keys.end(), keys[i]));
    ASSERT_EQ(got[i].items, times[i]);
    ASSERT_NEAR(got[i].value(), keys[i] + 0.5, 0.5);
  }
}

// With less and less memory the call throws and leaves the table empty, or refuses what it has no room for;
// every item that it does not refuse is in its key's sum.
TEST(Combine, LosesNothingWithoutMemory) {
  const u64 n = 4'100, distinct = 1'500;
  std::vector<u32> keys(n), values(n);
  for (u64 i = 0; i < n; ++i) keys[i] = static_cast<u32>(mix64(i) % distinct), values[i] = 1;
  u64 threw = 0, refusing = 0;
  for (u64 memory = 70'000; memory < 700'000; memory += memory / 4) {
    SCOPED_TRACE(memory);
    emulated space({.seed = memory}, memory);
    buffer<u32, emulated> k(space, keys), v(space, values), out(space, n), totals(space, n);
    table<linear_probing<u32, u32>, emulated> t(space, 100);
    insert_report r;
    try {
      r = t.insert_or_apply(space, k.span(), v.span(), op::sum{});
    } catch (const out_of_memory&) {
      EXPECT_EQ(t.size(), 0U);
      ++threw;
      continue;
    }
    EXPECT_EQ(r.inserted, t.size());
    EXPECT_EQ(r.inserted + r.present + r.refused, n);
    ASSERT_EQ(t.retrieve_all(space, out.span(), totals.span()), t.size());
    const auto counted = totals.to_host();
    EXPECT_EQ(std::accumulate(counted.begin(), counted.begin() + static_cast<i64>(t.size()), u64(0)),
              n - r.refused);
    refusing += r.refused != 0;
  }
  EXPECT_GT(threw + refusing, 0U);
}

}  // namespace
}  // namespace tilehash::designs_test
