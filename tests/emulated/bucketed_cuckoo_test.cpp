// SPDX-License-Identifier: Apache-2.0
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;
template <class Key, class Value>
using balanced = papers::bucketed_cuckoo_balanced<Key, Value>;

// clang-format off
using first_fit_types = testing::Types<
#if !TILEHASH_FEW_TYPES
    with_width<bucketed_cuckoo<double, i64>, 8>,
    with_width<bucketed_cuckoo<u32, u32>, 1>,
    with_width<bucketed_cuckoo<u32, u32>, 2>,
    with_width<bucketed_cuckoo<u32, u32>, 16>,
    with_width<bucketed_cuckoo<u32, u32>, 32>,
    with_width<bucketed_cuckoo<u16, u8>, 32>,
#endif
    with_width<bucketed_cuckoo<u32, u32>, 4>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(CuckooFirstFit, EmulatedDesign, first_fit_types);
#if !TILEHASH_FEW_TYPES
using balanced_types = testing::Types<with_width<balanced<u64, u64>, 16>, with_width<balanced<u32, void>, 4>>;
INSTANTIATE_TYPED_TEST_SUITE_P(CuckooBalanced, EmulatedDesign, balanced_types);
#endif

}  // namespace tilehash::designs_test
