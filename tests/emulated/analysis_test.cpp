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

}  // namespace
}  // namespace tilehash::designs_test
