// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using region_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/regions.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, regions, region_designs);
}  // namespace tilehash::contract
