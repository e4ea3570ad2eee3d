// SPDX-License-Identifier: Apache-2.0
// Values of equal keys combined while the regions of an empty table are built (engine/combined_regions.hpp).
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tilehash/core/op.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/combined_regions.hpp>

#include "designs_test.hpp"
#include "numbered_keys.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

using design = tiled<u32, u32>;
using slot = design::slot_type;

// As op::sum, but no machine has an instruction for it.
struct users_sum {
  [[maybe_unused]] static constexpr bool is_associative = true;
  TILEHASH_FN u32 operator()(u32 a, u32 b) const { return a + b; }
};

constexpr u64 fit = 18'000;  // keys of a table of some regions
u64 slots_for(u64 keys) { return design::capacity_for(keys, 0.8); }

u64 any_key(u64 i, u64 n) { return mix64(i) % n; }  // seven of eleven keys, some of them several times
u64 in_order(u64 i, u64 n) { return i % n; }
[[maybe_unused]] u64 far_apart(u64 i, u64 n) { return i % n << 14; }
u64 hot_too(u64 i, u64 n) { return i % 40 == 0 ? 5 : mix64(i) % n; }
u64 half_one_key(u64 i, u64 n) { return i % 2 == 0 ? 5 : mix64(i) % n; }
u64 one_key(u64 /*i*/, u64 /*n*/) { return 5; }

struct rows {
  std::vector<u32> keys, values;
  std::unordered_map<u32, u32> sums;

  rows(which_key key, u64 n, u64 distinct) : keys(n), values(n) {
    for (u64 i = 0; i < n; ++i) {
      keys[i] = static_cast<u32>(key(i, distinct));
      values[i] = static_cast<u32>(mix64(i + 1));
      sums[keys[i]] += values[i];
    }
  }
};

// Each key is in the table once at most. The items there and those left over give the sums.
template <class Op>
void combine_in_table(const rows& given, bool all_fit, u64 seed) {
  const u64 n = given.keys.size(), capacity = slots_for(fit);
  emulated space({.seed = seed, .preempt = true});
  const buffer<char, emulated> memory(space, design::bytes(capacity));
  const design d(memory.data(), capacity, seed, 0.8);
  ASSERT_GE(d.regions(), 2U);
  ASSERT_TRUE(detail::combining_regions_pay<Op>(space, d));
  const buffer<u32, emulated> k(space, given.keys), v(space, given.values);
  const detail::combining_memory<design::word, emulated> bins(space, n, d.regions());
  const auto filled =
      detail::combine_in_regions(space, d, detail::array_source<slot>{k.data(), v.data()}, n, Op{}, bins);
  EXPECT_EQ(filled.illegal, 0U);
  if (all_fit) {
    EXPECT_EQ(filled.left, 0U);
  }
  std::unordered_map<u32, u32> sums;
  for (u64 i = 0; i < capacity; ++i) {
    const auto w = d.slots()[i];
    if (slot::is_free(w)) continue;
    ASSERT_TRUE(sums.emplace(slot::decode(d.key_at(i, w)), slot::value_of(w)).second);
  }
  EXPECT_EQ(filled.inserted, sums.size());
  EXPECT_EQ(filled.lists_left, filled.left <= bins.spilled);
  if (!filled.lists_left) return;
  for (u64 i = 0; i < filled.left; ++i) {
    const auto x = filled.rest()(i);
    sums[slot::decode(x.key.bits)] += x.value;
  }
  EXPECT_TRUE(sums == given.sums);
}

TEST(CombinedRegions, HaveTheSumOfEachKey) {
  if (contract::is_asked(0, 2)) combine_in_table<op::sum>({any_key, 40'000, fit}, true, 1);
  if (contract::is_asked(1, 2)) combine_in_table<users_sum>({hot_too, 40'000, fit}, false, 2);
#if !TILEHASH_FEW_TYPES
  combine_in_table<op::sum>({in_order, 36'000, fit / 2}, true, 3);
  combine_in_table<op::sum>({far_apart, 2 * fit, fit}, true, 4);
  combine_in_table<op::sum>({half_one_key, 40'000, fit}, false, 5);
  combine_in_table<op::sum>({one_key, 40'000, 1}, false, 6);
#endif
}

// More keys than slots: regions are full, and so are the hash tables of their unplaced items.
TEST(CombinedRegions, LeaveOverKeysWithoutSlots) {
  const u64 slots = slots_for(fit);
  combine_in_table<op::sum>({in_order, 2 * slots, slots + slots / 64}, false, 7);
#if !TILEHASH_FEW_TYPES
  combine_in_table<users_sum>({in_order, slots + slots / 2, slots}, false, 8);
  combine_in_table<op::sum>({in_order, 2 * slots, 2 * slots}, false, 9);
#endif
}

// Whether a sample has many keys, of which none is frequent.
TEST(CombinedRegions, AreForManyKeys) {
  emulated space;
  bool few = false;
  const auto counted = [&](const rows& given) {
    const buffer<u32, emulated> k(space, given.keys);
    return detail::many_keys_of(space, k.data(), given.keys.size(), few);
  };
  const u64 n = 40'000;
  EXPECT_EQ(counted({one_key, n, 1}), 0U);
  EXPECT_TRUE(few);
  EXPECT_EQ(counted({half_one_key, n, n}), 0U);
  EXPECT_FALSE(few);
  EXPECT_EQ(counted({in_order, n, 1'000}), 0U);
  EXPECT_FALSE(few);
  EXPECT_EQ(counted({in_order, n, 30}), 0U);
  EXPECT_TRUE(few);
  EXPECT_GT(counted({in_order, n, n}), n / 2);
  const rows some(any_key, n, 20'000);
  EXPECT_NEAR(static_cast<double>(counted(some)), static_cast<double>(some.sums.size()), 6'000);
}

// The verb: the report and the values are those of one item after the other.
template <class Op>
void apply_to_empty(const rows& given, u64 made_for, bool grows, u64 seed) {
  const u64 n = given.keys.size();
  emulated space({.seed = seed, .preempt = true});
  table<design, emulated> t(space, made_for, {.load_factor = 0.8, .grow = grows});
  const buffer<u32, emulated> k(space, given.keys), v(space, given.values), out(space, n);
  insert_report report = t.insert_or_apply(space, k.span(), v.span(), Op{});
  report.restarts = 0;
  EXPECT_EQ(report, (insert_report{.inserted = given.sums.size(), .present = n - given.sums.size()}));
  EXPECT_EQ(t.size(), given.sums.size());
  EXPECT_GE(t.capacity(), slots_for(fit));  // so it has regions
  t.find(space, k.span(), out.span());
  const auto found = out.to_host();
  u64 wrong = 0;
  for (u64 i = 0; i < n; ++i) wrong += found[i] != given.sums.at(given.keys[i]);
  EXPECT_EQ(wrong, 0U);
}

TEST(CombinedRegions, OfAnEmptyTable) {
  if (contract::is_asked(0, 2)) apply_to_empty<op::sum>({any_key, 50'000, 30'000}, 0, true, 1);
  if (contract::is_asked(1, 2)) apply_to_empty<op::sum>({hot_too, 40'000, fit}, fit, false, 2);
#if !TILEHASH_FEW_TYPES
  apply_to_empty<users_sum>({any_key, 40'000, 2 * fit}, fit, true, 3);  // it grows first
  apply_to_empty<op::sum>({half_one_key, 40'000, fit}, fit, true, 4);
  apply_to_empty<op::sum>({far_apart, 40'000, fit}, fit, true, 5);
#endif
}

// Keys and values of other types; any one of the assigned values stays.
TEST(CombinedRegions, AssignAndCount) {
  const u64 n = 40'000;
  emulated space({.seed = 3, .preempt = true});
  std::vector<float> keys(n);
  std::vector<float> values(n);
  std::unordered_map<float, u32> copies;
  for (u64 i = 0; i < n; ++i) {
    const bool is_nan = i % 1'000 == 0;
    keys[i] = is_nan ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(any_key(i, 30'000));
    values[i] = keys[i] + static_cast<float>(i % 4) / 4;
    if (!is_nan) ++copies[keys[i]];
  }
  const buffer<float, emulated> k(space, keys), v(space, values), out(space, n);
  table<tiled<float, float>, emulated> assigned(space, 0);
  insert_report expected{
      .inserted = copies.size(), .present = n - n / 1'000 - copies.size(), .refused = n / 1'000};
  insert_report report = assigned.insert_or_assign(space, k.span(), v.span());
  report.restarts = 0;
  EXPECT_EQ(report, expected);
  assigned.find_or(space, k.span(), out.span(), -1.0F);
  u64 wrong = 0;
  for (u64 i = 0; i < n; ++i)
    wrong += i % 1'000 != 0 && !(out.data()[i] >= keys[i] && out.data()[i] < keys[i] + 1);
  EXPECT_EQ(wrong, 0U);
  table<tiled<float, u32>, emulated> counted(space, 0);
  report = counted.insert_or_apply(space, k.span(), op::count{});
  report.restarts = 0;
  EXPECT_EQ(report, expected);
  const buffer<u32, emulated> counts(space, n);
  counted.find_or(space, k.span(), counts.span(), 0U);
  for (u64 i = 0; i < n; ++i) wrong += i % 1'000 != 0 && counts.data()[i] != copies.at(keys[i]);
  EXPECT_EQ(wrong, 0U);
}

// A table that may not grow and is too small refuses all items of the keys without a slot.
TEST(CombinedRegions, RefuseAllItemsOfAKey) {
  if (!contract::is_asked(0, 2)) GTEST_SKIP() << "asked in every other run";
  const rows given(in_order, 56'000, 28'000);
  emulated space({.seed = 5, .preempt = true});
  table<design, emulated> t(space, 22'000, {.load_factor = 0.8, .grow = false});
  ASSERT_LT(t.capacity(), given.sums.size());
  const u64 n = given.keys.size();
  const buffer<u32, emulated> k(space, given.keys), v(space, given.values), out(space, n);
  const buffer<bool, emulated> flags(space, n);
  const insert_report report = t.insert_or_apply(space, k.span(), v.span(), op::sum{});
  EXPECT_EQ(report.inserted, t.size());
  EXPECT_EQ(report.present, report.inserted);  // each key comes twice
  EXPECT_EQ(report.refused, n - 2 * t.size());
  t.find(space, k.span(), out.span(), flags.span());
  const auto found = out.to_host();
  u64 wrong = 0;
  for (u64 i = 0; i < n; ++i) wrong += flags.data()[i] && found[i] != given.sums.at(given.keys[i]);
  EXPECT_EQ(wrong, 0U);
}

// With less and less memory the call throws and the table is empty, or it refuses items; what it does not refuse
// is in the sums.
TEST(CombinedRegions, LoseNothingWithoutMemory) {
  const rows given(any_key, 40'000, 30'000);
  const u64 n = given.keys.size();
  u64 short_of_memory = 0, complete = 0;
  // Refused items take long, so that a few runs of small sizes ask for them.
  const u64 least = contract::is_asked(0, 6) ? 680'000 : 1'360'000;
  for (u64 memory = least; memory < 3'000'000; memory *= 2) {
    SCOPED_TRACE(memory);
    emulated space({.seed = memory}, memory);
    const buffer<u32, emulated> k(space, given.keys), v(space, given.values);
    table<design, emulated> t(space, 0);
    const u64 capacity = t.capacity();
    insert_report report;
    try {
      report = t.insert_or_apply(space, k.span(), v.span(), op::sum{});
    } catch (const out_of_memory&) {
      EXPECT_EQ(t.size(), 0U);
      EXPECT_EQ(t.capacity(), capacity);
      ++short_of_memory;
      continue;
    }
    EXPECT_EQ(report.inserted, t.size());
    EXPECT_EQ(report.inserted + report.present + report.refused, n);
    complete += report.refused == 0;
    short_of_memory += report.refused != 0;
    if (report.refused != 0) continue;
    u64 wrong = 0;
    t.for_each(space, [&](u32 key, u32 value) { wrong += value != given.sums.at(key); });
    EXPECT_EQ(wrong, 0U);
  }
  EXPECT_EQ(short_of_memory > 0, least < 1'000'000);
  EXPECT_GT(complete, 0U);
}

}  // namespace
}  // namespace tilehash::designs_test
