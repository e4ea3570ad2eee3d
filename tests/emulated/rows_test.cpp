#include <tilehash/designs/chained.hpp>
#include <tilehash/designs/hash_graph.hpp>
#include <tilehash/designs/perfect_spatial.hpp>
#include <tilehash/designs/sorted_array.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;
// clang-format off
using types = testing::Types<
    chained<u32, u32>,
    sorted_array<double, i64>,
#if !TILEHASH_FEW_TYPES
    hash_graph<u64, void>,
    perfect_spatial<u32, u32>,
    hash_graph<double, i64>,
    chained<u64, void>,
    sorted_array<u16, u8>,
#endif
    hash_graph<u32, u32>>;
// clang-format on
INSTANTIATE_TYPED_TEST_SUITE_P(Rows, EmulatedDesign, types);

// So many items that they are partitioned, and a block sorts those of a region.
TEST(RowsBuild, ByRegions) {
  for (const pattern p : {pattern::distinct, pattern::some_twice, pattern::all_equal}) {
    driver<chained<u32, u32>> d({.seed = 3, .preempt = true}, 0, {.load_factor = 0.8});
    const auto keys = make_keys<u32>(33'000, p, 3);
    d.put(keys, true);
    d.look_up(p == pattern::all_equal ? make_keys<u32>(10, p, 3) : keys);
    d.compare();
  }
}

}  // namespace tilehash::designs_test
