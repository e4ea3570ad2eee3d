// SPDX-License-Identifier: Apache-2.0
// Atomic operations in optimised code.
#include <gtest/gtest.h>

#include <tilehash/core/atomic.hpp>

namespace tilehash::detail {
namespace {

// A word is added to another, and the sum is looked at.
__attribute__((noinline)) u64 add_and_sum(u64* at, u64 x, bool adds) {
  if (adds) {
    x += fetch_add(at, x);
    if (x >> 3 != 5) return 0;
    *at = 1;
  }
  return x;
}
__attribute__((noinline)) u64 join_bits(u64* at, u64 x, bool joins) {
  if (joins) {
    x |= fetch_or(at, x);
    if (x >> 3 != 5) return 0;
    *at = 1;
  }
  return x;
}

TEST(Atomic, ResultsAreCombinedWithWhatWasGiven) {
  u64 word = 30;
  EXPECT_EQ(add_and_sum(&word, 12, true), 42U);
  EXPECT_EQ(word, 1U);
  EXPECT_EQ(add_and_sum(&word, 12, false), 12U);
  word = 40;
  EXPECT_EQ(join_bits(&word, 2, true), 42U);
}

}  // namespace
}  // namespace tilehash::detail
