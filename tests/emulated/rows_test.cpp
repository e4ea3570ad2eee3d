#include <tilehash/designs/chained.hpp>
#include <tilehash/designs/hash_graph.hpp>
#include <tilehash/designs/perfect_spatial.hpp>
#include <tilehash/designs/sorted_array.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;
using hash_graphs = testing::Types<hash_graph<u32, u32>, hash_graph<u64, u64>, hash_graph<u64, u32>,
                                   hash_graph<u32, void>, hash_graph<u16, u8>, hash_graph<double, i64>>;
using others = testing::Types<chained<u32, u32>, chained<u64, void>, chained<double, i64>,
                              sorted_array<u32, u32>, sorted_array<u16, u8>, sorted_array<double, i64>>;
using perfect_spatials = testing::Types<perfect_spatial<u32, u32>>;
INSTANTIATE_TYPED_TEST_SUITE_P(HashGraph, EmulatedDesign, hash_graphs);
INSTANTIATE_TYPED_TEST_SUITE_P(ChainedAndSorted, EmulatedDesign, others);
INSTANTIATE_TYPED_TEST_SUITE_P(PerfectSpatial, EmulatedDesign, perfect_spatials);

}  // namespace tilehash::designs_test
