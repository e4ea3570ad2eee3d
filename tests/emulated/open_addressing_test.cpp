#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/quadratic_probing.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;

// clang-format off
using types = testing::Types<
    with_width<double_hashing<u32, u32>, 1>,
#if !TILEHASH_FEW_TYPES
    with_width<double_hashing<u16, u8>, 16>,
    with_width<double_hashing<double, i64>, 32>,
    with_width<linear_probing<u32, void>, 4>,
#endif
    with_width<quadratic_probing<u64, u32>, 1>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(OpenAddressing, EmulatedDesign, types);

}  // namespace tilehash::designs_test
