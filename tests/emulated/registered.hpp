// SPDX-License-Identifier: Apache-2.0
// A design with EMULATED in tests/designs.cmake is tested under the GPU's schedule, in tiles of 4 lanes and,
// for the first pair of types, of 1 and of 32.
#pragma once

#include <contract/types.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

template <template <class, class> class Design, class First, class... Pairs>
auto types_of(contract::pairs<First, Pairs...>)
    -> testing::Types<with_width<Design<typename First::key, typename First::mapped>, 4>,
#if !TILEHASH_FEW_TYPES
                      with_width<Design<typename First::key, typename First::mapped>, 1>,
                      with_width<Design<typename First::key, typename First::mapped>, 32>,
#endif
                      with_width<Design<typename Pairs::key, typename Pairs::mapped>, 4>...>;

}  // namespace tilehash::designs_test
