// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>

#include <contract/growth_memory.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/space/cpu.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;
template <class Key, class Value>
using with_two = dynamic_cuckoo<Key, Value, 3, 2>;

// clang-format off
using dynamic_types = testing::Types<
#if !TILEHASH_FEW_TYPES
    with_width<dynamic_cuckoo<u32, u32>, 1>,
    with_width<dynamic_cuckoo<u32, u32, 8>, 32>,
    with_width<with_two<u64, u64>, 16>,
    with_width<with_two<u32, u32>, 4>,
    with_width<dynamic_cuckoo<double, i64, 2>, 2>,
#endif
    with_width<dynamic_cuckoo<u32, u32>, 4>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(Dynamic, EmulatedDesign, dynamic_types);

// Grown from an empty table, emptied, and grown again, a batch at a time.
TEST(EmulatedDynamic, FollowsItsItems) {
  for (u64 seed = 1; seed <= (small() ? 1U : 2U); ++seed) {
    driver<with_width<with_two<u32, u32>, 4>> d({.seed = seed, .preempt = true}, 0, {});
    const u64 n = small() ? 1'000 : 8'000, batch = n / 10;
    const auto keys = make_keys<u32>(n, pattern::some_twice, seed);
    for (u32 round = 0; round < (small() ? 1U : 2U); ++round) {
      for (u64 i = 0; i < n; i += batch) d.put(part(keys, i, i + batch), false);
      d.look_up(keys);
      d.compare();
      for (u64 i = 0; i < n; i += batch) d.erase(part(keys, i, i + batch));
      d.look_up(keys);
      EXPECT_LT(d.get().capacity(), n);
    }
  }
}

// So many that they go by regions, of which a block builds each in its scratch.
TEST(EmulatedDynamic, ManyGoByRegions) {
  const u64 n = 34'000;
  driver<dynamic_cuckoo<u32, u32>> d({.seed = 1, .preempt = true}, n, {.load_factor = 0.9});
  const auto keys = make_keys<u32>(n, pattern::some_twice, 1);
  d.put(keys, false, false);
  d.look_up(keys);
  d.compare();
}

// A table's weights follow from a sample of its buckets. Weights made from other numbers reverse the order in
// which lookups try the two subtables of a key.
TEST(EmulatedDynamic, LookupsReadFewBuckets) {
  for (const bool by_build : {true, false}) {
    if (!contract::is_asked(by_build ? 1 : 0, 2)) continue;
    emulated space({.seed = 1});
    const u64 n = 20'000;
    const auto numbers = make_keys<u32>(n, pattern::distinct, 1);
    buffer<u32, emulated> keys(space, n), counts(space, n);
    keys.copy_from(numbers);
    table<dynamic_cuckoo<u32, u32>, emulated> t(space, n, {.load_factor = 0.8, .seed = 1});
    const insert_report report =
        by_build ? t.build(space, keys.span(), keys.span()) : t.insert(space, keys.span(), keys.span());
    ASSERT_EQ(report.inserted, n);
    t.probe_counts(space, keys.span(), counts.span());
    u64 sum = 0;
    for (const u32 probes : counts.span()) sum += probes;
    EXPECT_LE(static_cast<double>(sum), 1.5 * static_cast<double>(n)) << (by_build ? "build" : "insert");
  }
}

// Copies of a key that do not fit its region's bin fill the list of items left over, or are one too many.
TEST(EmulatedDynamic, ListsThatAreFull) {
  using design = dynamic_cuckoo<u32, u32>;
  using slot = design::slot_type;
  cpu space(2);
  const u64 n = 40'000;
  const table<design, cpu> t(space, 2 * n, {.load_factor = 0.8, .seed = 5});
  const design d = t.view().design;
  const u32 often = 77;
  const auto region_of = [&](u32 key) { return d.region_of(detail::query<slot>(key).bits); };
  std::vector<u32> others;
  for (u32 key = 1'000; others.size() < n; ++key)
    if (region_of(key) != region_of(often)) others.push_back(key);
  const double mean = static_cast<double>(n) / static_cast<double>(d.regions());
  const u64 capacity = static_cast<u64>(mean + 8 * std::sqrt(mean) + 32), list = n / 32 + 1024;
  for (u64 copies = capacity + list - 1; copies <= capacity + list + 2; ++copies) {
    SCOPED_TRACE(copies);
    std::vector<u32> keys(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(n - copies));
    keys.resize(n, often);
    const auto filled =
        detail::fill_subtables(space, d, detail::array_source<slot>{keys.data(), keys.data()}, n, n);
    EXPECT_EQ(filled.inserted, n - copies + 1);
    EXPECT_EQ(filled.left, copies - capacity);
    ASSERT_EQ(filled.lists_left, filled.left <= list);
    for (u64 i = 0; filled.lists_left && i < filled.left; ++i)
      ASSERT_EQ(filled.rest()(i).key.bits, detail::query<slot>(often).bits);
    for (u32 p = 0; p < design::subtables; ++p) {
      const auto part = d.part_of(p);
      space.fill(part.keys, part.slots(), slot::empty_word);
    }
  }
}

}  // namespace tilehash::designs_test
