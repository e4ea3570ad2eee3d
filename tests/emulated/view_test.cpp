// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"

namespace tilehash::contract {
struct view_space : emulated {
  view_space() : emulated({.seed = 1, .preempt = true}) {}
};
}  // namespace tilehash::contract

#include <contract/view.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(emulated, views, view_designs);
}  // namespace tilehash::contract
