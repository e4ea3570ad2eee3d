#include <tilehash/designs/hash_graph.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;
using types = testing::Types<hash_graph<u32, u32>, hash_graph<u64, u64>, hash_graph<u64, u32>,
                             hash_graph<u32, void>, hash_graph<u16, u8>, hash_graph<double, i64>>;
INSTANTIATE_TYPED_TEST_SUITE_P(HashGraph, EmulatedDesign, types);

}  // namespace tilehash::designs_test
