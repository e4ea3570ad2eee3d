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

// Values of keys that are there change in a call whose new keys make them move.
template <class Design>
void change_in_a_crowd(u64 seed, u64 items, u64 n) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  driver<Design> d({.seed = seed, .preempt = true}, items,
                   {.load_factor = 0.98, .seed = seed, .grow = false});  // with which all find room
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

}  // namespace tilehash::designs_test
