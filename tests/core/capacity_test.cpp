// SPDX-License-Identifier: Apache-2.0
// How large tables become, and what is refused.
#include <tilehash/core/capacity.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tilehash::detail {
namespace {

TEST(slots_for, suffices_at_the_load_factor) {
  EXPECT_EQ(slots_for(0, 0.8), 1U);
  EXPECT_EQ(slots_for(1, 0.98), 2U);
  EXPECT_EQ(slots_for(8, 0.8), 10U);
  EXPECT_EQ(slots_for(800, 0.5), 1600U);
  for (double load : {0.001, 0.1, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98}) {
    for (u64 items :
         {0ULL, 1ULL, 2ULL, 3ULL, 10ULL, 99ULL, 1'000ULL, 65'537ULL, 1ULL << 32, (1ULL << 33) + 1}) {
      const u64 slots = slots_for(items, load);
      EXPECT_GE(slots, 1U);
      EXPECT_GE(static_cast<double>(slots) * load, static_cast<double>(items) * (1 - 1e-12));
      EXPECT_LE(static_cast<double>(slots), static_cast<double>(items) / load + 1.001);
    }
  }
}

TEST(slots_for, refuses_what_is_out_of_range) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (double load : {0.0, -0.5, 0.981, 1.0, 2.0, nan, infinity, -infinity})
    EXPECT_THROW(slots_for(10, load), invalid_argument) << load;
  EXPECT_THROW(slots_for(u64(1) << 48, 0.98), invalid_argument);
  EXPECT_THROW(slots_for(~u64(0), 0.8), invalid_argument);
  EXPECT_NO_THROW(slots_for(u64(1) << 47, 0.8));
}

TEST(next_prime, is_the_next_prime) {
  std::vector<bool> composite(10'000);
  for (u64 d = 2; d < composite.size(); ++d) {
    for (u64 m = 2 * d; m < composite.size(); m += d) composite[m] = true;
  }
  for (u64 n = 0; n < 9'900; ++n) {
    u64 expected = n < 2 ? 2 : n;
    while (composite[expected]) ++expected;
    ASSERT_EQ(next_prime(n), expected) << n;
  }
  EXPECT_EQ(next_prime((u64(1) << 32) - 5), 4'294'967'291U);  // the largest prime of 32 bits
  EXPECT_EQ(next_prime((u64(1) << 32) - 4), 4'294'967'311U);
}

TEST(bin_capacity, has_a_bound) {
  EXPECT_EQ(bin_capacity(0, 1), 32U);
  EXPECT_EQ(bin_capacity(100, 1), 100U + 80 + 32);
  EXPECT_EQ(bin_capacity(~u64(0), 1), (u64(1) << 63) + 32);
}

TEST(divide_up, rounds_up) {
  EXPECT_EQ(divide_up(0, 8), 0U);
  EXPECT_EQ(divide_up(1, 8), 1U);
  EXPECT_EQ(divide_up(8, 8), 1U);
  EXPECT_EQ(divide_up(9, 8), 2U);
  EXPECT_EQ(divide_up(~u64(0), 2), u64(1) << 63);
}

}  // namespace
}  // namespace tilehash::detail
