// SPDX-License-Identifier: Apache-2.0
// Factorize and its like under the GPU's schedule.
#include <contract/analysis.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

TEST(EmulatedAnalysis, Codes) {
  emulated space({.seed = 3, .preempt = true});
#if !TILEHASH_FEW_TYPES
  contract::expect_all_coded<u32>(space, 150, contract::random_numbers("emulated codes"));
#endif
  contract::expect_all_coded<double>(space, 150, contract::random_numbers("emulated codes"));
}
// Integers in a small range are coded without a map, in two ways; a key far off makes the range large.
template <class Key>
void expect_coded_by_range(Key least, u64 range) {
  emulated space({.seed = 7, .preempt = true});
  constexpr u64 rows = detail::tuning::gpu::least_dense;
  std::vector<Key> keys;
  for (u64 i = 0; i < rows; ++i) keys.push_back(static_cast<Key>(least + static_cast<Key>(i * i % range)));
  keys[1] = least;
  for (const bool small_range : {true, false}) {
    keys[rows / 2] = static_cast<Key>(least + static_cast<Key>(small_range ? range - 1 : range));
    const buffer<Key, emulated> there(space, std::span<const Key>(keys));
    const auto words = analysis::detail::range_on_lanes(space, std::span<const Key>(there.span()), range);
    EXPECT_EQ(words.size, small_range ? range : 0);
    const auto found = analysis::factorize(space, there.span());
    const contract::coded_model<Key> wanted(keys, {});
    EXPECT_EQ(found.codes.to_host(), wanted.codes);
    EXPECT_EQ(found.first_rows.to_host(), wanted.first_rows);
  }
}
TEST(EmulatedAnalysis, SmallRanges) {
  using numbers = detail::tuning::gpu;
  expect_coded_by_range<std::int32_t>(-500, numbers::least_dense / numbers::sorted_share);
  expect_coded_by_range<std::int32_t>(-5000, numbers::dense_share * numbers::least_dense);
#if !TILEHASH_FEW_TYPES
  expect_coded_by_range<u64>(~u64(0) - 9000, numbers::dense_share * numbers::least_dense);
#endif
}
TEST(EmulatedAnalysis, IsIn) {
  emulated space({.seed = 4, .interleave = true});
  contract::expect_isin<float>(space, 200, contract::random_numbers("emulated isin"));
}

TEST(EmulatedAnalysis, Groups) {
  emulated space({.seed = 5, .preempt = true});
  contract::expect_grouped(space, 200, contract::random_numbers("emulated groups"));
}
// With too little memory a call throws. No key is taken for a missing one.
template <class Key>
void expect_coded_or_out_of_memory(const std::vector<Key>& keys) {
  const contract::coded_model<Key> wanted(keys, {});
  u32 threw = 0, coded = 0;
  for (u64 memory = 4096; coded < 1; memory += memory / (small() ? 2 : 4)) {
    ASSERT_LT(memory, u64(1) << 20);
    emulated space({.seed = 6}, memory);
    try {
      const buffer<Key, emulated> there(space, std::span<const Key>(keys));
      const auto found = analysis::factorize(space, there.span());
      EXPECT_EQ(found.codes.to_host(), wanted.codes) << memory;
      ++coded;
    } catch (const out_of_memory&) {
      ++threw;
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(threw, 0U);
}
TEST(EmulatedAnalysis, LacksMemory) {
  std::vector<double> numbers;
  for (u32 i = 0; i < (small() ? 120U : 300U); ++i) numbers.push_back(i % 5 == 0 ? std::nan("") : i);
  expect_coded_or_out_of_memory(numbers);
}

}  // namespace
}  // namespace tilehash::designs_test
