// SPDX-License-Identifier: Apache-2.0
#include <tilehash/papers/two_level_cuckoo.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;
using types = testing::Types<papers::two_level_cuckoo<u32, u32>,
#if !TILEHASH_FEW_TYPES  // sanitizers make compiling slow: a part will do
                             papers::two_level_cuckoo<u16, u8>, papers::two_level_cuckoo<u32, void>,
#endif
                             papers::two_level_cuckoo<double, i64>>;
INSTANTIATE_TYPED_TEST_SUITE_P(TwoLevelCuckoo, EmulatedDesign, types);

// Many regions in several groups.
template <class Design>
void build_by_groups(u64 n, pattern p, double load_factor, u64 seed) {
  SCOPED_TRACE(std::to_string(n) + " keys");
  using key_type = typename Design::key_type;
  driver<Design> d({.seed = seed, .preempt = true}, 0, {.load_factor = load_factor});
  const auto keys = make_keys<key_type>(n, p, seed);
  EXPECT_EQ(d.put(keys, true).refused, 0U);
  EXPECT_GT(d.get().view().design.regions(), 16U);
  d.look_up(keys);
  d.look_up(make_keys<key_type>(1000, pattern::distinct, seed + 1));
  d.compare();
}

TEST(TwoLevelBuild, ByGroups) {
  build_by_groups<papers::two_level_cuckoo<u32, u32, 512>>(13'000, pattern::some_twice, 0.711, 1);
}
TEST(TwoLevelBuild, LargerOnesByGroups) {
  if (small()) GTEST_SKIP() << "takes minutes under a sanitizer";
  build_by_groups<papers::two_level_cuckoo<u64, u64, 512>>(13'000, pattern::distinct, 0.6, 2);
  build_by_groups<papers::two_level_cuckoo<u32, u32, 512>>(30'000, pattern::few, 0.7, 3);
  build_by_groups<papers::two_level_cuckoo<u32, void, 512>>(40'000, pattern::all_equal, 0.7,
                                                            4);  // one bin overflows
  build_by_groups<papers::two_level_cuckoo<u64, u64, 512>>(30'000, pattern::all_equal, 0.7, 5);
}

}  // namespace tilehash::designs_test
