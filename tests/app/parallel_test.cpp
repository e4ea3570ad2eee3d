// SPDX-License-Identifier: Apache-2.0
#include "parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace tilehash::app {
namespace {

bool all_once(const std::vector<int>& times) {
  return std::ranges::all_of(times, [](int t) { return t == 1; });
}

TEST(Parallel, GivesEveryNumberOnce) {
  for (const std::size_t n : {0, 1, 4095, 4096, 4097, 1'000'003}) {
    std::vector<int> in_shares(n), each(std::min<std::size_t>(n, 1000));
    in_parallel(n, [&](std::size_t first, std::size_t last) {
      EXPECT_LT(first, last);
      for (std::size_t i = first; i < last; ++i) ++in_shares[i];
    });
    each_in_parallel(each.size(), [&](std::size_t i) { ++each[i]; });
    EXPECT_TRUE(all_once(in_shares)) << n;
    EXPECT_TRUE(all_once(each)) << n;
    EXPECT_EQ(count_in_parallel(n, [](std::size_t first, std::size_t last) { return last - first; }), n);
  }
}

TEST(Parallel, ChoosesNumbersInTheirOrder) {
  for (const std::size_t n : {0, 1, 63, 64, 65, 32'767, 32'768, 32'833, 1'000'003}) {
    const auto chosen = [](std::size_t i) { return i % 7 == 3 || i % 64 == 63; };
    std::vector<std::uint32_t> right;
    for (std::size_t i = 0; i < n; ++i) {
      if (chosen(i)) right.push_back(static_cast<std::uint32_t>(i));
    }
    EXPECT_EQ(numbers_where(n, chosen), right) << n;
  }
}

TEST(Parallel, TellsItsCallerWhatWasThrown) {
  std::atomic<int> at_work = 0;
  EXPECT_THROW(each_in_parallel(1000,
                                [&](std::size_t i) {
                                  ++at_work;
                                  if (i == 500) throw std::runtime_error("one of them");
                                  --at_work;
                                }),
               std::runtime_error);
  EXPECT_EQ(at_work, 1);  // that one: no thread works on once the caller knows
}

}  // namespace
}  // namespace tilehash::app
