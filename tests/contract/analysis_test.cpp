// SPDX-License-Identifier: Apache-2.0
// Factorize and its like on a CPU.
#include <contract/analysis.hpp>
#include <tilehash/space/cpu_algorithms.hpp>

namespace tilehash::contract {
namespace {

using wide_key = std::array<u64, 3>;

template <class Key>
struct AnalysisOf : ::testing::Test {};
#if TILEHASH_FEW_TYPES == 2  // threads share rows in the same way, whatever the type
using analysed_keys = ::testing::Types<std::int64_t>;
#elif TILEHASH_FEW_TYPES
using analysed_keys = ::testing::Types<std::int64_t, float, wide_key>;
#else
using analysed_keys = ::testing::Types<std::int64_t, u32, std::int16_t, float, double, wide_key>;
#endif
TYPED_TEST_SUITE(AnalysisOf, analysed_keys);

TYPED_TEST(AnalysisOf, FewRows) {
  cpu space(2);
  for (const u64 rows : {1, 63, 64, 65, 1000})
    expect_all_coded<TypeParam>(space, rows, random_numbers("few rows"));
}
TYPED_TEST(AnalysisOf, RowsSharedByThreads) {
  cpu space(3);
  expect_all_coded<TypeParam>(space, detail::tuning::cpu::least_shared + 100, random_numbers("shared rows"));
}
TYPED_TEST(AnalysisOf, IsIn) {
  cpu space(2);
  expect_isin<TypeParam>(space, 5'000, random_numbers("isin"));
}
TEST(Analysis, Groups) {
  cpu one(1), two(2);
  expect_grouped(one, 500, random_numbers("groups"));
  expect_grouped(two, detail::tuning::cpu::least_shared + 10, random_numbers("groups"));
}
TEST(Analysis, ReproducibleSums) {
  cpu two(2);
  expect_reproducible_sums<double>(two, detail::tuning::cpu::least_shared + 10, random_numbers("sums"));
  expect_reproducible_sums<float>(two, 1000, random_numbers("sums"));
}
TEST(Analysis, NoRows) {
  cpu space(2);
  const std::vector<u32> none, one{7};
  EXPECT_EQ(analysis::factorize(space, none).size(), 0U);
  EXPECT_EQ(analysis::unique(space, none, {.by = analysis::order::sorted}).size(), 0U);
  std::vector<u8> out{1};
  analysis::isin(space, one, none, out);
  EXPECT_EQ(out[0], 0);
}
TEST(Analysis, RefusesNaN) {
  cpu space(1);
  std::vector<double> keys{1, 2};
  EXPECT_EQ(analysis::factorize(space, keys, {.missing_keys = analysis::missing::refused}).size(), 2U);
  keys.push_back(std::nan(""));
  EXPECT_THROW(
      static_cast<void>(analysis::factorize(space, keys, {.missing_keys = analysis::missing::refused})),
      invalid_argument);
}

}  // namespace
}  // namespace tilehash::contract
