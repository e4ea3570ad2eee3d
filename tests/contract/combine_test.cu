// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using combining_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/combine.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, combining, combining_designs);
}  // namespace tilehash::contract
