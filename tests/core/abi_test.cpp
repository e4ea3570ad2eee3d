// SPDX-License-Identifier: Apache-2.0
// Units of one program that were compiled with different flags do not share code or types that those change.
#include <memory>

#include <gtest/gtest.h>

#include "abi_unit.hpp"

namespace tilehash {

abi_answers abi_of_other_unit();
u64 put_in_by_other_unit(space_and_table& made, unsigned first, unsigned n);
space_and_table* made_by_other_unit();
void ended_by_other_unit(space_and_table* made);

namespace {

TEST(abi, units_with_other_flags_have_types_of_their_own) {
  const abi_answers here = abi_of_this_unit(), there = abi_of_other_unit();
  EXPECT_TRUE(here.right);
  EXPECT_TRUE(there.right);
#if defined(__AVX2__) || TILEHASH_HAS_TBB
  EXPECT_NE(here.space, there.space);
  EXPECT_NE(here.table, there.table);
#endif
  EXPECT_EQ(here.size_of_space, there.size_of_space);
  EXPECT_EQ(here.size_of_both, there.size_of_both);
}

// A function that takes a table of the other kind does not link; a class that holds one passes unseen.
TEST(abi, a_class_with_a_table_passes_between_units) {
  constexpr u32 n = 10'000;
  const auto here = std::make_unique<space_and_table>();
  EXPECT_EQ(put_into(*here, 0, n), n);
  EXPECT_EQ(put_in_by_other_unit(*here, n, n), n);
  EXPECT_EQ(here->table.size(), 2 * n);

  space_and_table* const there = made_by_other_unit();
  EXPECT_EQ(put_into(*there, 0, n), n);
  EXPECT_EQ(put_in_by_other_unit(*there, n, n), n);
  EXPECT_EQ(there->table.size(), 2 * n);
  delete there;
  ended_by_other_unit(std::make_unique<space_and_table>().release());
}

}  // namespace
}  // namespace tilehash
