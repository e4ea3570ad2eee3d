#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/quadratic_probing.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;

// clang-format off
using types = testing::Types<
    with_width<double_hashing<u32, u32>, 1>,
    with_width<double_hashing<u16, u8>, 16>,
#if !defined(TILEHASH_EMULATION_ASAN)  // sanitizers make compiling slow: a part will do
    with_width<double_hashing<u64, u64>, 2>,
    with_width<double_hashing<u64, u32>, 4>,
    with_width<double_hashing<u32, void>, 8>,
    with_width<double_hashing<double, i64>, 32>,
    with_width<linear_probing<u32, u32>, 1>,
#endif
    with_width<quadratic_probing<u64, u32>, 1>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(OpenAddressing, EmulatedDesign, types);

}  // namespace tilehash::designs_test
