#include <tilehash/designs/bucketed_cuckoo.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;
template <class Key, class Value>
using balanced = bucketed_cuckoo<Key, Value, placement::balanced>;

// clang-format off
using widths = testing::Types<
    with_width<bucketed_cuckoo<u32, u32>, 1>,
    with_width<bucketed_cuckoo<u32, u32>, 4>,
#if !defined(TILEHASH_EMULATION_ASAN)  // sanitizers make compiling slow: a part will do
    with_width<bucketed_cuckoo<u32, u32>, 2>,
    with_width<bucketed_cuckoo<u32, u32>, 8>,
    with_width<bucketed_cuckoo<u32, u32>, 16>,
#endif
    with_width<bucketed_cuckoo<u32, u32>, 32>>;
using types = testing::Types<
#if !defined(TILEHASH_EMULATION_ASAN)
    with_width<bucketed_cuckoo<u64, u64>, 4>,
    with_width<bucketed_cuckoo<u64, u32>, 1>,
    with_width<bucketed_cuckoo<u16, u8>, 32>,
    with_width<bucketed_cuckoo<u32, void>, 16>,
#endif
    with_width<bucketed_cuckoo<double, i64>, 8>>;
using balanced_types = testing::Types<
#if !defined(TILEHASH_EMULATION_ASAN)
    with_width<balanced<u32, u32>, 16>,
    with_width<balanced<u64, u64>, 2>,
    with_width<balanced<u16, u8>, 1>,
#endif
    with_width<balanced<u32, void>, 4>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(CuckooWidths, EmulatedDesign, widths);
INSTANTIATE_TYPED_TEST_SUITE_P(CuckooTypes, EmulatedDesign, types);
INSTANTIATE_TYPED_TEST_SUITE_P(CuckooBalanced, EmulatedDesign, balanced_types);

}  // namespace tilehash::designs_test
