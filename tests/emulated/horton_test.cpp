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

}  // namespace tilehash::designs_test
