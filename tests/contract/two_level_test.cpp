// SPDX-License-Identifier: Apache-2.0
// The rules of two_level_cuckoo alone: regions that are built again alone, partitions that restart, bins
// that overflow, and the figures of Alcantara's thesis, chapter 5, that do not depend on the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <contract/bad_hash.hpp>
#include <contract/message_of.hpp>
#include <contract/random.hpp>
#include <tilehash/papers/two_level_cuckoo.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
namespace {

using contract::message_of;
using contract::run_seed;
using contract::scaled;

std::vector<u32> different_keys(u64 n, u64 first = 0) {
  std::vector<u32> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(first + i));
  return keys;
}

template <class Design, class Space>
void expect_all(Space& space, const table<Design, Space>& t, const std::vector<u32>& keys,
                const std::vector<u32>& values) {
  std::vector<u32> out(keys.size());
  t.find(space, keys, out);
  EXPECT_TRUE(out == values);
}

// A CPU with the scratch of a small machine.
class small_cpu : public cpu {
 public:
  using cpu::cpu;
  static constexpr u64 largest_scratch() { return 8192; }
};

// ---- the paper's figures ----------------------------------------------------------------------------------

// The chance that a region that expects `mean` keys gets more than `most`.
double chance_of_more(u32 most, double mean) {
  double term = std::exp((most + 1) * std::log(mean) - mean - std::lgamma(most + 2)), sum = 0;
  for (u32 k = most + 1; k < most + 500; ++k) sum += term, term *= mean / (k + 1);
  return sum;
}

// Section 5.5: 22 of 25 000 tables of a million items had to be partitioned again, 125 of 5 million. That is
// what evenly spread keys give, and ours are spread as evenly.
TEST(two_level, regions_overfill_as_often_as_in_the_thesis) {
  const auto expect_like = [](double paper, double n) {
    const double chance = 1 - std::pow(1 - chance_of_more(512, 0.8 * 512), n / (0.8 * 512));
    EXPECT_NEAR(paper, 25'000 * chance, 3 * std::sqrt(25'000 * chance)) << n;
  };
  expect_like(22, 1e6);
  expect_like(125, 5e6);

  using design = papers::two_level_cuckoo<u32, u32, 512>;
  u64 regions = 0, over = 0;
  constexpr double fill = 0.9;  // fuller than a table may be, so that enough are over
  const auto keys = different_keys(scaled(1'000'000, 100'000));
  for (u64 seed = run_seed(); seed < run_seed() + 4; ++seed) {
    const u64 all = static_cast<u64>(static_cast<double>(keys.size()) / (fill * 512));
    std::vector<char> memory(design::bytes(all * design::most_slots));
    const design d(memory.data(), all * design::most_slots, seed);
    std::vector<u32> sizes(all);
    for (u32 key : keys) ++sizes[d.region_of(d.hash(key))];
    regions += all;
    over += static_cast<u64>(std::ranges::count_if(sizes, [](u32 n) { return n > 512; }));
  }
  const double expected = static_cast<double>(regions) * chance_of_more(512, fill * 512);
  EXPECT_NEAR(static_cast<double>(over), expected, 5 * std::sqrt(expected));
}

// How many slots the lookups of these keys read on average.
template <class Design>
double average_probes(cpu& space, const table<Design, cpu>& t, const std::vector<u32>& keys) {
  std::vector<u32> probes(keys.size());
  t.probe_counts(space, keys, probes);
  EXPECT_LE(*std::ranges::max_element(probes), 3U);
  return std::accumulate(probes.begin(), probes.end(), 0.0) / static_cast<double>(keys.size());
}

// Sections 5.1.1 and 5.2: how large tables are for their items, that few regions fail under their first seed
// and nearly all of those are built under the next, and that no lookup reads more than three slots. (The
// paper's failed lookups read all three; ours end at an empty slot.)
template <u32 Capacity>
void expect_as_in_the_thesis(double slots_an_item, double load, double found) {
  SCOPED_TRACE(Capacity);
  using design = papers::two_level_cuckoo<u32, u32, Capacity>;
  cpu space(2);
  const u64 n = scaled(1'000'000, 100'000);
  const auto keys = different_keys(n);
  table<design, cpu> t(space, 0, {.load_factor = load, .seed = run_seed()});
  const insert_report report = t.build(space, keys, keys);
  EXPECT_EQ(report.inserted, n);
  EXPECT_LE(report.restarts, 1U);
  EXPECT_NEAR(static_cast<double>(t.capacity()) / static_cast<double>(n), slots_an_item, 0.01);
  EXPECT_NEAR(static_cast<double>(t.bytes()) / static_cast<double>(n), 8 * slots_an_item, 0.08);
  expect_all(space, t, keys, keys);

  const design d = t.view().design;
  const auto tried_more = [&](u8 seeds) {
    return std::count_if(d.seeds(), d.seeds() + d.regions(), [=](u8 s) { return s >= seeds; });
  };
  EXPECT_LE(tried_more(1), d.regions() / 200 + 2) << "of " << d.regions() << " regions";
  EXPECT_LE(tried_more(2), tried_more(1) / 10 + 1);
  EXPECT_NEAR(average_probes(space, t, keys), found, 0.01);
  EXPECT_NEAR(average_probes(space, t, different_keys(n, n)), 1 + load + load * load, 0.01);
}
TEST(two_level, tables_are_as_large_and_regions_fail_as_seldom_as_in_the_thesis) {
  expect_as_in_the_thesis<512>(1.41, 0.711, 1.514);    // the paper's 1.42 N
  expect_as_in_the_thesis<1024>(1.325, 0.755, 1.572);  // 1.33 N
  expect_as_in_the_thesis<2048>(1.25, 0.8, 1.647);
}

// ---- failures
// -----------------------------------------------------------------------------------------------

// Small regions fail most often: each of these tables is one.
TEST(two_level, a_region_is_built_again_alone) {
  using design = papers::two_level_cuckoo<u32, u32>;
  cpu space(1);
  u64 retried = 0;
  for (u64 seed = 0; seed < 300; ++seed) {
    const auto keys = different_keys(12, 100 * seed);
    table<design, cpu> t(space, 0, {.seed = seed});
    const insert_report report = t.build(space, keys, keys);
    EXPECT_EQ(report.inserted, keys.size());
    EXPECT_EQ(report.restarts, 0U);
    ASSERT_EQ(t.view().design.regions(), 1U);
    retried += *t.view().design.seeds() != 0;
    expect_all(space, t, keys, keys);
  }
  EXPECT_GT(retried, 0U);
}

TEST(two_level, a_partition_that_overfills_a_region_starts_anew) {
  cpu space(2);
  const auto keys = different_keys(30'000);
  table<papers::two_level_cuckoo<u32, u32, 512, contract::bad_at_first<3>>, cpu> t(
      space, 0, {.load_factor = 0.7, .seed = 0});
  const insert_report report = t.build(space, keys, keys);
  EXPECT_EQ(report.inserted, keys.size());
  EXPECT_EQ(report.restarts, 3U);
  EXPECT_NEAR(t.load_factor(), 0.7, 0.01) << "the first few tries are of the same size";
  expect_all(space, t, keys, keys);
}

TEST(two_level, what_cannot_be_built_says_so_and_leaves_the_table) {
  cpu space(1);
  const auto few = different_keys(3), many = different_keys(1000);
  table<papers::two_level_cuckoo<u32, u32, 2048, contract::bad_at_first<1000>>, cpu> t(space, 0, {.seed = 0});
  EXPECT_EQ(t.build(space, few, few).inserted, few.size());  // three keys have three spots
  try {
    std::ignore = t.build(space, many, many);
    FAIL() << "nothing was thrown";
  } catch (const error& e) {
    EXPECT_EQ(
        std::string(e.what()),
        "tilehash: the items could not be placed with 16 hash functions; ask for a lower load factor, or "
        "take another hash");
  }
  EXPECT_EQ(t.size(), few.size());
  expect_all(space, t, few, few);
}

// ---- bad input
// ----------------------------------------------------------------------------------------------

TEST(two_level, loads_that_cannot_be) {
  cpu space(1);
  for (double load : {0.0, -1.0, 0.72, 1.0, std::nan("")})
    EXPECT_EQ(
        message_of<invalid_argument>(
            [&] { table<papers::two_level_cuckoo<u32, u32, 512>, cpu>(space, 10, {.load_factor = load}); }),
        "tilehash: the load factor must be above 0 and at most 0.711111 in a two_level_cuckoo table with "
        "regions of 512 items");
  EXPECT_NO_THROW((table<papers::two_level_cuckoo<u32, u32, 2048>, cpu>(space, 10, {.load_factor = 0.8})));
}

TEST(two_level, regions_that_no_block_can_hold) {
  small_cpu space(1);
  const auto few = different_keys(10), many = different_keys(1800);
  table<papers::two_level_cuckoo<u32, u32>, small_cpu> t(space);
  EXPECT_EQ(t.build(space, few, few).inserted, few.size());
  EXPECT_EQ(
      message_of<invalid_argument>([&] { std::ignore = t.build(space, many, many); }),
      "tilehash: a region of 2250 slots takes 18012 bytes of a block's memory, of which there are 8192; "
      "take smaller regions (two_level_cuckoo's Capacity)");
  EXPECT_EQ(t.size(), few.size());
  expect_all(space, t, few, few);
}

// ---- the partition
// ------------------------------------------------------------------------------------------

// With so little scratch that the partition's counts do not fit.
TEST(two_level, items_are_scattered_one_by_one_where_a_block_is_small) {
  small_cpu space(2);
  auto keys = different_keys(20'000);
  keys[7] = ~0U, keys[8] = ~0U - 1;  // these live in sentinel cells
  const auto values = different_keys(20'000, 5);
  table<papers::two_level_cuckoo<u32, u32, 512>, small_cpu> t(space, 0, {.load_factor = 0.7});
  EXPECT_EQ(t.build(space, keys, values), (insert_report{.inserted = 20'000}));
  expect_all(space, t, keys, values);
}

// One key comes so often that its bin cannot have all its items.
template <class Design>
void build_with_one_key_often() {
  cpu space(2);
  const u64 n = 60'000, different = 20'000;
  std::vector<typename Design::key_type> keys(n, typename Design::key_type(42));
  std::vector<typename Design::mapped_type> values(n), out(n);
  for (u64 i = 0; i < n; i += n / different) keys[i] = static_cast<typename Design::key_type>(1000 + i);
  for (u64 i = 0; i < n; ++i) values[i] = static_cast<typename Design::mapped_type>(keys[i]);
  keys[2] = static_cast<typename Design::key_type>(~0ULL), values[2] = 99;
  table<Design, cpu> t(space);
  const insert_report report = t.build(space, keys, values);
  EXPECT_EQ(report.inserted, different + 2);
  EXPECT_EQ(report.present, n - different - 2);
  EXPECT_EQ(report.restarts, 0U);
  t.find(space, keys, out);
  EXPECT_TRUE(out == values);
}
TEST(two_level, a_bin_overflows) {
  build_with_one_key_often<papers::two_level_cuckoo<u32, u32>>();
  build_with_one_key_often<papers::two_level_cuckoo<u64, u64>>();
}

}  // namespace
}  // namespace tilehash
