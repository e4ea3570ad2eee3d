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
  expect_all_coded<std::int64_t>(space, 70'000, random_numbers("cuda codes"));
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

// Keys whose first rows have few different ones: the guess of the table's size is too small.
TEST(CudaAnalysis, SizesAreGuessed) {
  cuda space;
  std::vector<u32> keys;
  constexpr u64 rows = detail::tuning::gpu::rows_without_sketch + 1000;
  for (u64 i = 0; i < rows; ++i) keys.push_back(mix32(static_cast<u32>(i < rows / 2 ? i % 1000 : i)));
  expect_coded(space, keys, {});
}
TEST(CudaAnalysis, ReproducibleSums) {
  cuda space;
  expect_reproducible_sums<double>(space, 50'000, random_numbers("cuda sums"));
}

}  // namespace
}  // namespace tilehash::contract
