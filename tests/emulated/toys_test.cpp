// SPDX-License-Identifier: Apache-2.0
#include <toys/toy_signpost.hpp>
#include <toys/toy_swapper.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using toys::toy_signpost;
using toys::toy_swapper;

// clang-format off
using signposts = testing::Types<
    with_width<toy_signpost<u32, u32>, 4>,
#if !TILEHASH_FEW_TYPES
    with_width<toy_signpost<u32, u32>, 1>,
    with_width<toy_signpost<u32, u32>, 32>,
#endif
    with_width<toy_signpost<u64, u64>, 8>>;
using swappers = testing::Types<
    with_width<toy_swapper<u32, u32>, 4>,
#if !TILEHASH_FEW_TYPES
    with_width<toy_swapper<u32, u32>, 1>,
    with_width<toy_swapper<u32, u32>, 32>,
    with_width<toy_swapper<u32, u32, 6>, 2>,  // many a key finds no place
#endif
    with_width<toy_swapper<u64, void>, 8>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(ToySignpost, EmulatedDesign, signposts);
INSTANTIATE_TYPED_TEST_SUITE_P(ToySwapper, EmulatedDesign, swappers);

// Values of present keys change in a call whose new keys make them move.
template <class Design>
void change_in_a_crowd(u64 seed, u64 items, u64 n) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  driver<Design> d({.seed = seed, .preempt = true}, items,
                   {.load_factor = 0.98, .seed = seed, .grow = false});  // with which all find a slot
  const auto keys = make_keys<u32>(n, pattern::distinct, seed);
  auto often = keys;
  for (int i = 0; i < 3; ++i) often.insert(often.end(), keys.begin(), keys.begin() + n / 2);
  std::shuffle(often.begin(), often.end(), std::mt19937_64(seed));
  d.put(part(keys, 0, n / 2), false);
  d.compare();
  d.add(often);
  d.look_up(keys);
  d.compare();
}
TEST(ToySignpost, ValuesChangeWhenNoKeyMoves) {
  for (u64 seed = 0; seed < (small() ? 10U : 40U); ++seed)
    change_in_a_crowd<with_width<toy_signpost<u32, u32>, 4>>(seed, 100, 150);
}
TEST(ToySwapper, ValuesChangeWhenNoKeyMoves) {
  for (u64 seed = 0; seed < (small() ? 5U : 20U); ++seed)
    change_in_a_crowd<with_width<toy_swapper<u32, u32>, 4>>(seed, 600, 600);
}

// Keys that others took out, and no memory for a new table: what was in the table stays, lane by lane as
// well.
template <class Design>
void take_out_without_memory(u64 seed, u64 items) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  u64 refused = 0, threw = 0;
  for (u64 budget = 0; budget < 100'000; budget = budget * 5 / 4 + 2'000) {
    SCOPED_TRACE(std::to_string(budget) + " bytes");
    emulated space({.seed = seed, .preempt = true}, u64(1) << 20);
    table<Design, emulated> t(space, 2 * items, {.load_factor = 0.75, .seed = seed, .grow = false});
    const auto all = make_keys<u32>(items, pattern::distinct, seed);
    const u64 held = items / 2;
    const buffer<u32, emulated> keys(space, all), found(space, items);
    const buffer<outcome, emulated> became(space, items);
    // With one try an item, a call may leave one that met locks.
    for (u32 call = 0; call < 4 && t.size() < held; ++call)
      std::ignore = t.insert(space, keys.first(held), keys.first(held));
    ASSERT_EQ(t.size(), held);
    const u64 out = t.bytes() + keys.bytes() + found.bytes() + became.bytes();
    insert_report report;
    bool failed = false;
    {
      const buffer<char, emulated> rest(space, (u64(1) << 20) - out - budget);
      try {
        report = t.insert(space, keys.span(), keys.span(), became.span());
      } catch (const out_of_memory&) {
        failed = true;
      }
    }
    threw += failed;
    refused += report.refused;
    t.find_or(space, keys.span(), found.span(), ~all[0]);
    const auto values = found.to_host();
    const auto outcomes = became.to_host();
    u64 there = 0;
    for (u64 i = 0; i < items; ++i) {
      const bool is = values[i] == all[i];
      there += is;
      ASSERT_TRUE(is || i >= held) << "lost: number " << i;
      if (!failed) {
        ASSERT_EQ(outcomes[i] == outcome::refused, !is) << i;
      }
    }
    ASSERT_EQ(t.size(), there);
    if (!failed && report.refused == 0) break;
  }
  EXPECT_GT(threw, 0U);
  EXPECT_GT(refused, 0U);
}
TEST(ToySwapper, NoKeyIsLostWithoutMemory) {
  for (u64 seed = 0; seed < (small() ? 2U : 10U); ++seed)
    take_out_without_memory<with_width<toy_swapper<u32, u32, 1>, 4>>(seed, 400);
}

}  // namespace tilehash::designs_test
