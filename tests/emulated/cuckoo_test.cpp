// SPDX-License-Identifier: Apache-2.0
#include <tilehash/papers/cuckoo.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

// clang-format off
using types = testing::Types<
#if !TILEHASH_FEW_TYPES  // sanitizers make compiling slow: a part will do
    with_width<papers::cuckoo<u64, u32, 3>, 4>,
#endif
    with_width<papers::cuckoo<u32, u32>, 1>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(Cuckoo, EmulatedDesign, types);

}  // namespace tilehash::designs_test
