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
