// SPDX-License-Identifier: Apache-2.0
#include <tilehash/designs/chained.hpp>
#include <tilehash/designs/hash_graph.hpp>
#include <tilehash/papers/hash_graph.hpp>
#include <tilehash/papers/hash_graph_original.hpp>
#include <tilehash/papers/indexed_cuckoo.hpp>
#include <tilehash/papers/perfect_spatial.hpp>
#include <tilehash/papers/sorted_array.hpp>

#include "designs_test.hpp"

namespace tilehash::contract {
struct updates_space : emulated {
  updates_space() : emulated({.seed = 11, .preempt = true}) {}
};
inline constexpr bool updates_are_few = true;
}  // namespace tilehash::contract

#include <contract/row_updates.hpp>

namespace tilehash::designs_test {

using i64 = std::int64_t;
// clang-format off
using types = testing::Types<
    chained<u32, u32>,
    papers::sorted_array<double, i64>,
    papers::indexed_cuckoo<u64, u32>,
#if !TILEHASH_FEW_TYPES
    hash_graph<u64, void>,
    hash_graph<u32, u32, murmur, u32, builders::count_and_scatter>,
    hash_graph<double, i64, murmur, filtered_rows, builders::binned<builders::count_and_scatter>>,
    hash_graph<u64, void, murmur, filtered_rows, papers::segments>,
    papers::hash_graph_original<double, i64, 100>,
    papers::perfect_spatial<u32, u32>,
    hash_graph<double, i64>,
    chained<u64, void>,
    papers::sorted_array<u16, u8>,
#endif
    hash_graph<u32, u32>>;
// clang-format on
INSTANTIATE_TYPED_TEST_SUITE_P(Rows, EmulatedDesign, types);

// So many items that they are partitioned, and a block sorts those of a region.
template <class Design>
void build_in_blocks(pattern p, u64 items, u64 seed) {
  using key = typename Design::key_type;
  driver<Design> d({.seed = seed, .preempt = true}, 0, {.load_factor = 0.8});
  const auto keys = make_keys<key>(items, p, seed);
  d.put(keys, true);
  d.look_up(p == pattern::all_equal ? make_keys<key>(10, p, seed) : keys);
  d.compare();
}

TEST(RowsBuild, ByRegions) {
  constexpr u64 items = 33'000;
  for (const pattern p : {pattern::some_twice, pattern::distinct, pattern::all_equal}) {
    build_in_blocks<chained<u32, u32>>(p, items, 3);
    if (small()) break;
  }
  build_in_blocks<hash_graph<double, i64>>(pattern::some_twice, items, 4);
}
TEST(RowsBuild, InBins) {
  using design =
      hash_graph<double, i64, murmur, filtered_rows, builders::in_bins<builders::count_and_scatter>>;
  for (const pattern p : {pattern::some_twice, pattern::all_equal}) build_in_blocks<design>(p, 300, 5);
}

}  // namespace tilehash::designs_test
