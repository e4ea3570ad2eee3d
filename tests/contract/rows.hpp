// SPDX-License-Identifier: Apache-2.0
// Rows of so many items that they are built by regions, or in bins; other tests use fewer.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <contract/join_model.hpp>
#include <contract/random.hpp>
#include <tilehash/papers/hash_graph.hpp>
#include <tilehash/papers/hash_graph_original.hpp>
#include <tilehash/rows.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

template <class Design>
class rows : public ::testing::Test {
 protected:
  using key = typename Design::key_type;
  using table_type = table<Design, rows_space>;
  using value = typename table_type::value_element;

  // Builds, and compares counts and all items with std::unordered_multimap.
  void build_and_compare(const std::vector<key>& keys, double load_factor) {
    const u64 n = keys.size();
    std::vector<value> values(n);
    std::unordered_multimap<key, value> model;
    u64 illegal = 0;
    for (u64 i = 0; i < n; ++i) {
      values[i] = table_type::is_set ? value() : static_cast<value>(i);
      if (keys[i] == keys[i])
        model.emplace(keys[i], values[i]);
      else
        ++illegal;
    }
    const buffer<key, rows_space> k(space_, keys);
    const buffer<value, rows_space> v(space_, values);
    table_type t(space_, 0, {.load_factor = load_factor, .seed = run_seed()});
    insert_report report;
    if constexpr (table_type::is_set)
      report = t.build(space_, k.span());
    else
      report = t.build(space_, k.span(), v.span());
    EXPECT_EQ(report.inserted, model.size());
    EXPECT_EQ(report.refused, illegal);

    std::unordered_map<key, u32> expected;
    for (const auto& [one, its] : model) ++expected[one];
    std::vector<key> different;
    for (const auto& [one, count] : expected) different.push_back(one);
    const buffer<key, rows_space> questions(space_, different);
    const buffer<u32, rows_space> counts(space_, different.size());
    t.count(space_, questions.span(), counts.span());
    const auto counted = counts.to_host();
    u64 wrong = 0;
    for (u64 i = 0; i < different.size(); ++i) wrong += counted[i] != expected[different[i]];
    EXPECT_EQ(wrong, 0U);

    // Larger than the expected number of items.
    const buffer<key, rows_space> all(space_, n + 1);
    const buffer<value, rows_space> all_values(space_, n + 1);
    space_.fill(all.data(), all.size(), key(0));
    space_.fill(all_values.data(), all_values.size(), value(0));
    u64 given = 0;
    if constexpr (table_type::is_set)
      given = t.retrieve_all(space_, all.span());
    else
      given = t.retrieve_all(space_, all.span(), all_values.span());
    ASSERT_EQ(given, model.size());
    const auto got = all.to_host();
    const auto got_values = all_values.to_host();
    std::vector<bool> seen(n);  // by number, which is the value
    for (u64 i = 0; i < given; ++i) {
      const u64 number = table_type::is_set ? 0 : static_cast<u64>(got_values[i]);
      if constexpr (table_type::is_set) {
        wrong += expected[got[i]]-- == 0;
      } else {
        wrong += number >= n || seen[number] || keys[number] != got[i];
        if (number < n) seen[number] = true;
      }
    }
    EXPECT_EQ(wrong, 0U);
  }

  void expect_as_many_as_items() {
    EXPECT_EQ(table_type(space_, 1000).capacity(), 1000U);
    EXPECT_EQ(table_type(space_, 1000, {.seed = 1}).options().load_factor, 1);
    EXPECT_EQ(table_type(space_, 1000, {.load_factor = 0.8}).capacity(), 1250U);
    table_type t(space_);
    const buffer<key, rows_space> keys(space_, make_keys(500, 0));
    const buffer<value, rows_space> values(space_, std::vector<value>(500));
    if constexpr (table_type::is_set)
      std::ignore = t.build(space_, keys.span());
    else
      std::ignore = t.build(space_, keys.span(), values.span());
    EXPECT_EQ(t.capacity(), 500U);
    EXPECT_EQ(t.clone(space_).options().load_factor, 1);
  }

  static std::vector<key> make_keys(u64 n, u64 different) {
    random_numbers random("rows");
    std::vector<key> keys(n);
    for (key& one : keys) one = static_cast<key>(different == 0 ? random() : mix64(random.below(different)));
    return keys;
  }

 private:
  rows_space space_;
};

using binned = builders::binned<builders::count_and_scatter>;
using in_bins = builders::in_bins<builders::count_and_scatter>;
using row_designs = std::conditional_t<
    TILEHASH_FEW_TYPES != 0,
    ::testing::Types<chained<u32, u32>, hash_graph<double, u64, murmur, filtered_rows, binned>>,
    ::testing::Types<
        chained<u32, u32>, chained<u64, void>, chained<double, u64>, hash_graph<u32, u64>,
        hash_graph<u32, u64, murmur, u32, builders::count_and_scatter>, hash_graph<u32, u128>,  // fits no
                                                                                                // word
        hash_graph<double, u128, murmur, filtered_rows, in_bins>, hash_graph<u64, void, murmur, u32, in_bins>,
        hash_graph<double, u64, murmur, filtered_rows, binned>,
        hash_graph<u64, void, murmur, filtered_rows, papers::segments>,
        papers::hash_graph_bins<u64, void, 32'000>,
        papers::hash_graph_bins<double, u64, 100, murmur, filtered_rows>,
        papers::hash_graph_original<u64, void>,
        papers::hash_graph_original<double, u64, 100, murmur, filtered_rows>>>;
TYPED_TEST_SUITE_P(rows);

TYPED_TEST_P(rows, of_many_items) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = scaled(150'000, 40'000);
  for (const double load : {0.5, TypeParam::max_load_factor}) {
    SCOPED_TRACE("load " + std::to_string(load));
    this->build_and_compare(this->make_keys(n, 0), load);
    this->build_and_compare(this->make_keys(n, n / 3), load);
  }
}

// More items than a region's bin can hold, or than a block should build.
TYPED_TEST_P(rows, with_keys_that_come_often) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = scaled(150'000, 40'000);
  auto keys = this->make_keys(n, 0);
  for (u64 i = 0; i < n; i += 4) keys[i] = keys[0];
  this->build_and_compare(keys, 0.8);
  this->build_and_compare(this->make_keys(n, 20), 0.8);
  std::ranges::fill(keys, keys[0]);
  if constexpr (std::floating_point<typename TypeParam::key_type>) {
    for (u64 i = 1; i < n; i += 3) keys[i] = std::numeric_limits<typename TypeParam::key_type>::quiet_NaN();
  }
  this->build_and_compare(keys, 0.8);
  // As many items of one bin as a block can order, and one more.
  const auto often = this->make_keys(1, 0)[0];
  for (const u64 many : {32'767, 32'768}) this->build_and_compare(std::vector(many, often), 0.8);
}

// By default as many rows as items: the thesis' C_v of 1.
TYPED_TEST_P(rows, are_as_many_as_items) { this->expect_as_many_as_items(); }

// Few rows for many items, as where many keys are looked up in a small graph.
class few_rows : public ::testing::Test {
 protected:
  // counts[k] left rows have the key of row k. Each joins the one right row of its key.
  void join_and_compare(const std::vector<u64>& counts) {
    SCOPED_TRACE("key 0 comes " + std::to_string(counts[0]) + " times");
    std::vector<float> left, right;
    std::vector<u32> expected, numbers;
    const table_options options = {.seed = 1};
    const table<hash_graph<float, u32>, rows_space> rows(space_, counts.size(), options);
    for (u32 k = 0; k < counts.size(); ++k) {
      numbers.push_back(k);
      right.push_back(0);
      while (rows.view().design.locate(right[k]).row != k) ++right[k];
      expected.resize(expected.size() + counts[k], k);
      left.resize(left.size() + counts[k], right[k]);
    }
    const buffer<float, rows_space> l(space_, left), r(space_, right);
    const buffer<u32, rows_space> n(space_, numbers);
    table<hash_graph<float, u32>, rows_space> graph(space_, 0, options);
    std::ignore = graph.build(space_, r.span(), n.span());
    const auto got = join(space_, l.span(), graph, {.probe = join_options::probes::intersect});
    ASSERT_EQ(got.size(), left.size());
    const auto of_left = got.left.to_host(), of_right = got.right.to_host();
    std::vector<u32> met(left.size(), no_match);
    for (u64 i = 0; i < of_left.size(); ++i) {
      ASSERT_LT(of_left[i], left.size());
      met[of_left[i]] = of_right[i];
    }
    EXPECT_TRUE(met == expected);
  }
  // One key has `often` items, and seven other keys share the rest of n items.
  void join_and_compare(u64 often, u64 n) {
    std::vector<u64> counts(8, (n - often) / 7);
    counts[0] = n - 7 * counts[1];
    join_and_compare(counts);
    std::swap(counts[0], counts[7]);
    join_and_compare(counts);
  }

 private:
  rows_space space_;
};

// As many items of one key as its region has capacity for, as a block's scratch holds, or as an average
// region may have; and one more.
TEST_F(few_rows, meet_all_their_items) {
  constexpr u64 n = u64(1) << 15;
  join_and_compare({n});
  for (const u64 each : {u64(16'385), u64(18'432), u64(18'433), u64(25'000), scaled(1'000'000, 100'000)})
    join_and_compare({each, each});
  const double mean = static_cast<double>(n) / 8;
  const u64 bin = static_cast<u64>(mean + 8 * std::sqrt(mean) + 32);
  for (u64 often = bin - 2; often <= bin + 2; ++often) join_and_compare(often, n);
  for (const u64 often : {16'383, 16'384, 16'385}) join_and_compare(often, 8 * u64(16'384));
  join_and_compare(n, n);
}

REGISTER_TYPED_TEST_SUITE_P(rows, of_many_items, with_keys_that_come_often, are_as_many_as_items);

}  // namespace tilehash::contract
