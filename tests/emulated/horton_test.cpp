#include <tilehash/designs/horton.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

// clang-format off
using types = testing::Types<
    with_width<horton<u32, u32>, 4>,
#if !TILEHASH_FEW_TYPES
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

// Copies of a key that find no slot at home may part: one takes the last that their entry leads to, and
// another, which finds no room there, would take the place of an item at home. The build's step 6 looks where
// the first one stands.
TEST(HortonBuild, CopiesThatPartBecomeOne) {
  using design = horton<u32, u32>;
  using build = design::region_build<>;
  for (u64 seed = 1; seed <= (small() ? 60U : 200U); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    emulated space({.seed = seed, .preempt = true});
    const u64 capacity = design::capacity_for(300, 0.9);
    const buffer<u32, emulated> memory(space, design::bytes(capacity) / sizeof(u32));
    space.fill(memory.data(), memory.size(), 0U);
    const design d(memory.data(), capacity, seed, 0.9);
    ASSERT_EQ(d.regions(), 1U);

    const auto keys = make_keys<u32>(capacity * 31 / 32, pattern::distinct, seed << 32);
    std::vector<design::word> items;
    for (u32 i = 0; i < keys.size(); ++i)
      items.insert(items.end(), i % 3 == 0 ? 2 : 1, build::entry::pack(d.hash(keys[i]), i));
    std::shuffle(items.begin(), items.end(), std::mt19937_64(seed));
    const auto n = static_cast<u32>(items.size());
    const buffer<design::word, emulated> bin(space, items), spilled(space, n);
    const buffer<u32, emulated> fill(space, std::vector<u32>{n});
    const buffer<u64, emulated> counters(space, std::vector<u64>{0, 0});
    u64* const left = counters.data();
    u64* const inserted = left + 1;
    space.for_each_block(
        1, 32, build::scratch_bytes(d.region_buckets()),
        build{d, {bin.data(), n, fill.data()}, 0, false, {spilled.data(), left, n}, inserted});

    std::unordered_map<u32, u32> times;
    for (u64 i = 0; i < capacity; ++i) {
      if (design::holds(i, d.slots()[i])) ++times[d.key_at(i, d.slots()[i])];
    }
    for (const auto& [key, many] : times) EXPECT_EQ(many, 1U) << key;
    EXPECT_EQ(*inserted, times.size());
    for (u64 i = 0; i < *left; ++i) times[d.unhash(build::entry::hash_of(spilled.data()[i]))] = 1;
    EXPECT_EQ(times.size(), keys.size()) << "a key is lost";
  }
}

}  // namespace tilehash::designs_test
