#include <tilehash/designs/robin_hood.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

// clang-format off
using types = testing::Types<
    with_width<robin_hood<u32, u32>, 1>,
#if !TILEHASH_FEW_TYPES
    with_width<robin_hood<u32, u32, probe::random>, 4>,
    with_width<robin_hood<u32, u32, probe::coherent, 1>, 1>,
    with_width<robin_hood<u64, u64, probe::coherent, 4, 0>, 2>,
    with_width<robin_hood<u16, u8>, 32>,
    with_width<robin_hood<u32, void>, 16>,
#endif
    with_width<robin_hood<double, std::int64_t>, 4>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(RobinHood, EmulatedDesign, types);

// Every key many times and little room, so that equal keys come while theirs is in somebody's hand.
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
    crowd<with_width<robin_hood<u32, u32, probe::coherent, 1>, 1>>(seed, 256);
    crowd<with_width<robin_hood<u32, u32, probe::coherent, 2>, 4>>(seed, 256);
  }
}

// So many that counts settle who stands where. (Minutes, where each look is a turn of the machine.)
TEST(RobinHood, BuildsInBulk) {
  if (small()) GTEST_SKIP() << "takes minutes under a sanitizer";
  build_by_regions<with_width<robin_hood<u32, u32, probe::coherent, 1>, 1>>(33'000, pattern::distinct, 0.95,
                                                                            1);
  build_by_regions<with_width<robin_hood<u32, u32>, 4>>(33'000, pattern::some_twice, 0.9, 2);
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
  for (u64 seed = 1; seed <= (small() ? 3U : 10U); ++seed) {
    thin_out<with_width<robin_hood<u32, u32, probe::coherent, 1>, 1>>(seed, 2000);
    thin_out<with_width<robin_hood<u32, u32, probe::coherent, 1>, 4>>(seed, 500);
    thin_out<with_width<robin_hood<u32, u32, probe::coherent, 2>, 4>>(seed, 500);
  }
}

}  // namespace tilehash::designs_test
