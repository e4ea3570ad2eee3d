// SPDX-License-Identifier: Apache-2.0
// Keys that repeat in one call, under the GPU's schedule, and some on a CPU.
// length: one subject, the calls that combine equal keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include <contract/counting_hash.hpp>
#include <contract/random.hpp>
#include <contract/repeats.hpp>
#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/equal_keys.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

#include "emulated.hpp"

namespace tilehash::contract {
namespace {

// Its items have few tries.
template <class Design>
struct hasty : Design {
  static constexpr u32 max_searches = 1;
  template <class Space>
  using engine = tilehash::engine::insertion<hasty, Space>;
  using Design::Design;
};

// Some of many copies of a key that needs displacement find a slot, and some have spent their tries before. These
// are present, too.
template <class Design, class Space>
void insert_copies(Space space, u64 seed) {
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  const u64 keys = 600, last = 30, n = 1'000;
  random_numbers random(seed);
  table<hasty<Design>, Space> t(space, keys, {.load_factor = 0.95, .seed = seed, .grow = false});
  std::vector<u64> host(n);
  for (u64& key : host) key = mix64(keys + 1 + random() % last);
  std::vector<u64> others(keys);
  for (u64 i = 0; i < others.size(); ++i) others[i] = mix64(i + 1);
  const buffer<u64, Space> o(space, others);
  const u64 before = t.insert(space, o.span(), o.span()).inserted;
  const buffer<u64, Space> k(space, host), out(space, n);
  const buffer<u8, Space> found(space, n);
  const buffer<insert_report, Space> report(space, 1);
  t.insert_async(space, k.span(), k.span(), report.data());
  const insert_report r = report.to_host()[0];
  t.find(space, k.span(), out.span(), std::span(reinterpret_cast<bool*>(found.data()), n));
  const auto is = found.to_host();
  std::unordered_set<u64> stored;
  u64 refused = 0;
  for (u64 i = 0; i < n; ++i) {
    refused += is[i] == 0;
    if (is[i] != 0) stored.insert(host[i]);
  }
  EXPECT_EQ(r.inserted, stored.size());
  EXPECT_EQ(t.size(), before + stored.size());
  EXPECT_EQ(r.refused, refused);
  EXPECT_EQ(r.present, n - stored.size() - refused);
}
TEST(RepeatedKeys, ThatAreStoredAreNotRefused) {
  for (u64 round = 0; round < scaled(3, 1); ++round) {
    const u64 seed = run_seed() + round;
    insert_copies<tiled<u64, u64>>(emulated({.seed = seed, .preempt = true}), seed);
    insert_copies<bucketed_cuckoo<u64, u64>>(emulated({.seed = seed, .preempt = true}), seed);
    insert_copies<tiled<u64, u64>>(cpu(2), seed);
  }
}

// Regions insert a call's items into an empty table that becomes nearly full. They drop all but
// one of the copies of a key in one region. They leave over copies (more than their list holds, too), and keys without a slot. Exactly the items
// with absent keys are refused.
template <class Design>
void insert_by_regions(emulated space, u64 slots, u64 copies, u64 of, bool waits, u64 seed) {
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed) + ", " + std::to_string(copies) + " copies of " +
               std::to_string(of) + (waits ? "" : ", async"));
  using key_type = typename Design::key_type;
  random_numbers random(seed);
  table<hasty<Design>, emulated> t(space, slots, {.load_factor = 0.96, .seed = seed, .grow = false});
  const u64 n = t.capacity();
  std::vector<key_type> host(n);
  for (u64 i = 0; i < n; ++i)
    host[i] = static_cast<key_type>(mix64(i < n - copies ? i + 1 : random() % of + n));
  if (of != 37) std::ranges::shuffle(host, random);
  const buffer<key_type, emulated> k(space, host), out(space, n);
  const buffer<u8, emulated> found(space, n);
  const buffer<insert_report, emulated> later(space, 1);
  insert_report r;
  if (waits) {
    r = t.insert(space, k.span(), k.span());
  } else {
    t.insert_async(space, k.span(), k.span(), later.data());
    r = later.to_host()[0];
  }
  t.find(space, k.span(), out.span(), std::span(reinterpret_cast<bool*>(found.data()), n));
  const auto is = found.to_host();
  std::unordered_set<key_type> stored;
  u64 refused = 0;
  for (u64 i = 0; i < n; ++i) {
    refused += is[i] == 0;
    if (is[i] != 0) stored.insert(host[i]);
  }
  EXPECT_EQ(r.inserted, stored.size());
  EXPECT_EQ(t.size(), stored.size());
  EXPECT_EQ(r.refused, refused);
  EXPECT_EQ(r.present, n - stored.size() - refused);
}
TEST(RepeatedKeys, ThatRegionsDropOrLeaveOverAreCounted) {
  struct given {
    u64 slots, copies, of;
    bool waits;
    u64 seed;  // 0: that of the run
  };
  // With these seeds other items of a refused key were counted as present.
  std::vector<given> all{{8'000, 150, 37, false, 11},  {8'000, 150, 37, false, 28},
                         {8'000, 60, 30, true, 28},    {8'000, 60, 10, true, 1},
                         {8'000, 1'400, 40, false, 0}, {32'000, 2'500, 1, false, 0}};
  if (!small_sizes()) {
    for (const u64 copies : {100, 2'500, 4'000})
      for (const u64 of : {1, 37, 50}) all.push_back({32'000, copies, of, of == 1, 0});
  }
  for (const given& g : all) {
    const u64 seed = g.seed != 0 ? g.seed : run_seed();
    const emulation::schedule how{.seed = seed, .preempt = true};
    insert_by_regions<tiled<u64, u64>>(emulated(how), g.slots, g.copies, g.of, g.waits, seed);
    if (g.seed == 0)
      insert_by_regions<tiled<u32, u32>>(emulated(how), g.slots, g.copies, g.of, g.waits, seed);
  }
}

// Two keys of one part and one cell, of the parts that combine() has for 40'000 items: a share combines one of them, so
// many copies of the other fill the part.
std::vector<u64> keys_that_fill_a_part(u64 seed) {
  const detail::splitter<tiled<u64, u64>::slot_type> split(5, 0);
  std::vector<u64> frequent;
  for (u64 key = seed; frequent.size() < 2; ++key) {
    const auto at = split(mix64(key));
    if (at.part == 0 && at.cell % 8192 == 0) frequent.push_back(mix64(key));
  }
  return frequent;
}

// The items left over by a full part are combined again, and each key reaches the table once.
TEST(RepeatedKeys, ThatFillAPartMeetAgain) {
  using design = tiled<u64, u64>;
  using slot = design::slot_type;
  const u64 seed = run_seed(), n = 40'000, each = 13'900, rare = 100;
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  emulated space({.seed = seed, .preempt = true});
  const std::vector<u64> frequent = keys_that_fill_a_part(seed);
  std::vector<u64> host(n);
  random_numbers random(seed);
  for (u64 i = 0; i < n; ++i)
    host[i] = i < 2 * each ? frequent[i % 2] : mix64(seed + random() % rare + (u64(1) << 40));
  std::ranges::shuffle(host, random);
  std::map<u64, u64> sums;
  for (const u64 key : host) ++sums[key];
  const buffer<u64, emulated> k(space, host), ones(space, std::vector<u64>(n, 1));
  const detail::array_source<slot> items{k.data(), ones.data()};
  const auto once = detail::combine<slot>(space, items, n, op::sum{});
  ASSERT_TRUE(once.complete);
  ASSERT_GT(once.left, 0U) << "no part was full";
  engine::insertion<design, emulated> t(space, 4 * rare, {.load_factor = 0.8, .seed = seed, .grow = false});
  const auto report = detail::insert_list(t, space, items, n, op::sum{}, detail::apply<op::sum>{});
  ASSERT_TRUE(report) << "its items were not combined";
  EXPECT_EQ(report->inserted, sums.size());
  EXPECT_EQ(report->refused, 0U);
  for (const auto& [key, sum] : sums) {
    const auto hit = t.view().find(key);
    ASSERT_TRUE(hit.found());
    EXPECT_EQ(hit.value(), sum);
  }
}

// With many other keys that takes too long. Then an empty table that may not grow gets the list and what is left over.
// If it refuses a key, it is cleared: it might have inserted some items of a key, and refused others.
TEST(RepeatedKeys, ThatFillAPartMeetInAnEmptyTable) {
  using design = tiled<u64, u64>;
  using slot = design::slot_type;
  const u64 seed = run_seed(), n = 40'000, each = 11'000, rare = 8'000;
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  emulated space({.seed = seed, .preempt = true});
  const std::vector<u64> frequent = keys_that_fill_a_part(seed);
  for (const bool refuses : {false, true}) {
    if (!is_asked(refuses ? 1 : 0, 2)) continue;
    engine::insertion<design, emulated> t(space, 4 * rare, {.load_factor = 0.8, .seed = seed, .grow = false});
    const design& d = t.view().design;
    // More keys than their two buckets hold.
    std::vector<u64> others;
    const u32 bucket = d.locate(frequent[0]).base;
    for (u64 key = seed; refuses && others.size() <= 2 * design::bucket_slots; ++key) {
      auto at = d.locate(mix64(key));
      if (d.where(at) != bucket) continue;
      d.turn(at);
      if (d.where(at) == bucket + 1 || d.where(at) == bucket) others.push_back(mix64(key));
    }
    random_numbers random(seed);
    while (others.size() < rare) others.push_back(mix64(seed + others.size() + (u64(1) << 40)));
    std::vector<u64> host(n);
    for (u64 i = 0; i < n; ++i) host[i] = i < 2 * each ? frequent[i % 2] : others[i % rare];
    std::ranges::shuffle(host, random);
    std::map<u64, u64> sums;
    for (const u64 key : host) ++sums[key];
    const buffer<u64, emulated> k(space, host), ones(space, std::vector<u64>(n, 1));
    const detail::array_source<slot> items{k.data(), ones.data()};
    auto list = detail::combine<slot>(space, items, n, op::sum{});
    detail::combine_until_unique(space, list, n, op::sum{});
    ASSERT_TRUE(list.complete);
    ASSERT_GT(list.left, 0U) << "each key is on the list once";
    const auto report = detail::insert_list(t, space, items, n, op::sum{}, detail::apply<op::sum>{});
    EXPECT_EQ(report.has_value(), !refuses);
    EXPECT_EQ(t.size(), refuses ? 0 : sums.size());
    if (!report) continue;
    EXPECT_EQ(report->inserted, sums.size());
    EXPECT_EQ(report->present, n - sums.size());
    for (const auto& [key, sum] : sums) EXPECT_EQ(t.view().find(key).value(), sum);
  }
}

// A call of more items than a partition takes at once: each of its windows has the keys.
TEST(RepeatedKeys, OfSeveralPiecesMeetAgain) {
  using slot = tiled<u64, u64>::slot_type;
  const u64 seed = run_seed(), n = 40'000;
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  emulated space({.seed = seed, .preempt = true});
  random_numbers random(seed);
  const repeating_items<u64, u64> its(n, repeats::few, random);
  const buffer<u64, emulated> k(space, its.keys), v(space, its.values);
  const detail::array_source<slot> items{k.data(), v.data()};
  auto list = detail::combine<slot>(space, items, n, op::sum{}, 0, 16'384);
  EXPECT_FALSE(list.unique);
  EXPECT_EQ(list.left, 0U);
  detail::combine_until_unique(space, list, n, op::sum{});
  EXPECT_TRUE(list.unique);
  EXPECT_EQ(list.left, 0U);
  ASSERT_EQ(list.size, its.of_key.size());
  for (u64 i = 0; i < list.size; ++i) {
    const auto x = list.source()(i);
    ASSERT_TRUE(its.of_key.contains(x.key.bits));
    EXPECT_TRUE(may_be::result(op::sum(), its.of_key.at(x.key.bits), x.value));
  }
}

// Few keys in a table that may grow are counted by a sketch, or sampled if the table has items. Then each key is inserted
// once, and the table has capacity for these keys alone.
template <class Design, class Op>
void insert_few_keys(u64 made_for, u64 held, bool keeps, u64 seed) {
  SCOPED_TRACE("made for " + std::to_string(made_for) + ", holds the keys of " + std::to_string(held) +
               (keeps ? " items, insert" : " items") + ", TILEHASH_SEED=" + std::to_string(seed));
  emulated space({.seed = seed, .preempt = true});
  random_numbers random(seed);
  const u64 n = detail::tuning::gpu::least_sketched + 300;
  repeating_items<typename Design::key_type, typename Design::mapped_type> items(n, repeats::some, random);
  const buffer<typename Design::key_type, emulated> k(space, items.keys);
  const buffer<typename Design::mapped_type, emulated> v(space, items.values);
  table<Design, emulated> t(space, made_for, {.seed = seed});
  const auto call = [&](u64 items_n) {
    return keeps ? t.insert(space, k.first(items_n), v.first(items_n))
                 : t.insert_or_apply(space, k.first(items_n), v.first(items_n), Op());
  };
  const u64 before = call(held).inserted;
  for (u64 i = 0; i < held && !keeps; ++i) {
    if (!is_nan(items.keys[i])) items.of_key[items.keys[i]].push_back(items.values[i]);
  }
  insert_report report = call(n);
  report.inserted += before;
  report.present -= before;
  EXPECT_EQ(report.refused, items.illegal);
  const u64 keys = items.of_key.size();
  EXPECT_LE(t.capacity(), Design::capacity_for(std::max(made_for, keys + keys / 8), 0.8));
  if (keeps)
    expect_repeats<op::assign>(space, t, items, report);
  else
    expect_repeats<Op>(space, t, items, report);
}
TEST(RepeatedKeys, OfATableThatGrowsAreInsertedOnce) {
  const u64 seed = run_seed();
  insert_few_keys<tiled<u64, u64>, op::sum>(0, 0, true, seed);
  insert_few_keys<tiled<float, u32>, op::sum>(700, 0, false, seed);
  insert_few_keys<tiled<u32, u32>, op::sum>(900, 300, true, seed);
}

// The design's hash function is called for each item that meets the table. An insert that finds few keys among its items
// stops before it changes the table, and the list of the keys is inserted in its place.
using counted_cuckoo = bucketed_cuckoo<u64, u64, counting_hash>;
u64 hashed_by_insert(emulated& space, table<counted_cuckoo, emulated>& t,
                     const repeating_items<u64, u64>& items) {
  const buffer<u64, emulated> k(space, items.keys), v(space, items.values);
  const u64 held = t.size();
  counting_hash::calls = 0;
  const insert_report report = t.insert(space, k.span(), v.span());
  const u64 calls = counting_hash::calls, keys = items.of_key.size();
  EXPECT_EQ(report, (insert_report{
                        .inserted = keys, .present = items.keys.size() - keys, .restarts = report.restarts}));
  EXPECT_EQ(t.size(), held + keys);
  return calls;
}
TEST(RepeatedKeys, MeetATableThatGrowsOnce) {
  const u64 seed = run_seed(), n = detail::tuning::gpu::least_sketched + 300;
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  emulated space({.seed = seed, .preempt = true});
  random_numbers random(seed);
  for (const u64 made_for : {u64(0), u64(600)}) {
    table<counted_cuckoo, emulated> t(space, made_for, {.seed = seed});
    EXPECT_LT(hashed_by_insert(space, t, {n, repeats::some, random}), n / 2);
  }
}
// A table that is nearly full has capacity for few keys, but their copies would wait for each other.
TEST(RepeatedKeys, MeetANearlyFullTableOnce) {
  const u64 seed = run_seed();
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  emulated space({.seed = seed, .preempt = true});
  random_numbers random(seed);
  // A sample of the keys is looked up.
  const u64 n = 4 * std::max(detail::least_to_combine(space), detail::tuning::table::presence_sample);
  table<counted_cuckoo, emulated> t(space, n, {.load_factor = 0.95, .seed = seed});
  std::vector<u64> others(t.capacity() - t.capacity() / 8);
  for (u64 i = 0; i < others.size(); ++i) others[i] = spread_key<u64>(2 * n + i);
  const buffer<u64, emulated> o(space, others);
  ASSERT_EQ(t.insert(space, o.span(), o.span()).inserted, others.size());
  EXPECT_LT(hashed_by_insert(space, t, {n, repeats::few, random}), n / 2);
}

// More keys than a block has slots for, too, if a sample says that each has several items.
TEST(RepeatedKeys, AreSampledBeforeTheyMeetANearlyFullTable) {
  const u64 seed = run_seed(), keys = 20'000;
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  emulated space({.seed = seed});
  engine::insertion<bucketed_cuckoo<u64, u64>, emulated> t(space, keys, {.seed = seed});
  const auto repeats = [&](u64 copies) {
    std::vector<u64> numbers(copies * keys);
    for (u64 i = 0; i < numbers.size(); ++i) numbers[i] = spread_key<u64>(mix64(seed ^ i) % keys);
    const buffer<u64, emulated> k(space, numbers);
    return detail::repeats_and_is_new(space, t, k.data(), k.size(), detail::tuning::gpu::waiting_copies);
  };
  EXPECT_TRUE(repeats(4 * detail::tuning::gpu::waiting_copies));
  EXPECT_FALSE(repeats(detail::tuning::gpu::waiting_copies / 2));
  std::vector<u64> numbers(keys);
  for (u64 i = 0; i < keys; ++i) numbers[i] = spread_key<u64>(i);
  const buffer<u64, emulated> k(space, numbers);
  const detail::array_source<slot<u64, u64>> items{k.data(), k.data()};
  ASSERT_EQ(t.insert(space, items, keys, nullptr, detail::keep_stored{}).inserted, keys);
  EXPECT_FALSE(repeats(4 * detail::tuning::gpu::waiting_copies));
}

// In a table that becomes rather full, copies of a key wait for each other. So a sample of a call's keys decides whether
// they are combined first.
TEST(RepeatedKeys, WaitInAFullTable) {
  const u64 seed = run_seed();
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  emulated space({.seed = seed, .preempt = true});
  random_numbers random(seed);
  const u64 n = detail::least_to_combine(space);
  for (const bool keeps : {false, true}) {
    repeating_items<u32, u32> items(n, keeps ? repeats::half_of_one : repeats::few, random);
    const buffer<u32, emulated> k(space, items.keys), v(space, items.values), out(space, n);
    EXPECT_TRUE(detail::sample_repeats_keys(space, k.data(), n));
    table<tiled<u32, u32>, emulated> t(space, 3 * n, {.load_factor = 0.95, .seed = seed, .grow = keeps});
    std::vector<u32> others(t.capacity() - t.capacity() / 8);
    for (u64 i = 0; i < others.size(); ++i) others[i] = spread_key<u32>(2 * n + i);
    const buffer<u32, emulated> o(space, others);
    const u64 before = t.insert(space, o.span(), o.span()).inserted;
    const insert_report report =
        keeps ? t.insert(space, k.span(), v.span()) : t.insert_or_apply(space, k.span(), v.span(), op::sum());
    EXPECT_EQ(t.size(), before + report.inserted);
    u64 refused = 0, wrong = 0;
    const buffer<bool, emulated> found(space, n);
    t.find(space, k.span(), out.span(), found.span());
    const auto values = out.to_host();
    const auto is = found.to_host();
    for (u64 i = 0; i < n; ++i) {
      const auto& given = items.of_key.at(items.keys[i]);
      refused += !is[i];
      wrong += is[i] && !(keeps ? may_be::result(op::assign(), given, values[i])
                                : may_be::result(op::sum(), given, values[i]));
    }
    EXPECT_EQ(report.refused, refused);
    EXPECT_EQ(wrong, 0U);
  }
}

// An op that cannot combine given values: the items of frequent keys are applied in turn.
template <class Design>
void insert_in_turn(u64 n, repeats how, u64 made_for, bool grows, bool applies, u64 seed) {
  SCOPED_TRACE("repeats " + std::to_string(static_cast<int>(how)) + ", made for " + std::to_string(made_for) +
               ", TILEHASH_SEED=" + std::to_string(seed));
  using slot = typename Design::slot_type;
  emulated space({.seed = seed, .preempt = true});
  random_numbers random(seed);
  repeating_items<typename Design::key_type, typename Design::mapped_type> items(n, how, random);
  const buffer<typename Design::key_type, emulated> k(space, items.keys);
  const buffer<typename Design::mapped_type, emulated> v(space, items.values);
  const detail::array_source<slot> source{k.data(), v.data()};
  table<Design, emulated> t(space, made_for, {.seed = seed, .grow = grows});
  const auto parts = detail::split_by_frequent_keys(space, source, n);
  ASSERT_EQ(parts.has_value(), applies);
  // Some keys are present.
  const u64 before = t.insert_or_apply(space, k.first(n / 100), v.first(n / 100), count_and_add()).inserted;
  for (u64 i = 0; i < n / 100; ++i) {
    if (!is_nan(items.keys[i])) items.of_key[items.keys[i]].push_back(items.values[i]);
  }
  insert_report report = t.insert_or_apply(space, k.span(), v.span(), count_and_add());
  report.inserted += before;
  report.present -= before;
  expect_repeats<count_and_add>(space, t, items, report);
}
TEST(RepeatedKeys, OfAnyOpAreRefusedTogether) {
  emulated space({.seed = run_seed(), .preempt = true});
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(run_seed()));
  if (!is_asked(0, 2)) GTEST_SKIP() << "asked in every other run";
  const u64 n = detail::tuning::gpu::least_in_turn;
  table<tiled<u64, u64>, emulated> t(space, 10, {.seed = run_seed(), .grow = false});
  std::vector<u64> others(scaled(3'000, 300));
  for (u64 i = 0; i < others.size(); ++i) others[i] = mix64(i + 1);
  const buffer<u64, emulated> o(space, others), one(space, std::vector<u64>(n, 5));
  const u64 before = t.insert(space, o.span(), o.span()).inserted;
  const insert_report report = t.insert_or_apply(space, one.span(), one.span(), count_and_add());
  EXPECT_EQ(report.refused, n) << "of a full table";
  EXPECT_EQ(report.present + report.inserted, 0U);
  EXPECT_EQ(t.size(), before);
}
TEST(RepeatedKeys, OfAnyOpAreAppliedInTurn) {
  const u64 seed = run_seed(), n = 17'001;
  ASSERT_GE(n, detail::tuning::gpu::least_in_turn);
  u64 number = 0;
  for (const repeats how : {repeats::one_key, repeats::few, repeats::half_of_one, repeats::skewed}) {
    const bool grows = how == repeats::few || how == repeats::half_of_one;  // with small sizes
    if (!is_asked(number++, 4)) continue;
    if (grows || !small_sizes()) insert_in_turn<tiled<u64, u64>>(n, how, 0, true, true, seed);
    if (!grows || !small_sizes()) insert_in_turn<tiled<float, u32>>(n, how, n, false, true, seed);
  }
  if (is_asked(1, 4))
    insert_in_turn<bucketed_cuckoo<u32, u64>>(n, repeats::half_of_one, n * 7 / 16, false, true, seed);
  if (is_asked(3, 4)) insert_in_turn<tiled<u64, u64>>(n, repeats::distinct, 0, true, false, seed);
}

template <class Design, class Op>
struct asked {
  using design = Design;
  using op_type = Op;
};
template <class Asked>
class EmulatedRepeats : public ::testing::Test {};
#if TILEHASH_FEW_TYPES
using all_asked = ::testing::Types<asked<tiled<float, u32>, op::sum>, asked<tiled<u64, u64>, op::assign>,
                                   asked<bucketed_cuckoo<u64, u64>, count_and_add>>;
#else
using all_asked =
    ::testing::Types<asked<tiled<u32, u32>, op::sum>, asked<tiled<u64, u64>, op::assign>,
                     asked<tiled<float, u32>, op::maximum>, asked<bucketed_cuckoo<u64, u64>, count_and_add>>;
#endif
TYPED_TEST_SUITE(EmulatedRepeats, all_asked);

TYPED_TEST(EmulatedRepeats, EveryItemCounts) {
  emulated space({.seed = run_seed(), .preempt = true});
  constexpr repeats kinds[] = {repeats::half_of_one, repeats::one_key, repeats::two_in_turn, repeats::some};
  const std::span<const repeats> all = kinds;
  insert_all_repeats<typename TypeParam::design, typename TypeParam::op_type>(
      space, 8'500, all.first(small_sizes() ? 1 : 4));
}

}  // namespace
}  // namespace tilehash::contract
