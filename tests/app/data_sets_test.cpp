// SPDX-License-Identifier: Apache-2.0
#include "data_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <vector>

#include "dataset.hpp"
#include "support.hpp"

namespace tilehash::app {
namespace {

using keys_t = std::vector<std::uint64_t>;

// [c]: keys that come c times.
std::vector<std::uint64_t> copies_in(const keys_t& keys, std::size_t most) {
  std::unordered_map<std::uint64_t, std::size_t> times;
  for (const auto key : keys) ++times[key];
  std::vector<std::uint64_t> with(most + 1);
  for (const auto& [key, c] : times) {
    if (c >= with.size()) with.resize(c + 1);
    ++with[c];
  }
  return with;
}
std::uint64_t pairs_of(const copies_plan& plan) {
  std::uint64_t pairs = 0;
  for (std::size_t c = 0; c < plan.keys_with.size(); ++c) pairs += c * plan.keys_with[c];
  return pairs;
}
std::uint64_t keys_of(const copies_plan& plan) {
  std::uint64_t keys = 0;
  for (const std::uint64_t with : plan.keys_with) keys += with;
  return keys;
}
std::size_t most_of(const copies_plan& plan) {
  std::size_t most = plan.keys_with.size() - 1;
  while (most != 0 && plan.keys_with[most] == 0) --most;
  return most;
}

struct published_copies {
  data_set which;
  std::uint64_t pairs, keys;
  std::size_t most;
};
class CopiedKeys : public ::testing::TestWithParam<published_copies> {};

TEST_P(CopiedKeys, AreAsManyAsThePaperSays) {
  const published_copies its = GetParam();
  EXPECT_EQ(full_size(its.which), its.pairs);
  const copies_plan plan = plan_copies(its.which, its.pairs);
  EXPECT_EQ(plan.keys, its.keys);
  EXPECT_EQ(keys_of(plan), its.keys);
  EXPECT_EQ(pairs_of(plan), its.pairs);
  EXPECT_EQ(most_of(plan), its.most);
  for (std::size_t c = 2; c <= its.most; ++c) EXPECT_LT(plan.keys_with[c], plan.keys_with[c - 1]) << c;
  if (its.most > 2) {
    EXPECT_EQ(plan.keys_with[its.most], 1);
  }
}

TEST_P(CopiedKeys, KeepTheirSharesInSmallSets) {
  const published_copies its = GetParam();
  for (std::uint64_t n = 0; n < 120; ++n) {
    const copies_plan plan = plan_copies(its.which, n);
    EXPECT_EQ(keys_of(plan), plan.keys) << n;
    EXPECT_EQ(pairs_of(plan), n);
    const double share = static_cast<double>(its.keys) / static_cast<double>(its.pairs);
    EXPECT_NEAR(static_cast<double>(plan.keys), static_cast<double>(n) * share, n == 1 ? 1 : 0.5001) << n;
    EXPECT_EQ(most_of(plan), n == 0 ? 0 : std::min<std::uint64_t>(its.most, n - plan.keys + 1)) << n;
  }
}

TEST_P(CopiedKeys, ComeAsOftenAsPlanned) {
  for (const unsigned bits : {32U, 64U}) {
    for (const std::uint64_t n : {0, 1, 2, 7, 30, 20'011}) {
      const copies_plan plan = plan_copies(GetParam().which, n);
      auto planned = plan.keys_with;
      planned[0] = 0;
      EXPECT_EQ(copies_in(data_set_keys({GetParam().which, n}, bits, 3), planned.size() - 1), planned)
          << n << " of " << bits << " bits";
    }
  }
}

TEST_P(CopiedKeys, LieAnywhere) {
  const std::uint64_t n = 20'000;
  const keys_t keys = data_set_keys({GetParam().which, n}, 32, 1);
  std::uint64_t neighbours = 0, in_both_halves = 0;
  for (std::size_t i = 1; i < n; ++i) neighbours += keys[i] == keys[i - 1];
  const std::set<std::uint64_t> first(keys.begin(), keys.begin() + n / 2),
      last(keys.begin() + n / 2, keys.end());
  for (const auto key : first) in_both_halves += last.contains(key);
  EXPECT_LT(neighbours, 20);
  EXPECT_GT(in_both_halves, (n - plan_copies(GetParam().which, n).keys) / 4);
}

INSTANTIATE_TEST_SUITE_P(Table2, CopiedKeys,
                         ::testing::Values(published_copies{data_set::tw, 50'876'784, 44'523'684, 4},
                                           published_copies{data_set::re, 48'104'875, 41'466'682, 2},
                                           published_copies{data_set::com, 10'000'000, 4'583'941, 14}));

TEST(NormalKeys, AreABellWithoutRepeats) {
  const double n = 100'000;
  for (const unsigned bits : {32U, 64U}) {
    const keys_t keys = data_set_keys({data_set::rand, 100'000}, bits, 5);
    EXPECT_EQ(copies_in(keys, 1)[1], keys.size());
    double sum = 0, squares = 0, within_one = 0;
    for (const auto key : keys) {
      const double x = 8 * std::ldexp(static_cast<double>(key), -static_cast<int>(bits)) - 4;
      sum += x, squares += x * x, within_one += std::abs(x) < 1;
    }
    EXPECT_NEAR(sum / n, 0, 1e-3);
    EXPECT_NEAR(squares / n, 1, 3e-3);  // 0.9989 between four deviations
    EXPECT_NEAR(within_one / n, 0.6827, 1e-3);
    EXPECT_FALSE(std::is_sorted(keys.begin(), keys.end()));
  }
}

TEST(NormalKeys, AreRefusedWhereTheyHaveNoRoom) {
  const auto refusal = testing::message_of<input_error>([] {
    data_set_keys({data_set::rand, 1ULL << 31}, 32, 1);
  });
  EXPECT_TRUE(testing::contains(refusal, "--key-bits 64")) << refusal;
  EXPECT_TRUE(testing::contains(refusal, "2147483648 keys of 'rand'")) << refusal;
}

TEST(LineitemKeys, FollowTheRulesOfTpch) {
  const std::uint64_t n = 30'000, parts = 1000;  // a 200th of scale 1
  const keys_t keys = data_set_keys({data_set::line, n}, 64, 9);
  std::uint64_t orders = 0, number = 0, order_key = 0;
  std::set<std::uint64_t> used_parts;
  for (const auto key : keys) {
    const std::uint64_t its_order = key >> 31, its_number = key & 7;
    if (its_number == 1) {
      ++orders;
      EXPECT_EQ(its_order, orders / 8 * 32 + orders % 8);
    } else {
      EXPECT_EQ(its_order, order_key);
      EXPECT_EQ(its_number, number + 1);
      EXPECT_LE(its_number, 7);
    }
    order_key = its_order, number = its_number;
    used_parts.insert((key >> 3) & ((1U << 28) - 1));
  }
  EXPECT_NEAR(static_cast<double>(n) / static_cast<double>(orders), 4, 0.1);
  EXPECT_EQ(used_parts.size(), parts);
  EXPECT_EQ(*used_parts.begin(), 1);
  EXPECT_EQ(*used_parts.rbegin(), parts);
  EXPECT_EQ(copies_in(keys, 1)[1], n);
}

TEST(LineitemKeys, AreHashedTo32Bits) {
  const keys_t keys = data_set_keys({data_set::line, 200'000}, 32, 9);
  EXPECT_LT(*std::ranges::max_element(keys), 1ULL << 32);
  EXPECT_GT(*std::ranges::max_element(keys), 0xfff00000U);
  EXPECT_GE(copies_in(keys, 1)[1], keys.size() - 40);  // 9.3 values are met by chance
}

TEST(DataSets, DependOnTheSeedAloneAndSayHowFarTheyAre) {
  for (const auto which : {data_set::tw, data_set::re, data_set::com, data_set::line, data_set::rand}) {
    const data_set_spec spec{which, 1000};
    std::vector<double> shares;
    EXPECT_EQ(data_set_keys(spec, 64, 1, [&](double share) { shares.push_back(share); }),
              data_set_keys(spec, 64, 1));
    EXPECT_NE(data_set_keys(spec, 64, 1), data_set_keys(spec, 64, 2));
    EXPECT_EQ(shares, std::vector<double>{0});
    EXPECT_TRUE(data_set_keys({which, 0}, 32, 1).empty());
    EXPECT_EQ(data_set_keys({which, 1}, 32, 1).size(), 1U);
  }
}

}  // namespace
}  // namespace tilehash::app
