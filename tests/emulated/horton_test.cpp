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

}  // namespace tilehash::designs_test
