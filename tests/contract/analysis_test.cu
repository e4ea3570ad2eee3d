// SPDX-License-Identifier: Apache-2.0
// Factorize and its like on a GPU.
#include <tilehash/space/cuda.cuh>

#include <contract/analysis.hpp>
#include <contract/only_read.hpp>
#include <tilehash/space/cuda_algorithms.cuh>

namespace tilehash::contract {
namespace {

TEST(CudaAnalysis, Codes) {
  cuda space;
#if !TILEHASH_ONLY_READ
  expect_all_coded<u32>(space, 70'000, random_numbers("cuda codes"));
#endif
  expect_all_coded<double>(space, 3'000, random_numbers("cuda codes"));
}
TEST(CudaAnalysis, IsIn) {
  cuda space;
  expect_isin<float>(space, 20'000, random_numbers("cuda isin"));
}

TEST(CudaAnalysis, Groups) {
  cuda space;
  expect_grouped(space, 50'000, random_numbers("cuda groups"));
}

}  // namespace
}  // namespace tilehash::contract
