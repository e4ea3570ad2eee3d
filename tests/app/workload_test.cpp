// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace tilehash::app {
namespace {

dataset of_keys(std::vector<std::uint64_t> keys, unsigned key_bits = 32) {
  dataset data;
  data.key_bits = key_bits;
  data.keys = std::move(keys);
  return data;
}

std::size_t found(const query_set& queries) {
  return static_cast<std::size_t>(
      std::ranges::count_if(queries.expected, [](const auto& e) { return e.multiplicity > 0; }));
}

TEST(Oracle, CountsAndNamesTheFirstItem) {
  const oracle truth(std::vector<std::uint64_t>{7, 5, 7, 7});
  EXPECT_EQ(truth.distinct(), 2U);
  EXPECT_EQ(truth.find(7).multiplicity, 3U);
  EXPECT_EQ(truth.find(7).item, 0U);
  EXPECT_EQ(truth.find(5).multiplicity, 1U);
  EXPECT_EQ(truth.find(5).item, 1U);
  EXPECT_EQ(truth.find(6).multiplicity, 0U);
}

TEST(Oracle, AgreesWithAMapOnManyKeys) {
  // Enough for many parts, with keys that come once and keys that come often.
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 60'000; ++i) keys.push_back(i % 3 == 0 ? i % 7 : i * i);
  std::map<std::uint64_t, expectation> known;
  for (std::uint32_t i = 0; i < keys.size(); ++i)
    ++known.try_emplace(keys[i], expectation{0, i}).first->second.multiplicity;
  std::vector<expectation> answers(keys.size());
  const oracle truth(keys, answers);
  EXPECT_EQ(truth.distinct(), known.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(answers[i].multiplicity, known[keys[i]].multiplicity) << i;
    EXPECT_EQ(answers[i].item, known[keys[i]].item) << i;
  }
  std::set<std::size_t> positions;
  for (const auto& [key, its] : known) {
    EXPECT_EQ(truth.find(key).multiplicity, its.multiplicity) << key;
    EXPECT_EQ(truth.find(key).item, its.item) << key;
    positions.insert(truth.position(key));
    EXPECT_EQ(truth.position(~key) == oracle::nowhere, !known.contains(~key));
  }
  EXPECT_EQ(positions.size(), known.size());
}

TEST(Misses, AreNotInTheDataSetAndDiffer) {
  // A quarter of all 32-bit keys below 2^12 is taken; misses must not be among them, of any width.
  std::vector<std::uint64_t> keys(1 << 12);
  std::iota(keys.begin(), keys.end(), 0U);
  const oracle truth(keys);
  for (const unsigned bits : {32U, 64U}) {
    const query_set absent = misses(truth, keys, 10'000, bits, 3);
    EXPECT_EQ(absent.size(), 10'000U);
    EXPECT_EQ(std::set<std::uint64_t>(absent.keys.begin(), absent.keys.end()).size(), 10'000U);
    for (const std::uint64_t key : absent.keys) {
      EXPECT_GE(key, keys.size());
      EXPECT_LE(key, ~std::uint64_t{0} >> (64 - bits));
    }
    EXPECT_EQ(found(absent), 0U);
  }
}

TEST(Misses, AreCheckedAgainstTheDataSet) {
  // Take what would have been the misses as keys: others must come.
  const std::vector<std::uint64_t> none;
  const query_set first = misses(oracle(none), none, 1000, 32, 3);
  const oracle truth(first.keys);
  for (const std::uint64_t key : misses(truth, first.keys, 1000, 32, 3).keys)
    EXPECT_EQ(truth.find(key).multiplicity, 0U);
}

TEST(Misses, ComeFromTheKeysOwnRange) {
  std::vector<std::uint64_t> keys;  // every third of 2^42
  for (std::uint64_t i = 0; i < 10'000; ++i) keys.push_back((std::uint64_t{1} << 42) + 3 * i);
  const query_set absent = misses(oracle(keys), keys, 5'000, 64, 1);
  EXPECT_EQ(absent.size(), 5'000U);
  for (const std::uint64_t key : absent.keys) {
    EXPECT_GE(key, keys.front());
    EXPECT_LE(key, keys.back());
  }
  EXPECT_GT(misses(oracle(keys), keys, 25'000, 64, 1).size(), 24'999U)
      << "where it has not so many, from beside it";
}

TEST(Misses, AreFewerOnlyWhereThereAreNoMore) {
  std::vector<std::uint64_t> keys(100);
  std::iota(keys.begin(), keys.end(), 0U);
  EXPECT_EQ(misses(oracle(keys), keys, 1000, 7, 1).size(), 28U);
}

TEST(Workload, AsksForEveryItemOnceByDefault) {
  const workload work(of_keys({1, 2, 2, 9}), 0, 0.5, 1);
  std::multiset<std::uint64_t> asked(work.hit.keys.begin(), work.hit.keys.end());
  EXPECT_EQ(asked, (std::multiset<std::uint64_t>{1, 2, 2, 9}));
  EXPECT_EQ(work.miss.size(), 4U);
  EXPECT_EQ(work.mix.size(), 4U);
  EXPECT_TRUE(std::ranges::equal(work.items().keys, work.data.keys));
}

TEST(Workload, MixesAsAsked) {
  std::vector<std::uint64_t> keys(1000);
  std::iota(keys.begin(), keys.end(), 5U);
  for (const double rate : {0.0, 0.25, 1.0}) {
    const workload work(of_keys(keys), 4000, rate, 1);
    EXPECT_EQ(work.mix.size(), 4000U);
    EXPECT_EQ(found(work.mix), static_cast<std::size_t>(4000 * rate));
    EXPECT_EQ(found(work.hit), 4000U);
    EXPECT_EQ(found(work.miss), 0U);
    for (std::size_t i = 0; i < work.mix.size(); ++i) {
      EXPECT_EQ(work.mix.expected[i].multiplicity, work.truth.find(work.mix.keys[i]).multiplicity);
    }
  }
}

TEST(Workload, OfNothingStillAsks) {
  const workload work(of_keys({}), 10, 0.5, 1);
  EXPECT_EQ(work.hit.size(), 0U);
  EXPECT_EQ(work.miss.size(), 10U);
  EXPECT_EQ(found(work.mix), 0U);
}

TEST(Workload, ErasesAllItemsOfAboutHalfTheKeys) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 20'000; ++i) keys.push_back(i % 10'000);
  const workload work(of_keys(keys), 0, 0.5, 1);
  const std::set<std::uint32_t> erased(work.erased.begin(), work.erased.end());
  EXPECT_EQ(erased.size(), work.erased.size());
  for (std::uint32_t item = 0; item < 10'000; ++item) {
    EXPECT_EQ(erased.contains(item), work.is_erased(item));
    EXPECT_EQ(erased.contains(item), erased.contains(item + 10'000)) << "the key's other item";
  }
  EXPECT_NEAR(static_cast<double>(erased.size()), 10'000, 600);
  EXPECT_EQ(work.items_left(true), 20'000 - erased.size());
  EXPECT_EQ(work.items_left(false), 10'000 - erased.size() / 2);
  const query_view left = work.some_after_erase();
  EXPECT_EQ(left.size(), 10'000U);
  for (std::size_t i = 0; i < left.size(); ++i)
    EXPECT_EQ(left.expected[i].multiplicity, work.is_erased(left.keys[i]) ? 0U : 2U);
}

TEST(Workload, AsksBesideWhatIsMeasuredOfSomeOfManyKeys) {
  std::vector<std::uint64_t> keys(3 * workload::enough);
  std::iota(keys.begin(), keys.end(), 0U);
  const workload work(of_keys(keys), 1, 0.5, 1);
  EXPECT_GT(work.some.size(), workload::enough / 2);
  EXPECT_LT(work.some.size(), workload::enough);
  EXPECT_GT(work.some.keys.back(), 2 * workload::enough) << "from everywhere";
}

TEST(RandomOrder, HasEachNumberOnceAndLooksRandom) {
  for (const std::uint64_t n : {1U, 2U, 3U, 7U, 1000U, 65'536U, 100'003U}) {
    const random_order order(n, 5);
    std::vector<bool> seen(n);
    std::uint64_t ascending = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t at = order(i);
      ASSERT_LT(at, n);
      EXPECT_FALSE(seen[at]) << n;
      seen[at] = true;
      ascending += i > 0 && at > order(i - 1) ? 1 : 0;
    }
    if (n >= 1000) {
      EXPECT_NEAR(static_cast<double>(ascending), n / 2.0, n / 20.0) << n;
    }
  }
}

TEST(Workload, JudgesValues) {
  const workload numbered(of_keys({4, 8, 4}), 0, 0.5, 1);
  const expectation four = numbered.truth.find(4);
  EXPECT_TRUE(numbered.is_right(4, four, 0));
  EXPECT_TRUE(numbered.is_right(4, four, 2)) << "any item of the key will do";
  EXPECT_FALSE(numbered.is_right(4, four, 1));
  EXPECT_FALSE(numbered.is_right(4, four, 3));

  dataset data = of_keys({4, 8});
  data.counts = {10, 20};
  const workload repeats(data, 0, 0.5, 1);
  EXPECT_TRUE(repeats.is_right(8, repeats.truth.find(8), 20));
  EXPECT_FALSE(repeats.is_right(8, repeats.truth.find(8), 10));
}

}  // namespace
}  // namespace tilehash::app
