// SPDX-License-Identifier: Apache-2.0
// Growth by estimate: the sketch against known numbers of keys, and inserts of many items into empty and small
// tables that may grow, against std::map. `estimate_ground` has a space and its memory, which can run out.
// length: one ground and its model; the sketch, and the inserts that use it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <contract/faulty.hpp>
#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <tilehash/algorithm/sketch.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/dynamic_map.hpp>
#include <tilehash/map.hpp>
#include <tilehash/set.hpp>

// Growth is much the same for all designs and types: one of them suffices where all are asked on the CPU.
#if !defined(TILEHASH_ONE_ESTIMATED)
#define TILEHASH_ONE_ESTIMATED TILEHASH_ONLY_READ
#endif

namespace tilehash::contract {

using estimate_space = decltype(estimate_ground::space);
inline constexpr bool estimate_on_lanes = estimate_space::has_lanes;
// From so many items on a table grows by an estimate.
inline constexpr u64 least_estimated = detail::tuning::of<estimate_space>::least_sketched;
// A quick run refuses every second or tenth allocation, from a random one on.
inline bool asks_some() { return estimate_on_lanes && small_sizes(); }
inline u64 failing_step() { return asks_some() ? 10 : small_sizes() ? 4 : 1; }
inline u64 first_failing() { return run_seed() % failing_step(); }

// ---- keys ----

struct cell_of_grid {  // a record of 12 bytes
  u32 x, y, z;
  friend auto operator<=>(const cell_of_grid&, const cell_of_grid&) = default;
  friend bool operator==(const cell_of_grid&, const cell_of_grid&) = default;  // nvcc makes no implicit one
};
}  // namespace tilehash::contract
template <>
struct tilehash::keys::members_of<tilehash::contract::cell_of_grid>
    : tilehash::keys::members<&tilehash::contract::cell_of_grid::x, &tilehash::contract::cell_of_grid::y,
                              &tilehash::contract::cell_of_grid::z> {};
namespace tilehash::contract {

template <class Key>
Key numbered_key(u64 number) {
  if constexpr (std::same_as<Key, cell_of_grid>)
    return {static_cast<u32>(number), 7, static_cast<u32>(mix64(number))};
  else if constexpr (std::same_as<Key, std::array<u32, 4>>)
    return {1, static_cast<u32>(number), 2, static_cast<u32>(number >> 32)};
  else
    return static_cast<Key>(number);
}
// How the number of an item's key follows from the item's number.
struct distribution {
  const char* name;
  u64 different;  // keys; 0: all items differ
  u64 stride = 1;
  bool sorted = false, spread = false;

  u64 number(u64 i, u64 n) const {
    const u64 of = different == 0 ? n : different;
    const u64 k = different == 0 ? i : sorted ? i * of / n : mix64(i) % of;
    return spread ? mix32(static_cast<u32>(k)) : k * stride;
  }
};
inline constexpr distribution distributions[] = {
    {"distinct", 0, 1, false, true},
    {"sorted", 0, 1, true, false},
    {"strided", 0, 4096, true, false},
    {"one key", 1},
    {"thousand keys", 1'000},
    {"sorted groups", 5'000, 1, true},
    {"half", least_estimated / 2, 1, false, true},
};

// ---- the sketch ----

template <class Key>
double sketched(const std::vector<Key>& keys, u64 seed, u64 first = 0) {
  estimate_ground here;
  const buffer<Key, estimate_space> k(here.space, keys);
  return detail::count_by_sketch(here.space, k.data(), first, keys.size(), nullptr, seed);
}
inline void expect_near(double estimate, double different, double deviations = 5) {
  // (The estimate is a real number, also of one key.)
  EXPECT_LE(std::abs(estimate - different), 0.5 + deviations * detail::sketch_ranks::deviation() * different);
}

template <class Key>
void expect_sketch_counts() {
  random_numbers random("expect_sketch_counts");
  for (const u64 different : {u64(1), u64(2), u64(100), u64(3'000), u64(9'000), scaled(60'000, 20'000)}) {
    SCOPED_TRACE(std::to_string(different) + " keys");
    std::vector<Key> keys;
    for (u64 i = 0; i < different; ++i) keys.push_back(numbered_key<Key>(i));
    expect_near(sketched(keys, random()), static_cast<double>(different));
    const std::vector<Key> once = keys;
    keys.insert(keys.end(), once.begin(), once.end());  // copies change nothing
    const u64 seed = random();
    EXPECT_EQ(sketched(keys, seed), sketched(once, seed));
  }
}
TEST(Sketch, CountsKeysOfAnySize) {
  expect_sketch_counts<cell_of_grid>();
#if !TILEHASH_ONE_ESTIMATED
  expect_sketch_counts<u32>();
  expect_sketch_counts<u64>();
#endif
#if !TILEHASH_FEW_TYPES
  expect_sketch_counts<std::array<u32, 4>>();
#endif
}
TEST(Sketch, HasNoBias) {
  random_numbers random("HasNoBias");
  for (const u64 different : {u64(500), u64(8'000), scaled(25'000, 13'000)}) {
    std::vector<u32> keys(different);
    for (u64 i = 0; i < different; ++i) keys[i] = static_cast<u32>(64 * i);
    double sum = 0;
    for (u64 k = 0; k < 16; ++k) sum += sketched(keys, random());
    expect_near(sum / 16, static_cast<double>(different), 1.25);  // the mean has a fourth of the deviation
  }
}
TEST(Sketch, LeavesOutNaNsAndKeysThatAreNotPending) {
  std::vector<float> keys(4'000);
  for (u64 i = 0; i < keys.size(); ++i) {
    const u32 nan = 0x7fc0'0000U + static_cast<u32>(i);  // all different
    keys[i] = i % 3 == 0 && i < 3'000 ? static_cast<float>(i) : std::bit_cast<float>(nan);
  }
  expect_near(sketched(keys, 1), 1'000);
  expect_near(sketched(keys, 1, 1'500), 500);
  estimate_ground here;
  std::vector<u32> numbers(2'048), bits(2'048 / 32, 0xffU);  // a fourth
  for (u64 i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<u32>(i);
  const buffer<u32, estimate_space> k(here.space, numbers), pending(here.space, bits);
  expect_near(detail::count_by_sketch(here.space, k.data(), 0, numbers.size(), pending.data(), 3), 512);
}
TEST(Sketch, OfTwoToThe32KeysIsRight) {
  detail::sketch_ranks ranks = {};  // as many as are expected of each rank
  const double each = 0x1p32 / detail::sketch_ranks::registers;
  double before = 0;
  u32 left = detail::sketch_ranks::registers;
  for (u32 k = 1; k < detail::sketch_ranks::kinds; ++k) {
    const double up_to = k == detail::sketch_ranks::kinds - 1 ? 1 : std::exp(-each * std::pow(0.5, k));
    ranks.of[k] = std::min(left, static_cast<u32>(std::lround((up_to - before) * ranks.registers)));
    left -= ranks.of[k];
    before = up_to;
  }
  ranks.of[detail::sketch_ranks::kinds - 1] += left;
  expect_near(ranks.estimate(), 0x1p32, 1);
}

// ---- tables ----

template <class Table>
class grown_table {
 public:
  using key = typename Table::key_type;
  using value = u32;
  static constexpr bool is_set = std::is_void_v<typename Table::mapped_type>;

  explicit grown_table(estimate_ground& here, u64 items = 0, table_options options = {})
      : here_(here), t(here.space, items, options) {}

  // The values are the items' numbers, so each says which key it belongs to.
  insert_report insert(const std::vector<key>& keys) {
    const buffer<key, estimate_space> k(here_.space, keys);
    std::vector<value> numbers(keys.size());
    for (u64 i = 0; i < keys.size(); ++i) numbers[i] = static_cast<value>(all_.size() + i);
    all_.insert(all_.end(), keys.begin(), keys.end());
    if constexpr (is_set) {
      return here_.memory.guarded([&] { return t.insert(here_.space, k.span()); });
    } else {
      const buffer<value, estimate_space> v(here_.space, numbers);
      return here_.memory.guarded([&] { return t.insert(here_.space, k.span(), v.span()); });
    }
  }
  void forget_insert(u64 items) { all_.resize(all_.size() - items); }

  // Every key is present once, and no other. `refused`: so many items may be missing.
  void verify(u64 refused = 0) {
    std::map<key, bool> expected;
    u64 illegal = 0;
    for (const key& k : all_) {
      if constexpr (std::floating_point<key>) {
        if (k != k) {
          ++illegal;
          continue;
        }
      }
      expected[k] = true;
    }
    if (refused == 0) {
      ASSERT_EQ(t.size(), expected.size());
    }
    const buffer<key, estimate_space> k(here_.space, all_);
    const buffer<u8, estimate_space> found(here_.space, all_.size());
    t.contains(here_.space, k.span(), found.span());
    std::vector<u8> is = found.to_host();
    u64 missing = 0;
    for (u64 i = 0; i < all_.size(); ++i) missing += is[i] == 0;
    ASSERT_LE(missing, refused + illegal);
    if (refused == 0) {
      ASSERT_EQ(missing, illegal);
    }
    if constexpr (!is_set) {
      const buffer<value, estimate_space> out(here_.space, all_.size());
      t.find_or(here_.space, k.span(), out.span(), ~value(0));
      const auto of = out.to_host();
      u64 wrong = 0;
      for (u64 i = 0; i < all_.size(); ++i)
        wrong += is[i] != 0 && (of[i] >= all_.size() || !(all_[of[i]] == all_[i]));
      ASSERT_EQ(wrong, 0U);
    }
  }

 private:
  estimate_ground& here_;
  std::vector<key> all_;

 public:
  Table t;
};

template <class Key>
std::vector<Key> keys_of(const distribution& d, u64 n) {
  std::vector<Key> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = numbered_key<Key>(d.number(i, n));
  return keys;
}
// Into an empty table; then as many others, and some of the first again.
template <class Table>
void expect_growth(const distribution& d, table_options options = {}, u64 held = 0) {
  SCOPED_TRACE(std::string(d.name) + ", load factor " + std::to_string(options.load_factor) + ", held " +
               std::to_string(held));
  using key = typename Table::key_type;
  const u64 n = least_estimated + 300;
  estimate_ground here;
  grown_table<Table> t(here, 0, options);
  if (held != 0) {
    std::vector<key> some(held);
    for (u64 i = 0; i < held; ++i) some[i] = numbered_key<key>(d.number(i * (n / held), n));
    EXPECT_EQ(t.insert(some).refused, 0U);
  }
  const insert_report report = t.insert(keys_of<key>(d, n));
  EXPECT_EQ(report.refused, 0U);
  if (d.different == 0 && held == 0) {
    EXPECT_EQ(report.restarts, 1U) << "it grew more than once";
  }
  t.verify();
  if (d.different == 0) {  // no more capacity than for the items, and what a table rounds up
    estimate_ground other;
    grown_table<Table> made_for_all(other, n, options);
    EXPECT_LE(t.t.capacity(), 2 * made_for_all.t.capacity());
    if (held == 0) {
      EXPECT_EQ(t.t.capacity(), made_for_all.t.capacity());
    }
  }
}
template <class Table>
void expect_all_distributions() {
  for (const distribution& d : distributions) expect_growth<Table>(d);
}
template <class Table>
void expect_some_distributions() {
  expect_growth<Table>(distributions[0]);
  expect_growth<Table>(distributions[0], {}, 2'000);
  if (!small_sizes()) expect_growth<Table>(distributions[4]);
}

TEST(GrowthByEstimate, OfAMap) { expect_all_distributions<map<u32, u32, estimate_space>>(); }
#if !TILEHASH_ONE_ESTIMATED
TEST(GrowthByEstimate, OfASet) { expect_some_distributions<set<u64, estimate_space>>(); }
#endif
TEST(GrowthByEstimate, OfADynamicMap) { expect_all_distributions<dynamic_map<u32, u32, estimate_space>>(); }
#if !TILEHASH_ONE_ESTIMATED
TEST(GrowthByEstimate, OfOtherDesigns) {
  expect_some_distributions<table<horton<u32, u32>, estimate_space>>();
  expect_growth<table<linear_probing<u32, u32>, estimate_space>>(distributions[0], {.load_factor = 0.5});
#if !TILEHASH_FEW_TYPES
  expect_some_distributions<table<bucketed_cuckoo<u64, u32>, estimate_space>>();
#endif
}
#endif
TEST(GrowthByEstimate, OfWideKeys) {
  expect_growth<map<cell_of_grid, u32, estimate_space>>(distributions[0]);
#if !TILEHASH_FEW_TYPES
  expect_growth<map<u64, u32, estimate_space>>(distributions[0]);
  expect_growth<map<std::array<u32, 4>, u32, estimate_space>>(distributions[0]);
#endif
}
TEST(GrowthByEstimate, AtAnyLoadFactor) {
  for (const double load : {0.97, 0.7, 0.5}) {
    expect_growth<map<u32, u32, estimate_space>>(distributions[0], {.load_factor = load});
    expect_growth<map<u32, u32, estimate_space>>(distributions[6], {.load_factor = load});
    if (asks_some()) return;
  }
}
TEST(GrowthByEstimate, OfTablesThatHoldItems) {
  for (const u64 held : {u64(1), u64(500), u64(9'000)}) {
    if (asks_some() && held != 500) continue;
    expect_growth<map<u32, u32, estimate_space>>(distributions[0], {}, held);
  }
  expect_growth<map<u32, u32, estimate_space>>(distributions[6], {}, 3'000);
}
TEST(GrowthByEstimate, RefusesNaNs) {
  estimate_ground here;
  grown_table<map<float, u32, estimate_space>> t(here);
  std::vector<float> keys(least_estimated + 200);
  u64 nans = 0;
  for (u64 i = 0; i < keys.size(); ++i) {
    const bool is_nan = i % 5 == 0;
    nans += is_nan;
    keys[i] = is_nan ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i);
  }
  EXPECT_EQ(t.insert(keys).refused, nans);
  t.verify();
}
// Values are combined before the insert, so the number of keys is known.
TEST(GrowthByEstimate, OfSums) {
  using table_type = map<u32, u32, estimate_space>;
  estimate_ground here;
  table_type t(here.space, 0);
  for (u32 round = 1; round <= 2; ++round) {
    const u64 n = least_estimated + 1'000;
    std::vector<u32> keys(n);
    for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(i % (n / 4))) ^ (round - 1);
    const buffer<u32, estimate_space> k(here.space, keys), v(here.space, std::vector<u32>(n, round));
    EXPECT_EQ(t.insert_or_apply(here.space, k.span(), v.span(), op::sum()).refused, 0U);
    std::map<u32, u32> expected;
    for (const u32 key : keys) expected[key] += round;
    const buffer<u32, estimate_space> out(here.space, n);
    t.find_or(here.space, k.span(), out.span(), 0U);
    const auto sums = out.to_host();
    u64 wrong = 0;
    if (round == 1)  // (the next round's keys may be some of these)
      for (u64 i = 0; i < n; ++i) wrong += sums[i] != expected[keys[i]];
    EXPECT_EQ(wrong, 0U);
  }
}

// ---- without memory ----

// An insert with memory for 0, 1, 2, ... allocations throws and changes nothing, or reports what it refused.
template <class Table>
void expect_strong(const distribution& d, u64 items = 0) {
  using key = typename Table::key_type;
  const auto keys = keys_of<key>(d, least_estimated + 300);
  for (u64 allocations = first_failing();; allocations += failing_step()) {
    SCOPED_TRACE(std::string(d.name) + ", " + std::to_string(allocations) + " allocations");
    ASSERT_LT(allocations, 200U);
    estimate_ground here;
    {
      grown_table<Table> t(here, items);
      const u64 capacity = t.t.capacity();
      here.memory.refuse_after(allocations);
      insert_report report;
      try {
        report = t.insert(keys);
      } catch (const out_of_memory&) {
        EXPECT_EQ(t.t.capacity(), capacity);
        EXPECT_EQ(t.t.size(), 0U);
        t.forget_insert(keys.size());
      }
      here.memory.refuse_after(faulty::never);
      EXPECT_EQ(here.memory.allocated(), t.t.bytes()) << "memory is kept, or given back twice";
      t.verify(report.refused);
      EXPECT_EQ(t.insert(keys).refused, 0U);
      t.verify();
    }
    if (!here.memory.refused()) return;
  }
}
// Only one allocation fails: a call whose estimate gets no memory, or not the table for it, grows step by step.
template <class Table>
void expect_growth_without_one(const distribution& d) {
  using key = typename Table::key_type;
  const auto keys = keys_of<key>(d, least_estimated + 300);
  for (u64 which = first_failing();; which += failing_step()) {
    SCOPED_TRACE(std::string(d.name) + ", without allocation " + std::to_string(which));
    ASSERT_LT(which, 200U);
    estimate_ground here;
    grown_table<Table> t(here);
    here.memory.refuse_after(which, 1);
    insert_report report;
    try {
      report = t.insert(keys);
    } catch (const out_of_memory&) {
      t.forget_insert(keys.size());
    }
    const bool met = here.memory.refused();
    here.memory.refuse_after(faulty::never);
    t.verify(report.refused);
    if (!met) return;
  }
}
TEST(GrowthByEstimate, WithoutMemory) {
  expect_strong<map<u32, u32, estimate_space>>(distributions[0]);
  if (small_sizes()) return;
  expect_strong<map<u32, u32, estimate_space>>(distributions[6], 3'000);
  expect_strong<dynamic_map<u32, u32, estimate_space>>(distributions[0]);
}
TEST(GrowthByEstimate, WithoutOneAllocation) {
  expect_growth_without_one<map<u32, u32, estimate_space>>(distributions[0]);
  if (!small_sizes()) expect_growth_without_one<dynamic_map<u32, u32, estimate_space>>(distributions[0]);
}

}  // namespace tilehash::contract
