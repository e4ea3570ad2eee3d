// SPDX-License-Identifier: Apache-2.0
// Joins by key columns and reductions of groups on a GPU.
#include <tilehash/space/cuda.cuh>

#include <contract/grouping.hpp>
#include <tilehash/space/cuda_algorithms.cuh>

namespace tilehash::contract {
namespace {

TEST(CudaGrouping, Joins) {
  cuda space;
  expect_joined(space, 900, 700, random_numbers("cuda joins"));
}
TEST(CudaGrouping, NullKeys) {
  cuda space;
  expect_groups_of_nulls(space, 5'000, random_numbers("cuda null keys"));
}
TEST(CudaGrouping, Reductions) {
  cuda space;
  expect_reduced<cuda, double>(space, 5'000, random_numbers("cuda reductions"));
}

}  // namespace
}  // namespace tilehash::contract
