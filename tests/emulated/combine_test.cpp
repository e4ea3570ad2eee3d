// SPDX-License-Identifier: Apache-2.0
// Items of equal keys combined before they come to a table, and lists that are exactly full.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <contract/extremes.hpp>
#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/algorithm/contested.hpp>
#include <tilehash/algorithm/ordered_bins.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/space/cpu.hpp>

#include "designs_test.hpp"
#include "numbered_keys.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

using i64 = std::int64_t;

using average = op::mean_of<u32>;  // 8 bytes that no machine adds at once

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

// Keys that all seek one slot of their part's block, which gives some of them up: of the two sums of what is
// listed and what is left over nothing is missing, however many windows the items come in.
constexpr u64 seeking_keys = 200;
u64 seeking_key(u64 i) { return unmix64(i << 32 | mix32(static_cast<u32>(i))); }
template <class Space>
void combine_keys_of_one_slot(u64 windows) {
  SCOPED_TRACE(std::to_string(windows) + " windows");
  using slot = remainder_slot<u64, u32>;
  const u64 n = 3'000;
  std::vector<u64> keys(n);
  std::vector<u32> values(n);
  for (u64 i = 0; i < n; ++i) {
    keys[i] = i % 2 == 0 ? seeking_key(i / 2 % seeking_keys) : i % 300;
    values[i] = static_cast<u32>(i + 1);
  }
  Space space = make_space<Space>();
  const buffer<u64, Space> k(space, keys);
  const buffer<u32, Space> v(space, values);
  const auto made = detail::combine<slot>(space, detail::array_source<slot>{k.data(), v.data()}, n, op::sum{},
                                          0, detail::divide_up(n, windows));
  ASSERT_TRUE(made.complete);
  EXPECT_EQ(made.unique, windows == 1);
  EXPECT_GE(made.left, windows * 64);
  std::unordered_map<u64, u32> sums;
  for (const auto& [source, size] : {std::pair(made.source(), made.size), {made.rest(), made.left}})
    for (u64 i = 0; i < size; ++i) sums[slot::decode(source(i).key.bits)] += source(i).value;
  EXPECT_TRUE(sums == sums_of(keys, values, std::plus<u32>()));
}
TEST(Combine, LeavesOverWhatFindsNoSlot) {
  for (const u64 windows : {1, 2, 3}) {
    combine_keys_of_one_slot<emulated>(windows);
    combine_keys_of_one_slot<cpu>(windows);
  }
  const u64 n = 9'000;
  std::vector<u64> keys(n);
  std::vector<u32> values(n);
  for (u64 i = 0; i < n; ++i) keys[i] = seeking_key(i % seeking_keys), values[i] = static_cast<u32>(i);
  auto expected = sums_of(keys, values, std::plus<u32>());
  emulated space({.seed = 8, .preempt = true});
  const buffer<u64, emulated> k(space, keys);
  const buffer<u32, emulated> v(space, values), out(space, n);
  table<tiled<u64, u32>, emulated> t(space, 100);
  EXPECT_EQ(t.insert_or_apply(space, k.span(), v.span(), op::sum{}).inserted, seeking_keys);
  EXPECT_EQ(t.size(), seeking_keys);
  t.find(space, k.span(), out.span());
  for (u64 i = 0; i < n; ++i) ASSERT_EQ(out.data()[i], expected.at(keys[i])) << i;
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

// The arguments of an op may be numbers, or the keys alone.
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

TEST(Combine, ExtremesDoNotDependOnTheOrder) {
  emulated space({.preempt = true});
  contract::expect_extremes_in_any_order(space, 3);
}

// With less and less memory the call throws and leaves the table empty, or refuses items that do not fit;
// every item that it does not refuse is in its key's sum.
TEST(Combine, LosesNothingWithoutMemory) {
  const u64 n = 4'100, distinct = 1'500;
  std::vector<u32> keys(n), values(n);
  for (u64 i = 0; i < n; ++i) keys[i] = static_cast<u32>(mix64(i) % distinct), values[i] = 1;
  u64 threw = 0, refusing = 0;
  for (u64 memory = 78'000; memory < 700'000; memory += memory / (small() ? 1 : 4)) {
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

// ---- lists exactly full, and one item beyond ----

// Different keys seek one slot of one part, so all but 64 are left over. The list has space for n / 16 + 1024.
template <class Space>
void leave_over_what_the_list_holds() {
  using slot = remainder_slot<u64, u32>;
  u64 complete = 0;
  for (u64 n = 1'157; n <= 1'164; ++n) {
    SCOPED_TRACE(n);
    std::vector<u64> keys(n);
    std::vector<u32> values(n);
    for (u64 i = 0; i < n; ++i) keys[i] = seeking_key(i), values[i] = static_cast<u32>(i);
    Space space = make_space<Space>();
    const buffer<u64, Space> k(space, keys);
    const buffer<u32, Space> v(space, values);
    const auto made =
        detail::combine<slot>(space, detail::array_source<slot>{k.data(), v.data()}, n, op::sum{});
    EXPECT_EQ(made.left, n - 64);
    ASSERT_EQ(made.complete, made.left <= n / 16 + 1024);
    if (!made.complete) continue;
    ++complete;
    std::vector<u32> all;
    for (const auto& [source, size] : {std::pair(made.source(), made.size), {made.rest(), made.left}})
      for (u64 i = 0; i < size; ++i) all.push_back(source(i).value);
    std::ranges::sort(all);
    EXPECT_EQ(all, values);
  }
  EXPECT_EQ(complete, 4U);
}

// Copies of one key, of which a region takes those that find a slot or space on its list. The list of those left over
// has space for n / 32 + 1024.
template <class Design, class Space>
void spill_what_the_list_holds() {
  using slot = typename Design::slot_type;
  using build = typename Design::template region_build<>;
  using key = typename Design::key_type;
  const u64 capacity = Design::capacity_for(300, 0.9);
  Space space = make_space<Space>();
  const buffer<char, Space> memory(space, Design::bytes(capacity));
  const Design d(memory.data(), capacity, 5, 0.9);
  ASSERT_EQ(d.regions(), 1U);
  const u64 taken = typename build::layout(d.region_buckets()).list.size + Design::bucket_slots;
  const u64 full = (taken + 1024) * 32 / 31;
  std::vector<u64> sizes;
  for (u64 n = 0; n < 6; ++n)
    sizes.insert(sizes.end(), {taken - 2 + n, d.region_slots() - 2 + n, full - 2 + n});
  const buffer<key, Space> keys(space, std::vector<key>(full + 4, key(77)));
  const buffer<typename Design::mapped_type, Space> values(space, full + 4);
  for (const u64 n : sizes) {
    SCOPED_TRACE(n);
    const detail::array_source<slot> source{keys.data(), values.data()};
    const auto filled = detail::fill_regions(space, d, source, n, false);
    EXPECT_EQ(filled.inserted, 1U);
    EXPECT_EQ(filled.left, n < taken ? 0 : n - taken);
    ASSERT_EQ(filled.lists_left, filled.left <= n / 32 + 1024);
    for (u64 i = 0; filled.lists_left && i < filled.left; ++i)
      ASSERT_EQ(slot::decode(filled.rest()(i).key.bits), key(77));
  }
}

// The first of equal keys: copies of one that fill a region's list, or one short of it, and behind them a key
// of the same bucket.
template <class Design, class Space>
void keep_what_follows_a_full_list() {
  using slot = typename Design::slot_type;
  using build = typename Design::template region_build<detail::ordered_bins<slot>>;
  const u64 capacity = Design::capacity_for(300, 0.9);
  Space space = make_space<Space>();
  const buffer<char, Space> memory(space, Design::bytes(capacity));
  const Design d(memory.data(), capacity, 5, 0.9);
  const auto bucket_of = [&](u32 k) { return d.locate(slot::encode(k)).bucket; };
  u32 last = 78;
  while (bucket_of(last) != bucket_of(77)) ++last;
  const u64 full = typename build::layout(d.region_buckets()).list.size + Design::bucket_slots;
  for (u64 copies = full - 2; copies <= full + 1; ++copies) {
    SCOPED_TRACE(copies);
    std::vector<u32> keys(copies + 1, 77), values(copies + 1);
    std::iota(values.begin(), values.end(), 0);
    keys[copies] = last;
    const buffer<u32, Space> k(space, keys), v(space, values);
    const auto filled = detail::fill_regions<true>(space, d, detail::array_source<slot>{k.data(), v.data()},
                                                   copies + 1, false);
    EXPECT_EQ(filled.inserted, 2U);
    EXPECT_EQ(filled.left, 0U);
    std::map<u32, u32> there;
    for (u64 i = 0; i < capacity; ++i)
      if (const auto w = d.slots()[i]; !slot::is_free(w))
        there[slot::decode(d.key_at(i, w))] = slot::value_of(w);
    EXPECT_EQ(there, (std::map<u32, u32>{{77, 0}, {last, static_cast<u32>(copies)}}));
  }
}

// All n keys pass the filter, though few were said to: the list has space for n / 16 + 1024 of them at first.
template <class Space>
void find_more_than_was_said() {
  using design = tiled<u32, u32>;
  Space space = make_space<Space>();
  const design d(nullptr, design::capacity_for(1'000, 0.9), 5, 0.9);
  for (u64 n = 1'090; n <= 1'095; ++n) {
    SCOPED_TRACE(n);
    const buffer<u32, Space> keys(space, std::vector<u32>(n, 77));
    const detail::contested_keys<Space> some(space, n);
    some.filter().add(d.hash(design::slot_type::encode(77)));
    const auto found = detail::find_contested(space, d, keys.data(), n, some.filter(), 0);
    ASSERT_EQ(found.size, n);
    std::vector<u32> numbers(found.numbers.data(), found.numbers.data() + n);
    std::ranges::sort(numbers);
    for (u32 i = 0; i < n; ++i) ASSERT_EQ(numbers[i], i);
  }
}

TEST(FullLists, OfWhatIsLeftOver) {
  leave_over_what_the_list_holds<cpu>();
  leave_over_what_the_list_holds<emulated>();
  spill_what_the_list_holds<tiled<u32, u32>, cpu>();
  spill_what_the_list_holds<tiled<u32, u32>, emulated>();
  spill_what_the_list_holds<tiled<u64, u64>, cpu>();
  keep_what_follows_a_full_list<tiled<u32, u32>, cpu>();
  find_more_than_was_said<cpu>();
  find_more_than_was_said<emulated>();
}

}  // namespace
}  // namespace tilehash::designs_test
