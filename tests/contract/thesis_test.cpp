// SPDX-License-Identifier: Apache-2.0
// Lookup lengths are as Alcantara's thesis measured them (tables 3.2 and 4.1): they do not depend on the
// machine. The thesis has one run of 10 million items each; this test has that many in the tier full, and a million
// or 60 000 else. With fewer items the longest walks are shorter, so 100 % is only bounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/papers/papers.hpp>
#include <tilehash/tilehash.hpp>

namespace tilehash {
namespace {

struct lengths {
  double average;
  u32 p50, p80, p90, p99, p100;
};
struct row {
  double size;         // of the table, in slots an item
  double load_factor;  // that gives this size
  lengths found, missing;
};

// With fewer items single clusters move the averages by more than is tolerated below.
u64 items() { return contract::large_sizes() ? 10'000'000 : contract::scaled(1'000'000, 400'000); }
// A table with half of its slots free has short clusters.
u64 items_for(const row& r, u64 most) { return contract::small_sizes() && r.size >= 2 ? most / 4 : most; }

lengths summary(std::vector<u32>& probes, u32 not_counted) {
  std::sort(probes.begin(), probes.end());
  const auto n = static_cast<double>(probes.size());
  const auto at = [&](double share) {
    return probes[static_cast<u64>(std::ceil(share * n)) - 1] - not_counted;
  };
  const double sum = std::accumulate(probes.begin(), probes.end(), 0.0);
  return {sum / n - not_counted, at(0.5), at(0.8), at(0.9), at(0.99), at(1)};
}
template <class Design>
lengths measure(const table<Design, cpu>& t, cpu& space, u64 first, u64 n, u32 not_counted) {
  std::vector<u32> keys(n), probes(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(first + i));
  t.probe_counts(space, keys, probes);
  return summary(probes, not_counted);
}

// Averages within 4 %, percentiles within 15 % or one step; 25 % where a few long walks make them, and 40 %
// for the last percent of those, which a handful of clusters decides (in a million keys, 26 % off once in
// some tens of runs).
void expect_like(const lengths& ours, const lengths& paper, const std::string& what) {
  SCOPED_TRACE(what);
  const bool few_long_walks = paper.p99 > 100;
  EXPECT_NEAR(ours.average, paper.average, (few_long_walks ? 0.25 : 0.04) * paper.average);
  const auto within = [](double share) {
    return [=](u32 a, u32 b) { return std::abs(double(a) - b) <= std::max(1.0, share * b); };
  };
  const auto near = within(few_long_walks ? 0.25 : 0.15), near_the_end = within(few_long_walks ? 0.4 : 0.15);
  EXPECT_PRED2(near, ours.p50, paper.p50);
  EXPECT_PRED2(near, ours.p80, paper.p80);
  EXPECT_PRED2(near, ours.p90, paper.p90);
  EXPECT_PRED2(near_the_end, ours.p99, paper.p99);
  EXPECT_LE(ours.p100, 2 * paper.p100 + 2);
}

template <class Design>
void compare(const std::vector<row>& paper, u32 not_counted = 0) {
  cpu space;
  std::vector<u32> all(items());
  for (u64 i = 0; i < all.size(); ++i) all[i] = mix32(static_cast<u32>(i));
  for (const row& r : paper) {
    const u64 n = items_for(r, all.size());
    const std::span<const u32> keys(all.data(), n);
    table<Design, cpu> t(space, 0, {.load_factor = r.load_factor, .seed = contract::run_seed()});
    ASSERT_EQ(t.build(space, keys, keys).inserted, n);
    const std::string what = std::string(Design::name) + " at " + std::to_string(r.size) + " N, ";
    expect_like(measure(t, space, 0, n, not_counted), r.found, what + "found");
    expect_like(measure(t, space, n, n, not_counted), r.missing, what + "missing");
  }
}

const std::vector<row> linear_rows{
    {1.05, 1 / 1.05, {11.06, 1, 6, 16, 195, 5144}, {223.40, 77, 340, 622, 1820, 5650}},
    {1.25, 1 / 1.25, {2.99, 1, 3, 6, 29, 301}, {12.97, 6, 19, 34, 95, 354}},
    {2.00, 1 / 2.00, {1.50, 1, 2, 3, 7, 43}, {2.49, 1, 3, 5, 13, 58}},
};
const std::vector<row> quadratic_rows{
    {1.05, 1 / 1.05, {3.39, 1, 4, 8, 29, 264}, {21.85, 15, 35, 50, 98, 318}},
    {1.25, 1 / 1.25, {2.13, 1, 3, 4, 12, 80}, {5.43, 4, 9, 12, 23, 78}},
    {2.00, 1 / 2.00, {1.43, 1, 2, 2, 5, 22}, {2.13, 1, 3, 4, 8, 26}},
};
const std::vector<row> double_rows{
    {1.05, 1 / 1.05, {3.23, 1, 4, 7, 28, 237}, {21.42, 15, 34, 49, 97, 359}},
    {1.25, 1 / 1.25, {2.02, 1, 3, 4, 11, 54}, {5.06, 4, 8, 11, 22, 81}},
    {2.00, 1 / 2.00, {1.39, 1, 2, 2, 5, 20}, {2.01, 1, 3, 4, 7, 27}},
};
TEST(thesis, table_3_2_linear_probing) { compare<linear_probing<u32, u32>>(linear_rows); }
TEST(thesis, table_3_2_quadratic_probing) { compare<papers::quadratic_probing<u32, u32>>(quadratic_rows); }
TEST(thesis, table_3_2_double_hashing) { compare<double_hashing<u32, u32>>(double_rows); }

// With the thesis' own hash functions (section 3.1.2): the design alone, one thread.
template <class Design>
lengths measure_alone(const Design& design, u64 first, u64 n) {
  using slot = typename Design::slot_type;
  std::vector<u32> probes(n, 1);
  for (u64 i = 0; i < n; ++i) {
    const auto bits = slot::encode(mix32(static_cast<u32>(first + i)));
    auto location = design.locate(bits);
    for (; probes[i] < design.max_steps(); ++probes[i], design.next(location)) {
      const auto word = *design.bucket_at(design.where(location));
      if (slot::key_of(word) == bits || word == slot::empty_word) break;
    }
  }
  return summary(probes, 0);
}
template <class Design>
void compare_alone(const std::vector<row>& paper, u64 most) {
  using slot = typename Design::slot_type;
  for (const row& r : paper) {
    const u64 n = items_for(r, most);
    const u64 capacity = Design::capacity_for(n, r.load_factor);
    std::vector<typename Design::word> memory(capacity, slot::empty_word);
    const Design design(memory.data(), capacity, contract::run_seed());
    for (u64 i = 0; i < n; ++i) {
      const auto bits = slot::encode(mix32(static_cast<u32>(i)));
      if (!slot::is_reserved(bits)) {
        ASSERT_EQ(detail::insert_one(design, bits, 0), outcome::inserted);
      }
    }
    const std::string what = std::string(Design::name) + " at " + std::to_string(r.size) + " N, ";
    expect_like(measure_alone(design, 0, n), r.found, what + "found");
    expect_like(measure_alone(design, n, n), r.missing, what + "missing");
  }
}
template <class Hash>
class hash_family : public ::testing::Test {};
#if TILEHASH_FEW_TYPES
using families = ::testing::Types<linear_polynomial>;
#else
using families = ::testing::Types<linear_polynomial, xor_polynomial>;
#endif
TYPED_TEST_SUITE(hash_family, families);
TYPED_TEST(hash_family, probes_as_in_table_3_2) {
  compare_alone<linear_probing<u32, u32, TypeParam>>(linear_rows, items());
  compare_alone<papers::quadratic_probing<u32, u32, TypeParam>>(quadratic_rows, items() / 2);
  compare_alone<double_hashing<u32, u32, TypeParam>>(double_rows, items() / 2);
}

// The reads of a bucket's bounds are not counted; ours count as one.
TEST(thesis, table_4_1_chaining) {
  compare<chained<u32, u32>>(
      {
          {1.05, 10.0, {6.00, 6, 9, 11, 16, 29}, {10.00, 10, 13, 14, 18, 31}},
          {1.25, 2.0, {2.00, 2, 3, 4, 6, 12}, {2.00, 2, 3, 4, 6, 12}},
          {2.00, 0.5, {1.25, 1, 2, 2, 3, 7}, {0.50, 0, 1, 1, 3, 7}},
      },
      1);
}
// For cuckoo hashing the thesis gives no such table. A lookup that fails goes on at a slot with the
// probability that it is taken; one that succeeds reads what the algorithm of its chapter 6 leads to, or
// less: 2.47, 1.92 and 1.38 slots when an item goes to its first slot and the one evicted to its next, one
// after another.
TEST(thesis, chapter_6_cuckoo) {
  compare<papers::cuckoo<u32, u32>>({
      {1.05, 1 / 1.05, {2.13, 2, 3, 4, 4, 4}, {3.723, 4, 4, 4, 4, 4}},
      {1.25, 1 / 1.25, {1.78, 1, 3, 3, 4, 4}, {2.952, 4, 4, 4, 4, 4}},
      {2.00, 1 / 2.00, {1.365, 1, 2, 2, 3, 4}, {1.875, 1, 3, 4, 4, 4}},
  });
}

}  // namespace
}  // namespace tilehash
