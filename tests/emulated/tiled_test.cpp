#include <tilehash/designs/tiled.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;

// clang-format off
using types = testing::Types<
    with_width<tiled<u32, u32>, 4>,
#if !TILEHASH_FEW_TYPES
    with_width<tiled<u32, u32>, 1>,
    with_width<tiled<u64, u64>, 2>,
    with_width<tiled<u16, u8>, 32>,
    with_width<tiled<u32, void>, 16>,
#endif
    with_width<tiled<double, i64>, 8>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(Tiled, EmulatedDesign, types);

TEST(TiledBuild, ByRegions) {
  build_by_regions<tiled<u32, u32>>(33'000, pattern::distinct, 0.95, 1);
  build_by_regions<tiled<u64, u64>>(33'000, pattern::some_twice, 0.9, 7);
#if !TILEHASH_FEW_TYPES
  build_by_regions<tiled<u64, void>>(33'000, pattern::some_twice, 0.95, 2);
  build_by_regions<tiled<u64, void>>(32'768, pattern::distinct, 0.9, 3);
  build_by_regions<tiled<u32, u32>>(40'001, pattern::few, 0.5, 4);
  build_by_regions<tiled<u32, u32>>(33'000, pattern::all_equal, 0.9, 5);
  build_by_regions<tiled<u32, void>>(50'000, pattern::some_twice, 0.95, 6);
#endif
}

TEST(TiledBuild, MergesByRegions) {
  merge_by_regions<tiled<u32, u32>>(43'000, pattern::distinct, 0.95, 10'000, 1);
#if !TILEHASH_FEW_TYPES
  merge_by_regions<tiled<u64, void>>(66'000, pattern::some_twice, 0.95, 33'000, 2);
  merge_by_regions<tiled<u32, u32>>(43'000, pattern::few, 0.5, 10'000, 3);
  merge_by_regions<tiled<u32, void>>(43'000, pattern::some_twice, 0.9, 2'000, 4);
#endif
}

}  // namespace tilehash::designs_test
