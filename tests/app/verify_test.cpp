// SPDX-License-Identifier: Apache-2.0
// The judge is judged: right answers pass, and each kind of wrong one is counted.
#include "verify.hpp"

#include <gtest/gtest.h>

namespace tilehash::app {
namespace {

using bytes = std::vector<std::uint8_t>;
using words = std::vector<std::uint64_t>;
using counts = std::vector<std::uint32_t>;
const words no_values;

class Verify : public ::testing::Test {
 protected:
  static dataset data() {
    dataset made;
    made.key_bits = 32;
    made.keys = {10, 20, 10, 30};  // items 0..3
    return made;
  }

  static query_set queries(const oracle& truth) {
    query_set asked;
    for (const std::uint64_t key : {10, 20, 99}) asked.push_back(key, truth.find(key));
    return asked;
  }

  const workload work{data(), 0, 0.5, 1};
  const query_set asked = queries(work.truth);
};

TEST_F(Verify, Lookups) {
  EXPECT_EQ(wrong_lookups(work, asked, bytes{1, 1, 0}, words{0, 1, 77}), 0U)
      << "the value of what is not found is free";
  EXPECT_EQ(wrong_lookups(work, asked, bytes{1, 1, 0}, words{2, 1, 0}), 0U) << "the later item of a key";
  EXPECT_EQ(wrong_lookups(work, asked, bytes{1, 1, 0}, no_values), 0U) << "a set";
  EXPECT_EQ(wrong_lookups(work, asked, bytes{0, 1, 0}, words{0, 1, 0}), 1U) << "lost";
  EXPECT_EQ(wrong_lookups(work, asked, bytes{1, 1, 1}, words{0, 1, 0}), 1U) << "invented";
  EXPECT_EQ(wrong_lookups(work, asked, bytes{1, 1, 0}, words{1, 0, 0}), 2U) << "another key's value";
}

TEST_F(Verify, Counts) {
  EXPECT_EQ(wrong_counts(asked, counts{1, 1, 0}, false), 0U);
  EXPECT_EQ(wrong_counts(asked, counts{2, 1, 0}, true), 0U);
  EXPECT_EQ(wrong_counts(asked, counts{2, 1, 0}, false), 1U);
  EXPECT_EQ(wrong_counts(asked, counts{1, 1, 1}, true), 2U);
}

TEST_F(Verify, ContentsOfATableThatKeepsOneItemAKey) {
  EXPECT_EQ(wrong_contents(work, words{30, 10, 20}, words{3, 2, 1}, false), 0U);
  EXPECT_EQ(wrong_contents(work, words{30, 10, 20}, no_values, false), 0U) << "a set";
  EXPECT_GT(wrong_contents(work, words{30, 10}, words{3, 2}, false), 0U) << "missing";
  EXPECT_GT(wrong_contents(work, words{30, 10, 20, 10}, words{3, 2, 1, 0}, false), 0U) << "twice";
  EXPECT_GT(wrong_contents(work, words{30, 10, 20}, words{3, 1, 1}, false), 0U) << "another key's value";
  EXPECT_GT(wrong_contents(work, words{30, 10, 21}, words{3, 2, 1}, false), 0U) << "another key";
}

TEST_F(Verify, ContentsOfATableThatKeepsAll) {
  EXPECT_EQ(wrong_contents(work, words{30, 10, 20, 10}, words{3, 2, 1, 0}, true), 0U);
  EXPECT_GT(wrong_contents(work, words{30, 10, 20, 10}, words{3, 2, 1, 2}, true), 0U)
      << "one item twice, another missing";
  EXPECT_GT(wrong_contents(work, words{30, 10, 20}, words{3, 2, 1}, true), 0U);
}

TEST_F(Verify, ContentsOfAFileAndItsCounts) {
  dataset file;
  file.keys = {7, 8};
  file.counts = {2, 1};
  file.raw = {8, 7, 7};
  const workload counted(file, 0, 0.5, 1);
  EXPECT_EQ(wrong_contents(counted, words{7, 8}, words{2, 0}, false, contents::occurrences), 0U);
  EXPECT_EQ(wrong_contents(counted, words{7, 8, 7}, words{2, 0, 1}, true, contents::occurrences), 0U);
  EXPECT_GT(wrong_contents(counted, words{7, 8, 7}, words{2, 0, 2}, true, contents::occurrences), 0U)
      << "one twice";
  EXPECT_GT(wrong_contents(counted, words{7, 8}, words{0, 0}, false, contents::occurrences), 0U)
      << "another key's";
  EXPECT_EQ(wrong_contents(counted, words{7, 8}, words{2, 1}, false, contents::tallies), 0U);
  EXPECT_GT(wrong_contents(counted, words{7, 8}, words{1, 1}, false, contents::tallies), 0U) << "miscounted";
  EXPECT_GT(wrong_contents(counted, words{7}, words{2}, false, contents::tallies), 0U) << "missing";
}

TEST_F(Verify, Size) {
  EXPECT_EQ(work.items_of(false), 3U);
  EXPECT_EQ(work.items_of(true), 4U);
}

}  // namespace
}  // namespace tilehash::app
