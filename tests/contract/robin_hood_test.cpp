// SPDX-License-Identifier: Apache-2.0
// The promises of Robin Hood tables in addition to the contract: any load up to one, and no build fails; ages as few as
// the paper's; lookups that fail stop at their home's maximum, which is tight, after any number of erases
// too; neighbours stay neighbours; and keys made up to meet cost a restart.
// length: one design and the ages that all its tests count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/papers/robin_hood_ages.hpp>
#include <tilehash/papers/robin_hood_random.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
namespace {

using contract::run_seed;
using contract::scaled;

using lines = robin_hood<u32, u32>;
using paper = robin_hood<u32, u32, 1>;  // one slot a bucket
using scattered_lines = papers::robin_hood_random<u32, u32>;
using scattered_paper = papers::robin_hood_random<u32, u32, 1>;

template <class Design>
struct subject {
  using slot_type = typename Design::slot_type;
  using key = typename Design::key_type;
  using keys = std::vector<key>;

  cpu space{2};
  table<Design, cpu> t;
  u64 next = run_seed();  // keys come in the order of a bijection, so none comes twice

  subject(u64 items, double load, bool grow = false)
      : t(space, items, {.load_factor = load, .seed = run_seed() ^ items, .grow = grow}) {}

  keys fresh_keys(u64 n) {
    keys k(n);
    for (key& x : k) x = contract::spread_key<key>(next++);
    return k;
  }
  insert_report insert(const keys& k) {
    if constexpr (slot_type::is_set)
      return t.insert(space, std::span<const key>(k));
    else
      return t.insert(space, std::span<const key>(k),
                      std::span<const typename Design::mapped_type>(values_of(k)));
  }
  u64 erase(const keys& k) { return t.erase(space, std::span<const key>(k)); }

  // A value that is computed from its key.
  static std::vector<typename Design::mapped_type> values_of(const keys& k)
    requires(!slot_type::is_set)
  {
    std::vector<typename Design::mapped_type> values(k.size());
    for (u64 i = 0; i < k.size(); ++i) values[i] = static_cast<typename Design::mapped_type>(~k[i]);
    return values;
  }

  // Buckets read for a key, on average; `there` counts those that were found, with their values.
  double buckets_read(const keys& k, u64& there) const {
    u64 sum = 0;
    there = 0;
    for (const key x : k) {
      const auto hit = t.view().find(x);
      sum += hit.probes();
      if constexpr (slot_type::is_set)
        there += hit.found();
      else
        there += hit.found() && hit.value() == static_cast<typename Design::mapped_type>(~x);
    }
    return static_cast<double>(sum) / static_cast<double>(k.size());
  }
  void expect_holds(const keys& k) const {
    u64 there = 0;
    buckets_read(k, there);
    EXPECT_EQ(there, k.size());
    EXPECT_EQ(t.size(), k.size());
  }

  // Every key is stored where its age says, once, and its home knows how far: exactly, if `tight`.
  void expect_order(bool tight) const {
    const Design d = t.view().design;
    std::vector<u32> farthest(d.capacity() / Design::bucket_slots, 1);
    std::set<key> seen;
    u32 widest = 1;
    for (u64 i = 0; i < d.capacity(); ++i) {
      const auto w = d.slots()[i];
      if (slot_type::is_free(w)) continue;
      const auto bits = d.key_at(i, w);
      const auto at = d.location_in(static_cast<u32>(i / Design::bucket_slots), w);
      ASSERT_EQ(d.locate(bits).home, at.home);
      ASSERT_EQ(d.homes().at(at.home, at.age), at.bucket);
      ASSERT_TRUE(seen.insert(slot_type::decode(bits)).second) << "a key stands twice";
      farthest[at.home] = std::max(farthest[at.home], at.age);
      widest = std::max(widest, at.age);
    }
    EXPECT_EQ(seen.size(), t.size());
    for (u64 home = 0; home < farthest.size(); ++home) {
      const u32 code = slot_type::max_code_in(*d.bucket_at(home));
      if (tight)
        ASSERT_EQ(code, Design::max_code(farthest[home])) << "home " << home;
      else
        ASSERT_GE(d.max_age(code), farthest[home]) << "home " << home;
    }
    EXPECT_GE(d.counters().widest(), widest == 1 ? 0 : widest);
  }
};

// ---- any load ---------------------------------------------------------------------------------------------

// Each with another seed and other keys.
template <class Design>
void expect_no_failure(u64 tables) {
  const double loads[] = {0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99};
  u64 restarts = 0;
  for (u64 i = 0; i < tables; ++i) {
    const double load = loads[i % 10];
    const u64 n = static_cast<u64>(load * 1024) + i % 300;
    subject<Design> s(n, load);
    const auto k = s.fresh_keys(n);
    const auto report = s.insert(k);
    ASSERT_EQ(report.inserted, n) << "load " << load << ", TILEHASH_SEED=" << run_seed();
    restarts += report.restarts;
    if (i % 16 == 0) {
      ASSERT_NO_FATAL_FAILURE(s.expect_holds(k));
    }
  }
  EXPECT_LE(restarts, tables / 100);
}
TEST(robin_hood_loads, of_many_builds) { expect_no_failure<lines>(scaled(4000, 100)); }
TEST(robin_hood_loads, of_many_builds_at_random) { expect_no_failure<scattered_lines>(scaled(2000, 50)); }
TEST(robin_hood_loads, of_many_builds_of_the_papers) { expect_no_failure<paper>(scaled(4000, 100)); }

template <class Design>
void expect_full(u64 n) {
  subject<Design> s(n, 1);
  const u64 capacity = s.t.capacity();
  EXPECT_LT(capacity, std::max<u64>(n + Design::bucket_slots, 1100));
  const auto k = s.fresh_keys(capacity);
  EXPECT_EQ(s.insert(k).inserted, capacity);
  ASSERT_NO_FATAL_FAILURE(s.expect_holds(k));
  ASSERT_NO_FATAL_FAILURE(s.expect_order(true));
  // And not one more.
  const auto more = s.fresh_keys(1000);
  EXPECT_EQ(s.insert(more).refused, more.size());
  EXPECT_EQ(s.insert(k).present, capacity);
  ASSERT_NO_FATAL_FAILURE(s.expect_holds(k));
}
TEST(robin_hood_loads, to_the_last_slot) {
  for (const u64 n : {u64(1), u64(2000), scaled(50'000, 5'000)}) {
    expect_full<lines>(n);
    expect_full<paper>(n);
    expect_full<robin_hood<u64, u32, 2, 1>>(n);
#if !TILEHASH_FEW_TYPES
    expect_full<robin_hood<u64, u64>>(n);
    expect_full<robin_hood<u32, void>>(n);
    expect_full<robin_hood<u32, u32, 8, 0>>(n);
#endif
  }
}
TEST(robin_hood_loads, more_keys_than_slots) {
  subject<lines> s(5'000, 0.99);
  auto k = s.fresh_keys(3 * s.t.capacity());
  std::vector<outcome> outcomes(k.size());
  const auto values = s.values_of(k);
  const auto report = s.t.insert(s.space, std::span<const u32>(k), std::span<const u32>(values), outcomes);
  EXPECT_EQ(report.inserted, s.t.capacity());
  EXPECT_EQ(report.refused, k.size() - s.t.capacity());
  for (u64 i = 0; i < k.size(); ++i)
    ASSERT_EQ(s.t.view().find(k[i]).found(), outcomes[i] != outcome::refused) << i;
}
TEST(robin_hood_loads, over_one_are_refused) {
  cpu space(1);
  for (const double load : {1.01, 2.0, 0.0, -1.0}) {
    try {
      table<lines, cpu> t(space, 100, {.load_factor = load});
      FAIL() << load;
    } catch (const invalid_argument& e) {
      EXPECT_STREQ(e.what(), "tilehash: the load factor must be above 0 and at most 1");
    }
  }
  table<lines, cpu> t(space, 100, {.load_factor = 1});
}

// ---- ages -------------------------------------------------------------------------------------------------

// The paper's figure 3: 2^20 keys of 2^24, load 0.8. Oldest: 46 without Robin Hood's rule, 5 with it.
struct figure_3 {
  static constexpr u64 n = u64(1) << 20, slots = n * 10 / 8;
  std::vector<u32> keys, key_of = std::vector<u32>(slots), age_of = std::vector<u32>(slots, 0);

  figure_3() {
    std::mt19937_64 random(run_seed());
    std::vector<bool> is(u64(1) << 24);
    while (keys.size() < n) {
      const u32 k = static_cast<u32>(random() >> 40);
      if (!is[k]) is[k] = true, keys.push_back(k);
    }
  }
  // The oldest age, by a sequence of the key's own or one that all keys of a home share.
  template <class Sequence>
  u32 oldest(bool robin_hood, const Sequence& slot_of) {
    std::ranges::fill(age_of, 0);
    u32 widest = 0;
    for (u32 k : keys) {
      for (u32 age = 1;; ++age) {
        const u64 at = slot_of(k, age);
        if (age_of[at] != 0 && !(robin_hood && age_of[at] < age)) continue;
        std::swap(k, key_of[at]);
        std::swap(age, age_of[at]);
        widest = std::max(widest, age_of[at]);
        if (age == 0) break;
      }
    }
    return widest;
  }
};
TEST(robin_hood_ages, figure_3) {
  figure_3 f;
  const auto own = [&](u32 k, u32 age) { return fast_range(mix64(u64(age) << 32 | k), figure_3::slots); };
  const u32 plain = f.oldest(false, own), fair = f.oldest(true, own);
  // In m slots, m 0.8^(k + 1) / (k + 1) keys go further than k: one table in 10^4 leaves these bounds.
  EXPECT_GE(plain, 36U);
  EXPECT_LE(plain, 85U);
  EXPECT_GE(fair, 4U);
  EXPECT_LE(fair, 6U);
  // The paper's formula has all keys of a home go the same way, so no two of them have one age: the oldest is
  // as old as the fullest home has keys, at least.
  std::vector<u32> at_home(figure_3::slots);
  for (const u32 k : f.keys) ++at_home[k % figure_3::slots];
  const u32 fullest = *std::ranges::max_element(at_home);
  const auto shared = [&](u32 k, u32 age) {
    return (k + (age == 1 ? 0 : fast_range(mix64(age), figure_3::slots))) % figure_3::slots;
  };
  EXPECT_GE(f.oldest(false, shared), 36U);
  const u32 coherent_oldest = f.oldest(true, shared);
  EXPECT_GE(coherent_oldest, fullest);
  EXPECT_LE(coherent_oldest, fullest + 5);

  subject<paper> ours(figure_3::n, 0.8);
  ASSERT_EQ(ours.insert(f.keys).inserted, figure_3::n);
  const auto ages = papers::age_histogram(ours.space, ours.t);
  EXPECT_LE(ages.size() - 1, coherent_oldest + 3);
  EXPECT_EQ(ages[0], ours.t.capacity() - figure_3::n);
  EXPECT_EQ(papers::widest_age(ours.space, ours.t), ages.size() - 1);
  subject<lines> in_lines(figure_3::n, 0.8);
  ASSERT_EQ(in_lines.insert(f.keys).inserted, figure_3::n);
  EXPECT_LE(papers::widest_age(in_lines.space, in_lines.t), 4U);
}

// Random keys; found, not found and the oldest, within what a table of 2 * 10^5 varies by, by its keys and by
// the draw of its offsets. (With any draw one nearly full table in a thousand read a fifth more.)
template <class Design>
void expect_ages(double load, double found, double not_found, u32 oldest) {
  SCOPED_TRACE(std::to_string(Design::bucket_slots) + " slots, load " + std::to_string(load));
  subject<Design> s(200'000, load);
  const auto k = s.fresh_keys(200'000), others = s.fresh_keys(200'000);
  ASSERT_EQ(s.insert(k).inserted, k.size());
  const double varies = load > 0.95 ? 0.15 : 0.06;
  u64 there = 0;
  EXPECT_NEAR(s.buckets_read(k, there), found, varies * found);
  EXPECT_EQ(there, k.size());
  EXPECT_NEAR(s.buckets_read(others, there), not_found, varies * not_found);
  EXPECT_EQ(there, 0U);
  EXPECT_LE(papers::widest_age(s.space, s.t), oldest);
  ASSERT_NO_FATAL_FAILURE(s.expect_order(true));
}
TEST(robin_hood_ages, of_random_keys) {
  expect_ages<lines>(0.5, 1.009, 1.023, 3);
  expect_ages<lines>(0.8, 1.143, 1.32, 4);
  expect_ages<lines>(0.9, 1.35, 1.64, 5);
  expect_ages<lines>(0.99, 2.13, 2.65, 7);
  expect_ages<paper>(0.5, 1.43, 1.18, 11);
  expect_ages<paper>(0.9, 2.8, 2.12, 15);
  expect_ages<scattered_paper>(0.9, 2.8, 2.12, 15);
  expect_ages<scattered_lines>(0.9, 1.35, 1.64, 5);
}

// A key takes the slot of a younger one, and of no other: of keys of one home the last goes on.
TEST(robin_hood_ages, equal_ones_stay) {
  subject<lines> s(10'000, 0.5);
  const auto home_of = [&](u32 k) { return s.t.view().design.locate(lines::slot_type::encode(k)).bucket; };
  std::vector<u32> keys = s.fresh_keys(1);
  while (keys.size() <= lines::bucket_slots) {
    const u32 k = s.fresh_keys(1)[0];
    if (home_of(k) == home_of(keys[0])) keys.push_back(k);
  }
  for (const u32 k : keys) ASSERT_EQ(s.insert({k}).inserted, 1U);
  for (const u32 k : keys) EXPECT_EQ(s.t.view().find(k).probes(), k == keys.back() ? 2U : 1U);
}

// No few steps by offsets of the first ages, on and back, lead to where they began, and the first two lead
// everywhere, whatever the seed and the number of buckets: draws that do are passed over.
template <class Design>
void expect_leads_nowhere_back(u64 buckets, int steps) {
  SCOPED_TRACE(std::to_string(buckets) + " buckets");
  for (u64 seed = 0; seed < 50; ++seed) {
    const auto homes = Design(nullptr, buckets * Design::bucket_slots, run_seed() + seed).homes();
    ASSERT_EQ(homes.buckets(), buckets);
    const auto n = static_cast<std::int64_t>(buckets);
    const std::int64_t by[] = {homes.at(0, 2), homes.at(0, 3), homes.at(0, 4)};
    const u64 of_groups = std::gcd(buckets, Design::group_buckets);
    EXPECT_LE(std::gcd(n, std::gcd(by[0], by[1])), buckets < (1U << 15) ? 1 : of_groups);
    for (int a = -steps; a <= steps; ++a) {
      for (int b = -steps; b <= steps; ++b) {
        for (int c = -steps; c <= steps; ++c) {
          const int in_all = std::abs(a) + std::abs(b) + std::abs(c);
          if (in_all == 0 || in_all > steps) continue;
          ASSERT_NE((a * by[0] + b * by[1] + c * by[2]) % n, 0)
              << "seed " << run_seed() << " + " << seed << ": " << a << ' ' << b << ' ' << c;
        }
      }
    }
  }
}
TEST(robin_hood_ages, offsets_lead_nowhere_back) {
  expect_leads_nowhere_back<lines>(600, 4);
  expect_leads_nowhere_back<lines>(6314, 6);  // 2 * 7 * 11 * 41
  expect_leads_nowhere_back<lines>(30030, 8);
  expect_leads_nowhere_back<scattered_lines>(25253, 8);
  expect_leads_nowhere_back<paper>(24177240, 8);
  expect_leads_nowhere_back<robin_hood<u64, u64, 2, 1>>(40000, 8);
}

// A lookup that fails reads as many buckets as its home says, and that is how far the home's keys have gone.
TEST(robin_hood_ages, failed_lookups_stop_early) {
  subject<paper> s(50'000, 0.95);
  ASSERT_EQ(s.insert(s.fresh_keys(50'000)).inserted, 50'000U);
  const auto d = s.t.view().design;
  const auto farthest = papers::max_ages(s.space, s.t);
  for (const u32 k : s.fresh_keys(10'000)) ASSERT_EQ(s.t.view().find(k).probes(), farthest[d.locate(k).home]);
}

// With fewer bits for the maximum, or none, present keys are found as soon, and absent keys are not found.
TEST(robin_hood_ages, quantised_and_left_out) {
  const auto read = [](auto subject) {
    const auto k = subject.fresh_keys(40'000), others = subject.fresh_keys(40'000);
    EXPECT_EQ(subject.insert(k).inserted, k.size());
    EXPECT_NO_FATAL_FAILURE(subject.expect_order(true));
    u64 there = 0;
    const double found = subject.buckets_read(k, there);
    EXPECT_EQ(there, k.size());
    const double not_found = subject.buckets_read(others, there);
    EXPECT_EQ(there, 0U);
    return std::pair(found, not_found);
  };
  const auto [found_4, missed_4] = read(subject<robin_hood<u32, u32, 1, 4>>(40'000, 0.9));
  const auto [found_2, missed_2] = read(subject<robin_hood<u32, u32, 1, 2>>(40'000, 0.9));
  const auto [found_0, missed_0] = read(subject<robin_hood<u32, u32, 1, 0>>(40'000, 0.9));
  EXPECT_NEAR(found_2, found_4, 0.2);
  EXPECT_NEAR(found_0, found_4, 0.2);
  EXPECT_LT(missed_4, missed_2);
  EXPECT_LT(missed_2, missed_0);
}

// ---- many at once -----------------------------------------------------------------------------------------

// Counts decide each key's slot (robin_hood/build.hpp), and single inserts give the same slots. (By hand,
// as a CPU's tables of single slots are not built so.)
template <class Design>
void expect_same_ages(u64 n, double load) {
  SCOPED_TRACE("load " + std::to_string(load));
  using word = typename Design::word;
  using slot_type = typename Design::slot_type;
  subject<Design> one_by_one(n, load);
  const auto keys = one_by_one.fresh_keys(n);
  const auto values = one_by_one.values_of(keys);
  ASSERT_EQ(one_by_one.insert(keys).inserted, n);
  const Design model = one_by_one.t.view().design;

  cpu& space = one_by_one.space;
  const buffer<char, cpu> memory(space, Design::bytes(model.capacity()));
  space.fill(memory.data(), memory.size(), char(0));
  const Design d(memory.data(), model.capacity(), run_seed() ^ n, load);
  ASSERT_EQ(d.locate(keys[0]).home, model.locate(keys[0]).home);
  space.fill(d.slots(), d.capacity(), static_cast<word>(~word(0)));  // it may have anything in it
  std::vector<word> left(n);
  u64 lefts = 0, illegal = 0, inserted = 0;
  d.bulk_build().run(space, detail::array_source<slot_type>{keys.data(), values.data()}, n,
                     detail::spill_list<word>{left.data(), &lefts, n}, &illegal, &inserted);
  EXPECT_EQ(inserted + lefts, n);
  EXPECT_EQ(illegal, 0U);
  EXPECT_LE(lefts,
            load < 0.9 ? n / 1000 : n / 32);  // a key that evicts another is followed by it, so few are left
  const detail::routed_source<Design> rest{d, left.data()};
  for (u64 i = 0; i < lefts; ++i) {
    const auto x = rest(i);
    ASSERT_EQ(d.insert(solo_tile{}, x.key.bits, x.value, true).what, insert_state::inserted);
  }
  for (u64 i = 0; i < d.capacity(); ++i) {
    const word ours = d.slots()[i], its = model.slots()[i];
    ASSERT_EQ(d.age_in(ours), model.age_in(its)) << i;
    ASSERT_EQ(slot_type::max_code_in(ours), slot_type::max_code_in(its)) << i;
  }
  EXPECT_EQ(d.counters().widest(), model.counters().widest());
  for (u64 i = 0; i < n; ++i) {
    const auto hit = table_view<Design>(memory.data(), d.capacity(), run_seed() ^ n, load).find(keys[i]);
    ASSERT_TRUE(hit.found());
    ASSERT_EQ(hit.value(), values[i]);
  }
}
TEST(robin_hood_bulk, gives_what_inserts_give) {
  for (const double load : {0.5, 0.85, 0.97}) {
    expect_same_ages<paper>(50'000, load);
    expect_same_ages<scattered_paper>(50'000, load);
  }
#if !TILEHASH_FEW_TYPES
  expect_same_ages<robin_hood<u64, u64, 1>>(50'000, 0.9);
#endif
}

// Homes with more keys than are counted, and keys that come often, into a table that was in use.
template <class Design>
void expect_crowded_homes() {
  subject<Design> s(50'000, 0.9);
  auto k = s.fresh_keys(40'000);
  ASSERT_EQ(s.insert(k).inserted, k.size());
  ASSERT_EQ(s.erase(k), k.size());
  const auto d = s.t.view().design;
  const u32 wanted = d.locate(k[0]).home;
  k = {};
  for (u64 found = 0; found < 60;) {  // of one home
    const auto some = s.fresh_keys(1);
    const bool is = d.locate(some[0]).home == wanted;
    found += is;
    if (is || k.size() < 40'000) k.push_back(some[0]);
  }
  const u64 n = k.size();
  for (u64 i = 0; i < n / 10; ++i) k.push_back(k[i]);
  for (u64 i = 0; i < 2'000; ++i) k.push_back(k[n - 1]);
  const auto report = s.insert(k);
  EXPECT_EQ(report.inserted, n);
  EXPECT_EQ(report.present, k.size() - n);
  k.resize(n);
  ASSERT_NO_FATAL_FAILURE(s.expect_holds(k));
  ASSERT_NO_FATAL_FAILURE(s.expect_order(true));
  // The count is right: as many more keys find a slot as are free.
  const auto more = s.fresh_keys(s.t.capacity() - n + 100);
  EXPECT_EQ(s.insert(more).refused, 100U);
}
TEST(robin_hood_bulk, crowded_homes_and_copies) {
  expect_crowded_homes<paper>();
  expect_crowded_homes<lines>();
#if !TILEHASH_FEW_TYPES
  expect_crowded_homes<robin_hood<u32, u32, 2>>();
  expect_crowded_homes<robin_hood<u64, u32, 4, 0>>();
#endif
}

// ---- neighbours -------------------------------------------------------------------------------------------

// A home and the key's other bits give the key back, in tables of any size.
template <class Design>
void expect_keys_back() {
  using key_bits = typename Design::key_bits;
  std::mt19937_64 random(run_seed());
  for (const u64 items : {u64(0), u64(5'000), u64(1) << 15, u64(3) << 22, (u64(1) << 30) + 12'345}) {
    const Design d(nullptr, Design::capacity_for(items, 0.9), random());
    for (u32 i = 0; i < 2'000; ++i) {
      const auto key = static_cast<key_bits>(i < 100 ? i : i < 200 ? ~u64(i) : random());
      auto p = d.locate(key);
      ASSERT_LT(p.home, d.capacity() / Design::bucket_slots);
      ASSERT_EQ(d.key_of(p), key);
      for (u32 age = 1; age <= d.max_steps(); age += 1 + age / 4) {
        const auto at = d.homes().at(p.home, age);
        ASSERT_EQ(d.homes().home_of(at, age), p.home);
        const auto stored = d.homes().stored_as(age, p.remainder);
        ASSERT_EQ(d.homes().age_of(stored), age);
        ASSERT_EQ(d.homes().remainder_of(stored), p.remainder);
      }
    }
  }
}
TEST(robin_hood_homes, give_keys_back) {
  expect_keys_back<lines>();
  expect_keys_back<paper>();
  expect_keys_back<scattered_lines>();
  expect_keys_back<robin_hood<u64, u64>>();
  expect_keys_back<papers::robin_hood_random<u64, void, 1>>();
  expect_keys_back<robin_hood<u32, void>>();
}

// 32 keys side by side, as a warp has them: how many lines of 64 bytes do they read at an age?
template <class Design>
double lines_a_warp(u32 age) {
  const Design d(nullptr, Design::capacity_for(u64(1) << 20, 0.9), run_seed());
  u64 sum = 0;
  for (u32 warp = 0; warp < 2'000; ++warp) {
    std::set<u64> read;
    for (u32 lane = 0; lane < 32; ++lane) {
      const auto p = d.locate(mix32(warp) / 32 * 32 + lane);
      read.insert(u64(d.homes().at(p.home, age)) * Design::bucket_slots / 8);
    }
    sum += read.size();
  }
  return static_cast<double>(sum) / 2'000;
}
TEST(robin_hood_homes, keep_neighbours_together) {
  for (const u32 age : {1U, 2U, 7U, 15U}) {
    EXPECT_LT(lines_a_warp<lines>(age), 4.01);
    EXPECT_LT(lines_a_warp<paper>(age), 5.01);
    EXPECT_GT(lines_a_warp<scattered_lines>(age), 31);
    EXPECT_GT(lines_a_warp<scattered_paper>(age), 31);
  }
}

// ---- erasing ----------------------------------------------------------------------------------------------

// A tenth of the items goes and others come, a hundred times: lookups read at most 5 % more buckets than in a
// table freshly made of the same items.
template <class Design>
void expect_no_decay(double load) {
  SCOPED_TRACE(std::to_string(Design::bucket_slots) + " slots, load " + std::to_string(load));
  const u64 n = scaled(50'000, 5'000), rounds = scaled(100, 20);
  subject<Design> s(n, load);
  auto k = s.fresh_keys(n);
  ASSERT_EQ(s.insert(k).inserted, n);
  std::mt19937_64 random(run_seed());
  for (u64 r = 0; r < rounds; ++r) {
    std::ranges::shuffle(k, random);
    const typename subject<Design>::keys gone(k.end() - static_cast<std::ptrdiff_t>(n / 10), k.end());
    ASSERT_EQ(s.erase(gone), gone.size());
    const auto come = s.fresh_keys(gone.size());
    const auto report = s.insert(come);
    ASSERT_EQ(report.inserted, come.size());
    ASSERT_EQ(report.restarts, 0U);
    std::ranges::copy(come, k.end() - static_cast<std::ptrdiff_t>(n / 10));
  }
  ASSERT_NO_FATAL_FAILURE(s.expect_order(false));
  subject<Design> fresh(n, load);
  ASSERT_EQ(fresh.insert(k).inserted, n);
  const auto others = s.fresh_keys(n);
  u64 there = 0;
  const double found = s.buckets_read(k, there) / fresh.buckets_read(k, there);
  EXPECT_EQ(there, n);
  const double not_found = s.buckets_read(others, there) / fresh.buckets_read(others, there);
  EXPECT_EQ(there, 0U);
  EXPECT_LT(found, 1.05);
  EXPECT_LT(not_found, 1.05);
  testing::Test::RecordProperty("found", std::to_string(found));
  testing::Test::RecordProperty("not_found", std::to_string(not_found));
}
TEST(robin_hood_erase, keeps_lookups_short) {
  expect_no_decay<lines>(0.9);
  expect_no_decay<scattered_lines>(0.95);
  expect_no_decay<paper>(0.9);
#if !TILEHASH_FEW_TYPES
  expect_no_decay<robin_hood<u64, u64>>(0.9);
#endif
}

// When few items are left, each is at home, and no home says otherwise.
TEST(robin_hood_erase, brings_all_home) {
  const u64 n = scaled(50'000, 5'000);
  subject<lines> s(n, 0.99);
  auto k = s.fresh_keys(n);
  ASSERT_EQ(s.insert(k).inserted, n);
  while (k.size() > n / 10) {
    const std::vector<u32> gone(k.end() - static_cast<std::ptrdiff_t>(n / 10), k.end());
    ASSERT_EQ(s.erase(gone), gone.size());
    k.resize(k.size() - gone.size());
    ASSERT_NO_FATAL_FAILURE(s.expect_holds(k));
    ASSERT_NO_FATAL_FAILURE(s.expect_order(false));
  }
  EXPECT_EQ(papers::widest_age(s.space, s.t), 1U);
  ASSERT_NO_FATAL_FAILURE(s.expect_order(true));
}

// Right whether tidied or not: a table filled, emptied in part and filled by small calls.
template <class Design>
void expect_model(u64 seed) {
  std::mt19937_64 random(seed);
  subject<Design> s(3'000, 0.95);
  std::unordered_map<typename Design::key_type, bool> model;
  for (u32 call = 0; call < 60; ++call) {
    std::vector<typename Design::key_type> k(1 + random() % 400);
    for (auto& x : k) x = static_cast<typename Design::key_type>(random() % 4'000 * 0x01000193U);
    u64 changed = 0;
    if (random() % 2 == 0 && model.size() + k.size() < 3'000) {
      for (const auto x : k) changed += model.emplace(x, true).second;
      ASSERT_EQ(s.insert(k).inserted, changed);
    } else {
      for (const auto x : k) changed += model.erase(x);
      ASSERT_EQ(s.erase(k), changed);
    }
    ASSERT_EQ(s.t.size(), model.size());
    ASSERT_NO_FATAL_FAILURE(s.expect_order(false));
    for (u32 i = 0; i < 4'000; ++i) {
      const auto x = static_cast<typename Design::key_type>(i * 0x01000193U);
      ASSERT_EQ(s.t.view().find(x).found(), model.contains(x)) << x;
    }
  }
}
TEST(robin_hood_erase, by_small_calls) {
  for (u64 seed = run_seed(), last = seed + scaled(8, 2); seed < last; ++seed) {
    expect_model<lines>(seed);
    expect_model<paper>(seed);
    expect_model<robin_hood<u32, u32, 1, 0>>(seed);
    expect_model<papers::robin_hood_random<u64, void>>(seed);
  }
}

// ---- keys made up to meet ---------------------------------------------------------------------------------

// Different keys of one home.
template <class Design>
std::vector<u32> meeting_keys(const Design& d, u64 n) {
  std::vector<u32> k;
  const u32 home = d.locate(0).home;
  for (u32 x = 0; k.size() < n; ++x) {
    if (d.locate(x).home == home) k.push_back(x);
  }
  return k;
}
// More than ages can distinguish: the table takes other homes, and says so, even if it may not grow.
template <class Design>
void expect_restart(u64 items, u64 n, u64 restarts) {
  for (const bool grow : {false, true}) {
    subject<Design> s(items, 0.9, grow);
    const auto k = meeting_keys(s.t.view().design, n);
    const u64 slots = s.t.capacity();
    const auto report = s.insert(k);
    EXPECT_EQ(report.inserted, n);
    EXPECT_GE(report.restarts, restarts);
    EXPECT_LE(report.restarts, restarts * 3);
    EXPECT_LE(s.t.capacity(), 2 * slots);
    ASSERT_NO_FATAL_FAILURE(s.expect_holds(k));
    ASSERT_NO_FATAL_FAILURE(s.expect_order(false));
  }
}
TEST(robin_hood_flood, of_one_home) {
  expect_restart<paper>(1000, 100, 1);       // of 1111 slots, ages up to 63
  expect_restart<lines>(900, 300, 1);        // of 128 buckets, ages up to 15
  expect_restart<paper>(100'000, 200, 0);    // up to 255
  expect_restart<lines>(300'000, 2'000, 0);  // 250 buckets full of them
}

}  // namespace
}  // namespace tilehash
