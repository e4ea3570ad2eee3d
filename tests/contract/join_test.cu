// SPDX-License-Identifier: Apache-2.0
#include <contract/faulty.cuh>
#include <contract/only_read.hpp>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
struct join_ground : ground<cuda, faulty_device> {
  join_ground() : ground(cudaStream_t()) {}
};
}  // namespace tilehash::contract

#include <contract/join.hpp>
#include <contract/join_without_memory.hpp>

namespace tilehash::contract {
using join_keys = all_or_read<::testing::Types<u32, double, std::array<u64, 3>>, ::testing::Types<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, joins, join_keys);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, joins_without_memory, join_keys);
}  // namespace tilehash::contract
