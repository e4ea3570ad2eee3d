// SPDX-License-Identifier: Apache-2.0
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/papers/robin_hood_random.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "designs_test.hpp"

namespace tilehash::designs_test {

// clang-format off
using types = testing::Types<
#if !TILEHASH_FEW_TYPES
    with_width<robin_hood<u32, u32>, 1>,
    with_width<papers::robin_hood_random<u32, u32>, 4>,
    with_width<robin_hood<u32, u32, 1>, 1>,
    with_width<robin_hood<u64, u64, 4, 0>, 2>,
    with_width<robin_hood<u16, u8>, 32>,
    with_width<robin_hood<u32, void>, 16>,
#endif
    with_width<robin_hood<double, std::int64_t>, 4>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(RobinHood, EmulatedDesign, types);

// Every key many times and few free slots, so that equal keys come while theirs is in a lane's hand.
template <class Design>
void crowd(u64 seed, u64 n) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  driver<Design> d({.seed = seed, .preempt = true}, n, {.load_factor = 1, .seed = seed, .grow = false});
  const auto keys = make_keys<u32>(n, pattern::distinct, seed);
  auto often = keys;
  for (int i = 0; i < 3; ++i) often.insert(often.end(), keys.begin(), keys.begin() + static_cast<int>(n / 2));
  std::shuffle(often.begin(), often.end(), std::mt19937_64(seed));
  d.put(part(keys, 0, n / 4), false);
  d.put(often, false);
  d.look_up(keys);
  d.compare();
  d.add(often);
  d.look_up(keys);
  d.compare();
}
TEST(RobinHood, EqualKeysInACrowd) {
  for (u64 seed = 0; seed < (small() ? 3U : 10U); ++seed) {
    crowd<with_width<robin_hood<u32, u32, 1>, 1>>(seed, 256);
    crowd<with_width<robin_hood<u32, u32, 2>, 4>>(seed, 256);
  }
}

// So many that counts decide each key's slot. (Minutes, where each look is a turn of the machine.)
TEST(RobinHood, BuildsInBulk) {
#if TILEHASH_FEW_TYPES
  GTEST_SKIP() << "takes minutes under a sanitizer";
#else
  build_by_regions<with_width<robin_hood<u32, u32, 1>, 1>>(33'000, pattern::distinct, 0.95, 1);
  build_by_regions<with_width<robin_hood<u32, u32>, 4>>(33'000, pattern::some_twice, 0.9, 2);
#endif
}

// The same of few, by hand, as tables put few in one by one: keys that come twice, and a home with more of
// them than are counted. Keys that are not in the table remain to be inserted, and no key is in it twice.
template <class Design>
void fill_by_counts(u64 n, double load, u64 crowd, u64 seed) {
  SCOPED_TRACE(std::to_string(n) + " keys, seed " + std::to_string(seed));
  using word = typename Design::word;
  using slot_type = typename Design::slot_type;
  emulated space({.seed = seed, .preempt = true});
  const u64 capacity = Design::capacity_for(n, load);
  const buffer<char, emulated> memory(space, Design::bytes(capacity));
  space.fill(memory.data(), memory.size(), char(0));
  const Design d(memory.data(), capacity, seed, load);
  auto keys = make_keys<u32>(n - crowd, pattern::some_twice, seed);
  for (u32 x = 0; keys.size() < n; ++x)
    if (d.locate(x).home == d.locate(0).home && x > 1) keys.push_back(x);
  std::vector<u32> values(n);
  std::ranges::transform(keys, values.begin(), [](u32 key) { return ~key; });
  const buffer<u32, emulated> k(space, keys), v(space, values);
  const buffer<word, emulated> left(space, n);
  const buffer<u64, emulated> counts(space, std::vector<u64>(3));
  d.bulk_build().run(space, detail::array_source<slot_type>{k.data(), v.data()}, n,
                     detail::spill_list<word>{left.data(), counts.data(), n}, counts.data() + 1,
                     counts.data() + 2);
  const auto counted = counts.to_host();
  const u64 lefts = counted[0], inserted = counted[2];
  EXPECT_EQ(counted[1], 0U);  // illegal
  std::unordered_map<u32, u32> seen;
  for (u64 i = 0; i < capacity; ++i) {
    const word w = d.slots()[i];
    if (slot_type::is_free(w)) continue;
    const u32 key = slot_type::decode(d.key_at(i, w));
    const auto at = d.location_in(static_cast<u32>(i / Design::bucket_slots), w);
    EXPECT_EQ(d.locate(key).home, at.home);
    EXPECT_LE(at.age, d.max_age(slot_type::max_code_in(*d.bucket_at(at.home))));
    EXPECT_EQ(slot_type::value_of(w), ~key);
    EXPECT_EQ(++seen[key], 1U) << key;
  }
  EXPECT_EQ(seen.size(), inserted);
  const detail::routed_source<Design> rest{d, left.data()};
  for (u64 i = 0; i < lefts; ++i) ++seen[slot_type::decode(rest(i).key.bits)];
  for (const u32 key : keys) EXPECT_TRUE(seen.contains(key)) << key;
  EXPECT_LE(lefts, crowd + n / 16);
}
TEST(RobinHood, FillsByCounts) {
  for (u64 seed = 1; seed <= (small() ? 2U : 4U); ++seed) {
    fill_by_counts<robin_hood<u32, u32, 1>>(1500, 0.9, 0, seed);
    fill_by_counts<papers::robin_hood_random<u32, u32, 1>>(1500, 0.9, 40, seed);
    fill_by_counts<robin_hood<u32, u32>>(1500, 0.95, 150, seed);
  }
}

// Keys go from a full table, a fifth at a time, and homes side by side are tidied at once: one takes a key
// out of a bucket whose own maximum another lowers, and which a third fills.
template <class Design>
void thin_out(u64 seed, u64 n) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  driver<Design> d({.seed = seed, .preempt = true}, n, {.load_factor = 1, .seed = seed, .grow = false});
  const auto keys = make_keys<u32>(n, pattern::distinct, seed << 32);
  d.put(keys, false);
  for (u64 gone = 0; gone < n; gone += n / 5) {
    d.erase(part(keys, gone, gone + n / 5));
    d.look_up(keys);
    d.compare();
  }
}
TEST(RobinHood, HomesAreTidiedSideBySide) {
  for (u64 seed = 1; seed <= (small() ? 1U : 10U); ++seed) {
    thin_out<with_width<robin_hood<u32, u32, 1>, 1>>(seed, 2000);
    thin_out<with_width<robin_hood<u32, u32, 2>, 4>>(seed, 500);
#if !TILEHASH_FEW_TYPES
    thin_out<with_width<robin_hood<u32, u32, 1>, 4>>(seed, 500);
#endif
  }
}

}  // namespace tilehash::designs_test
