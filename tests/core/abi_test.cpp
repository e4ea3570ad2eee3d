// Units of one program that were compiled with different flags do not share code or types that those change.
#include <gtest/gtest.h>

#include "abi_unit.hpp"

namespace tilehash {

abi_answers abi_of_other_unit();

namespace {

TEST(abi, units_with_other_flags_have_types_of_their_own) {
  const abi_answers here = abi_of_this_unit(), there = abi_of_other_unit();
  EXPECT_TRUE(here.right);
  EXPECT_TRUE(there.right);
#if defined(__AVX2__) || TILEHASH_HAS_TBB
  EXPECT_NE(here.space, there.space);
  EXPECT_NE(here.table, there.table);
#endif
#if TILEHASH_HAS_TBB
  EXPECT_NE(here.size_of_space, there.size_of_space);
#endif
}

}  // namespace
}  // namespace tilehash
