// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <set>

#include <tilehash/designs/horton.hpp>
#include <tilehash/papers/horton/queued_lookup.hpp>
#include <tilehash/space/cpu.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

// clang-format off
using types = testing::Types<
#if !TILEHASH_FEW_TYPES
    with_width<horton<u32, u32>, 4>,
    with_width<horton<u32, u32, 4>, 1>,
    with_width<horton<u64, u64, 8, repatriation::lazy>, 8>,
    with_width<horton<u16, u8>, 32>,
    with_width<horton<u32, void>, 16>,
#endif
    with_width<horton<double, std::int64_t>, 8>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(Horton, EmulatedDesign, types);

TEST(HortonBuild, ByRegions) {
  build_by_regions<horton<u32, u32>>(33'000, pattern::distinct, 0.9, 1);
#if !TILEHASH_FEW_TYPES
  build_by_regions<horton<u32, u32, 4>>(33'000, pattern::some_twice, 0.85, 2);
  build_by_regions<horton<u32, void>>(50'000, pattern::some_twice, 0.9, 3);
  build_by_regions<horton<u32, u32>>(40'001, pattern::few, 0.5, 4);
  build_by_regions<horton<u32, u32>>(33'000, pattern::all_equal, 0.9, 5);
#endif
}

TEST(HortonBuild, MergesByRegions) {
  merge_by_regions<horton<u32, u32>>(43'000, pattern::distinct, 0.9, 10'000, 1);
#if !TILEHASH_FEW_TYPES
  merge_by_regions<horton<u32, void>>(66'000, pattern::some_twice, 0.9, 33'000, 2);
  merge_by_regions<horton<u32, u32>>(43'000, pattern::few, 0.5, 10'000, 3);
  merge_by_regions<horton<u32, u32, 4>>(43'000, pattern::some_twice, 0.85, 2'000, 4);
#endif
}

// An empty table is filled by regions without a wait; one that holds items is not, as no merge assigns here.
TEST(HortonAsync, InsertsAndAssigns) {
  constexpr u32 n = 33'000;
  emulated space({.seed = 6, .preempt = true});
  table<with_width<horton<u32, u32>, 4>, emulated> t(space, n, {.load_factor = 0.9, .grow = false});
  std::vector<u32> numbers(n), more(n);
  for (u32 i = 0; i < n; ++i) numbers[i] = i * 7 + 1, more[i] = numbers[i] + 5;
  const buffer<u32, emulated> keys(space, numbers), values(space, more), out(space, n);
  const buffer<u8, emulated> found(space, n);
  const buffer<insert_report, emulated> report(space, 2);
  t.insert_async(space, keys.span(), keys.span(), report.data());
  t.insert_or_assign_async(space, keys.first(n / 2), values.first(n / 2), report.data() + 1);
  const auto reports = report.to_host();
  EXPECT_EQ(reports[0].inserted, n);
  EXPECT_EQ(reports[0].refused, 0U);
  EXPECT_EQ(reports[1].inserted, 0U);
  EXPECT_EQ(reports[1].present, n / 2);
  EXPECT_EQ(t.size(), n);
  t.find(space, keys.span(), out.span(), flags(found.data(), n));
  const std::vector<u32> got = out.to_host();
  const std::vector<u8> is = found.to_host();
  for (u32 i = 0; i < n; ++i) {
    ASSERT_TRUE(is[i]) << i;
    ASSERT_EQ(got[i], i < n / 2 ? more[i] : numbers[i]) << i;
  }
}

// Half of the keys are absent. With one round the queues are read at the end alone, with many rounds also when they are full.
TEST(HortonLookup, ByQueuesInSharedMemory) {
  constexpr u32 n = 6'000, all = 2 * n;
  emulated space({.seed = 8, .preempt = true});
  table<with_width<horton<u32, u32>, 4>, emulated> t(space, n, {.load_factor = 0.95, .grow = false});
  std::vector<u32> numbers(all);
  for (u32 i = 0; i < all; ++i) numbers[i] = i * 7 + 1;
  const buffer<u32, emulated> keys(space, numbers), out(space, all);
  ASSERT_EQ(t.insert(space, keys.first(n), keys.first(n)).refused, 0U);
  for (const u32 rounds : {1U, 16U}) {
    space.fill(out.data(), all, u32(7));
    papers::find_by_queues(space, t, keys.data(), all - 3, out.data(), u32(2), rounds);
    const std::vector<u32> got = out.to_host();
    for (u32 i = 0; i < all; ++i)
      ASSERT_EQ(got[i], i < n ? numbers[i] : i < all - 3 ? 2U : 7U) << rounds << " " << i;
  }
  EXPECT_THROW(papers::find_by_queues(space, t, keys.data(), all, out.data(), u32(2), 0), invalid_argument);
}

// A table of one region, which a block builds and erases from.
struct one_region {
  using design = horton<u32, u32>;
  using build = design::region_build<>;
  using word = design::word;
  struct count {
    u64* sum;
    TILEHASH_FN void operator()(u32 /*region*/, u32 n) const { *sum += n; }
  };

  emulated space;
  const u64 capacity = design::capacity_for(300, 0.9);
  const buffer<u32, emulated> memory;
  design d;
  u64 counted = 0, left = 0;  // by the last call; items that found no place
  std::vector<word> spilled;

  explicit one_region(u64 seed)
      : space({.seed = seed, .preempt = true}), memory(space, design::bytes(capacity) / sizeof(u32)) {
    space.fill(memory.data(), memory.size(), 0U);
    d = design(memory.data(), capacity, seed, 0.9);
  }
  static word item(const design& d, u32 key, u32 value) { return build::entry::pack(d.hash(key), value); }

  void fill(const std::vector<word>& items, bool merges = false) {
    const auto n = static_cast<u32>(items.size());
    const buffer<word, emulated> bin(space, items), rest(space, n);
    const buffer<u32, emulated> bin_fill(space, std::vector<u32>{n});
    counted = left = 0;
    space.for_each_block(
        1, 32, build::scratch_bytes(d.region_buckets()),
        build{d, {bin.data(), n, bin_fill.data()}, 0, merges, {rest.data(), &left, n}, &counted});
    spilled.assign(rest.data(), rest.data() + left);
  }
  void erase(const std::vector<u32>& hashes) {
    using bins = detail::even_bins<u32>;
    using work = design::region_erase<bins, count>;
    const auto n = static_cast<u32>(hashes.size());
    const buffer<u32, emulated> bin(space, hashes), bin_fill(space, std::vector<u32>{n});
    counted = 0;
    space.for_each_block(1, 32, work::scratch_bytes(d.region_buckets()),
                         work{d, bins{bin.data(), n, bin_fill.data()}, count{&counted}});
  }

  // How often each key is stored in it, with its value; every item is where its entry says.
  std::unordered_map<u32, std::vector<u32>> items() const {
    std::unordered_map<u32, std::vector<u32>> all;
    for (u64 i = 0; i < capacity; ++i) {
      const word w = d.slots()[i];
      if (!design::holds(i, w)) continue;
      all[d.key_at(i, w)].push_back(design::slot_type::value_of(w));
      const auto at = d.location_in(static_cast<u32>(i / design::bucket_slots), w);
      if (at.function() == 0) continue;
      const word entries = d.bucket_at(d.where(d.primary_of(at)))[design::last_slot];
      EXPECT_TRUE(design::slot_type::is_remap(entries));
      EXPECT_EQ(design::slot_type::entry(entries, at.tag()), at.function());
    }
    return all;
  }
  // Items that are not stored in their primary bucket.
  u64 away() const {
    u64 n = 0;
    for (u64 i = 0; i < capacity; ++i) {
      const word w = d.slots()[i];
      n +=
          design::holds(i, w) && d.location_in(static_cast<u32>(i / design::bucket_slots), w).function() != 0;
    }
    return n;
  }
  // Entries that are set, and buckets and tags that items are away from: as many, if all are used.
  std::pair<u64, u64> entries() const {
    u64 set = 0;
    std::set<std::pair<u32, u32>> used;
    for (u64 i = 0; i < capacity; ++i) {
      const word w = d.slots()[i];
      for (u32 tag = 0; design::slot_type::is_remap(w) && tag < design::slot_type::entries; ++tag)
        set += design::slot_type::entry(w, tag) != 0;
      if (!design::holds(i, w)) continue;
      const auto at = d.location_in(static_cast<u32>(i / design::bucket_slots), w);
      if (at.function() != 0) used.insert({d.where(d.primary_of(at)), at.tag()});
    }
    return {set, used.size()};
  }
};

// A merge into a region where many items are away from their primary buckets. New items have keys that are present, too.
// The values of these stay. Where the region cannot take all new keys, it stays as it was, and all new items are left.
TEST(HortonBuild, AMergeKeepsWhatIsStored) {
  u64 stayed = 0, took = 0;
  for (u64 seed = 1; seed <= (small() ? 40U : 200U); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    one_region r(seed);
    const auto keys = make_keys<u32>(r.capacity, pattern::distinct, seed << 32);
    const u64 held = r.capacity * (55 + seed % 30) / 100, asked = held + r.capacity * (1 + seed % 13) / 100;
    std::vector<one_region::word> first, second;
    for (u64 i = 0; i < held; ++i) first.push_back(one_region::item(r.d, keys[i], 1));
    r.fill(first);
    const auto before = r.items();
    for (u64 i = 0; i < asked; ++i) second.push_back(one_region::item(r.d, keys[i], 2));
    std::shuffle(second.begin(), second.end(), std::mt19937_64(seed));
    r.fill(second, true);
    const auto after = r.items();
    for (const auto& [key, values] : before) EXPECT_EQ(after.at(key), values);
    const std::set<one_region::word> left(r.spilled.begin(), r.spilled.end());
    for (u64 i = 0; i < asked; ++i) {
      const auto at = after.find(keys[i]);
      const bool stored = at != after.end();
      EXPECT_TRUE(stored || left.contains(one_region::item(r.d, keys[i], 2))) << "a new key is lost";
      if (stored && !before.contains(keys[i])) {
        EXPECT_EQ(at->second, std::vector<u32>{2});
      }
    }
    const u64 came = after.size() - before.size();
    EXPECT_EQ(r.counted, came);
    if (r.left == second.size()) {
      EXPECT_EQ(came, 0U);
      ++stayed;
    }
    took += came != 0;
  }
  EXPECT_GT(stayed, 0U);
  EXPECT_GT(took, 0U);
}

// Copies of a key that find no slot at home may part: one takes the last that their entry leads to, and
// another, which finds no slot there, would take the slot of an item at home. The build's step 6 looks where
// the first one is stored.
TEST(HortonBuild, CopiesThatPartBecomeOne) {
  for (u64 seed = 1; seed <= (small() ? 60U : 200U); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    one_region r(seed);
    ASSERT_EQ(r.d.regions(), 1U);
    const auto keys = make_keys<u32>(r.capacity * 31 / 32, pattern::distinct, seed << 32);
    std::vector<one_region::word> items;
    for (u32 i = 0; i < keys.size(); ++i)
      items.insert(items.end(), i % 3 == 0 ? 2 : 1, one_region::item(r.d, keys[i], i));
    std::shuffle(items.begin(), items.end(), std::mt19937_64(seed));
    r.fill(items);

    auto held = r.items();
    for (const auto& [key, values] : held) EXPECT_EQ(values.size(), 1U) << key;
    EXPECT_EQ(r.counted, held.size());
    for (const auto e : r.spilled) held[r.d.unhash(one_region::build::entry::hash_of(e))] = {0};
    EXPECT_EQ(held.size(), keys.size()) << "a key is lost";
  }
}

// Copies of one key: those that find no slot fill the list of unplaced items, and what exceeds it
// goes to the caller.
TEST(HortonBuild, ListsThatAreFull) {
  const u32 key = 77;
  one_region r(1);
  const u64 capacity =
      one_region::build::layout::most_unplaced(r.d.region_buckets()) + one_region::design::bucket_slots;
  for (u64 n = capacity - 2; n <= capacity + 3; ++n) {
    SCOPED_TRACE(n);
    r.fill(std::vector<one_region::word>(n, one_region::item(r.d, key, 5)));
    EXPECT_EQ(r.spilled.size(), n < capacity ? 0 : n - capacity);
    EXPECT_EQ(r.counted, 1U);
    EXPECT_EQ(r.items(), (std::unordered_map<u32, std::vector<u32>>{{key, {5}}}));
  }
}

// A key that occurs twice counts once; keys that stay keep their values, no entry is kept that leads nowhere,
// and as few items are away from home as in a region built of them alone.
TEST(HortonErase, ByRegions) {
  u64 away = 0, of_fresh = 0;
  for (u64 seed = 1; seed <= (small() ? 20U : 60U); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    one_region r(seed);
    const auto keys = make_keys<u32>(300, pattern::distinct, seed << 32);
    const auto strangers = make_keys<u32>(100, pattern::distinct, seed << 32 | 1);
    std::vector<one_region::word> items;
    for (u32 i = 0; i < keys.size(); ++i) items.push_back(one_region::item(r.d, keys[i], i));
    r.fill(items);
    auto expected = r.items();
    EXPECT_GT(r.entries().first, 0U);

    std::vector<u32> gone;
    u64 were_there = 0;
    for (u32 i = 0; i < keys.size(); ++i) {
      if (i % 5 >= seed % 5) continue;
      were_there += expected.erase(keys[i]);
      gone.insert(gone.end(), i % 3 == 0 ? 2 : 1, r.d.hash(keys[i]));
    }
    for (const u32 key : strangers) {
      if (!expected.contains(key)) gone.push_back(r.d.hash(key));
    }
    std::shuffle(gone.begin(), gone.end(), std::mt19937_64(seed));
    r.erase(gone);
    EXPECT_EQ(r.counted, were_there);
    EXPECT_EQ(r.items(), expected);
    const auto [set, used] = r.entries();
    EXPECT_EQ(set, used) << "entries that lead nowhere";
    if (seed % 5 == 4) {
      EXPECT_EQ(set, 0U) << "a fifth of the items need no entry";
    }

    away += r.away();
    one_region fresh(seed);
    items.clear();
    for (const auto& [key, values] : expected) items.push_back(one_region::item(r.d, key, values[0]));
    fresh.fill(items);
    of_fresh += fresh.away();
  }
  EXPECT_GT(of_fresh, 0U);
  EXPECT_LE(away, of_fresh + of_fresh / 20);
}

// Keys to erase that do not fit their bin fill the list of such, or are one too many for it.
TEST(HortonErase, ListsThatAreFull) {
  using design = horton<u32, u32>;
  using slot = design::slot_type;
  cpu space(2);
  const u64 n = 79 * 512;  // so that the list ends with a line of memory
  table<design, cpu> t(space, 100'000, {.load_factor = 0.9, .seed = 5, .grow = false});
  const design d = t.view().design;
  ASSERT_TRUE((detail::region_erase<design, cpu>::pays(space, d, n)));
  const u32 often = 77;
  const auto region_of = [&](u32 key) { return d.region_of(d.hash(slot::encode(key))); };
  std::vector<u32> others;
  for (u32 key = 1'000; others.size() < n; ++key)
    if (region_of(key) != region_of(often)) others.push_back(key);
  const double mean = static_cast<double>(n) / d.regions();
  const u64 capacity = static_cast<u64>(mean + 8 * std::sqrt(mean) + 32), list = n / 32 + 1024;
  for (u64 copies = capacity + list - 1; copies <= capacity + list + 2; ++copies) {
    SCOPED_TRACE(copies);
    std::vector<u32> keys(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(n - copies));
    keys.resize(n, often);
    const auto report = t.insert(space, keys, keys);
    ASSERT_EQ(report.inserted, n - copies + 1);
    EXPECT_EQ(t.erase(space, keys), n - copies + 1);
    EXPECT_TRUE(t.empty());
  }
}

}  // namespace tilehash::designs_test
