// SPDX-License-Identifier: Apache-2.0
#include "random_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include <contract/random.hpp>

namespace tilehash::app {
namespace {

using keys_t = std::vector<std::uint64_t>;

std::size_t distinct(keys_t keys) {
  std::sort(keys.begin(), keys.end());
  return static_cast<std::size_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
}

TEST(RandomKeys, OfNoneAndOne) {
  for (const auto shape :
       {distribution::uniform, distribution::normal, distribution::zipf, distribution::sequential}) {
    for (const unsigned bits : {32U, 64U}) {
      for (const std::uint64_t n : {0U, 1U}) {
        EXPECT_EQ(random_keys({.n = n, .unique = false, .shape = shape, .skew = 1}, bits, 1).size(), n);
      }
    }
  }
}

TEST(RandomKeys, AreUniqueWhenAsked) {
  for (const unsigned bits : {32U, 64U}) {
    const keys_t keys = random_keys({.n = contract::scaled(3'000'000, 300'000), .unique = true}, bits, 42);
    EXPECT_EQ(distinct(keys), keys.size()) << bits;
  }
}

TEST(RandomKeys, RepeatAsIndependentDrawsDo) {
  // n draws from 2^32 meet about n^2 / 2^33 times: 1,048 of 3 million, with a standard deviation of 32.
  const std::uint64_t n = contract::scaled(3'000'000, 600'000);
  const keys_t keys = random_keys({.n = n}, 32, 42);
  const double expected = static_cast<double>(n) * static_cast<double>(n) / 8.59e9;
  EXPECT_NEAR(static_cast<double>(keys.size() - distinct(keys)), expected, 6 * std::sqrt(expected));
  EXPECT_GT(*std::max_element(keys.begin(), keys.end()), 0xff000000U);
  const keys_t wide = random_keys({.n = 100'000}, 64, 42);
  EXPECT_EQ(distinct(wide), wide.size());
  EXPECT_GT(*std::max_element(wide.begin(), wide.end()), 0xff00000000000000U);
}

TEST(RandomKeys, DependOnTheSeedAlone) {
  for (const bool unique : {false, true}) {
    const random_spec spec{.n = 1000, .unique = unique};
    EXPECT_EQ(random_keys(spec, 32, 1), random_keys(spec, 32, 1));
    EXPECT_NE(random_keys(spec, 32, 1), random_keys(spec, 32, 2));
  }
}

TEST(RandomKeys, SequentialCounts) {
  EXPECT_EQ(random_keys({.n = 4, .unique = false, .shape = distribution::sequential}, 32, 9),
            (keys_t{0, 1, 2, 3}));
}

TEST(RandomKeys, NormalIsABell) {
  for (const unsigned bits : {32U, 64U}) {
    const keys_t keys = random_keys({.n = 200'000, .unique = false, .shape = distribution::normal}, bits, 3);
    double sum = 0, squares = 0;
    for (const std::uint64_t key : keys) {
      const double x = std::ldexp(static_cast<double>(key), -static_cast<int>(bits));
      ASSERT_LE(x, 1);
      sum += x, squares += x * x;
    }
    const double mean = sum / 200'000, deviation = std::sqrt(squares / 200'000 - mean * mean);
    EXPECT_NEAR(mean, 0.5, 0.002);
    EXPECT_NEAR(deviation, 0.125, 0.002);
  }
}

class ZipfKeys : public ::testing::TestWithParam<double> {};

TEST_P(ZipfKeys, HaveTheRightFrequencies) {
  const double s = GetParam();
  const std::uint64_t n = 500'000;
  const keys_t keys = random_keys({.n = n, .unique = false, .shape = distribution::zipf, .skew = s}, 32, 11);
  std::unordered_map<std::uint64_t, std::uint64_t> count;
  for (const std::uint64_t key : keys) ++count[key];
  std::vector<std::uint64_t> by_frequency;
  by_frequency.reserve(count.size());
  for (const auto& [key, times] : count) by_frequency.push_back(times);
  std::sort(by_frequency.rbegin(), by_frequency.rend());

  double normaliser = 0;
  for (std::uint64_t rank = 1; rank <= n; ++rank) normaliser += std::pow(static_cast<double>(rank), -s);
  for (const std::size_t rank : {1, 2, 3, 5}) {
    const double expected = static_cast<double>(n) * std::pow(static_cast<double>(rank), -s) / normaliser;
    EXPECT_NEAR(static_cast<double>(by_frequency[rank - 1]), expected, 5 * std::sqrt(expected))
        << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Skews, ZipfKeys, ::testing::Values(0.8, 0.99, 1.0, 1.2, 2.0));

}  // namespace
}  // namespace tilehash::app
