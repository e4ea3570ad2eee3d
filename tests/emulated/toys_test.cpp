#include <toys/toy_signpost.hpp>
#include <toys/toy_swapper.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using toys::toy_signpost;
using toys::toy_swapper;

// clang-format off
using signposts = testing::Types<
    with_width<toy_signpost<u32, u32>, 4>,
#if !TILEHASH_FEW_TYPES
    with_width<toy_signpost<u32, u32>, 1>,
    with_width<toy_signpost<u32, u32>, 32>,
#endif
    with_width<toy_signpost<u64, u64>, 8>>;
using swappers = testing::Types<
    with_width<toy_swapper<u32, u32>, 4>,
#if !TILEHASH_FEW_TYPES
    with_width<toy_swapper<u32, u32>, 1>,
    with_width<toy_swapper<u32, u32>, 32>,
    with_width<toy_swapper<u32, u32, 6>, 2>,  // many a key finds no place
#endif
    with_width<toy_swapper<u64, void>, 8>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(ToySignpost, EmulatedDesign, signposts);
INSTANTIATE_TYPED_TEST_SUITE_P(ToySwapper, EmulatedDesign, swappers);

}  // namespace tilehash::designs_test
