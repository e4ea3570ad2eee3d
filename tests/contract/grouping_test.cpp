// SPDX-License-Identifier: Apache-2.0
// Joins by key columns and reductions of groups on a CPU.
#include <contract/grouping.hpp>
#include <tilehash/space/cpu_algorithms.hpp>

namespace tilehash::contract {
namespace {

TEST(Grouping, Joins) {
  cpu space(2);
  for (const auto& [n, m] : {std::pair<u64, u64>{0, 0}, {0, 5}, {5, 0}, {1, 1}, {120, 90}, {90, 200}})
    expect_joined(space, n, m, random_numbers("joins"));
}
TEST(Grouping, NullKeys) {
  cpu one(1), two(2);
  for (const u64 rows : {0, 1, 300}) expect_groups_of_nulls(one, rows, random_numbers("null keys"));
  expect_groups_of_nulls(two, detail::tuning::cpu::least_shared + 10, random_numbers("null keys"));
}
TEST(Grouping, Reductions) {
  cpu one(1), three(3);
  for (const u64 rows : {0, 1, 2, 40, 900}) {
    expect_reduced<cpu, double>(one, rows, random_numbers("reductions"));
    expect_reduced<cpu, std::int32_t>(one, rows, random_numbers("reductions"));
  }
  expect_reduced<cpu, float>(three, detail::tuning::cpu::least_shared + 10, random_numbers("reductions"));
}
TEST(Grouping, RefusesWhatItCannotDo) {
  cpu space(1);
  const std::vector<u32> two{1, 2}, three{1, 2, 3};
  EXPECT_THROW(
      static_cast<void>(analysis::join_rows(space, analysis::on(two, three), analysis::on(two, two))),
      invalid_argument);
  EXPECT_THROW(
      static_cast<void>(analysis::join_rows(space, analysis::on(three, two), analysis::on(two, three))),
      invalid_argument);  // as many rows together
  const auto groups = analysis::group_by(space, two);
  EXPECT_THROW(static_cast<void>(analysis::mean(space, groups, three)), invalid_argument);
  EXPECT_THROW(static_cast<void>(analysis::quantile(space, groups, two, 1.5)), invalid_argument);
}

}  // namespace
}  // namespace tilehash::contract
