// SPDX-License-Identifier: Apache-2.0
// Joins by key columns and reductions of groups under the GPU's schedule.
#include <contract/grouping.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

TEST(EmulatedGrouping, Joins) {
  emulated space({.seed = 3, .preempt = true});
  contract::expect_joined(space, 60, 45, contract::random_numbers("emulated joins"));
}
TEST(EmulatedGrouping, NullKeys) {
  emulated space({.seed = 4, .interleave = true});
  contract::expect_groups_of_nulls(space, 150, contract::random_numbers("emulated null keys"));
}
TEST(EmulatedGrouping, Reductions) {
  emulated space({.seed = 5, .preempt = true});
  contract::expect_reduced<emulated, double>(space, 150, contract::random_numbers("emulated reductions"));
}

}  // namespace
}  // namespace tilehash::designs_test
