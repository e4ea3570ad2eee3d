// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"

namespace tilehash::contract {
struct view_space : emulated {
  view_space() : emulated({.seed = 1, .preempt = true}) {}
};
}  // namespace tilehash::contract

#include <contract/view.hpp>

namespace tilehash::contract {
#if TILEHASH_FEW_TYPES
using emulated_view_designs = ::testing::Types<tiled<u32, u32>, linear_probing<u32, u32>, horton<u32, void>>;
#else
using emulated_view_designs = view_designs;
#endif
INSTANTIATE_TYPED_TEST_SUITE_P(emulated, views, emulated_view_designs);
}  // namespace tilehash::contract
