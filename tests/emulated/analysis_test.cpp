// SPDX-License-Identifier: Apache-2.0
// Factorize and its like under the GPU's schedule.
#include <contract/analysis.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

TEST(EmulatedAnalysis, Codes) {
  emulated space({.seed = 3, .preempt = true});
#if !TILEHASH_FEW_TYPES
  contract::expect_all_coded<u32>(space, 150, contract::random_numbers("emulated codes"));
#endif
  contract::expect_all_coded<double>(space, 150, contract::random_numbers("emulated codes"));
}
// Integers in a small range are coded without a map, in two ways; a key far off makes the range large.
template <class Key>
void expect_coded_by_range(Key least, u64 range) {
  emulated space({.seed = 7, .preempt = true});
  constexpr u64 rows = detail::tuning::gpu::least_dense;
  std::vector<Key> keys;
  for (u64 i = 0; i < rows; ++i) keys.push_back(static_cast<Key>(least + static_cast<Key>(i * i % range)));
  keys[1] = least;
  for (const bool small_range : {true, false}) {
    keys[rows / 2] = static_cast<Key>(least + static_cast<Key>(small_range ? range - 1 : range));
    const buffer<Key, emulated> there(space, std::span<const Key>(keys));
    const auto words = analysis::detail::range_on_lanes(space, std::span<const Key>(there.span()), range);
    EXPECT_EQ(words.size, small_range ? range : 0);
    const auto found = analysis::factorize(space, there.span());
    const contract::coded_model<Key> wanted(keys, {});
    EXPECT_EQ(found.codes.to_host(), wanted.codes);
    EXPECT_EQ(found.first_rows.to_host(), wanted.first_rows);
  }
}
TEST(EmulatedAnalysis, SmallRanges) {
  using numbers = detail::tuning::gpu;
  expect_coded_by_range<std::int32_t>(-500, 1000);
  expect_coded_by_range<std::int32_t>(-5000, numbers::dense_share * numbers::least_dense);
#if !TILEHASH_FEW_TYPES
  expect_coded_by_range<u64>(~u64(0) - 9000, numbers::dense_share * numbers::least_dense);
  expect_coded_by_range<u32>(~u32(0) - 100, 1000);  // as signed numbers, from -101 on
#endif
}
// Rows of two kernels, of which the second reads words that may be old; a table that has too few slots at first.
template <class Key>
void expect_first_rows(const std::vector<Key>& keys, analysis::missing missing) {
  emulated space({.seed = 8, .preempt = true});
  const contract::coded_model<Key> wanted(keys, {.missing_keys = missing});
  const buffer<Key, emulated> there(space, std::span<const Key>(keys));
  buffer<u32, emulated> codes(space, keys.size());
  for (const u64 entries : {u64(0), u64(16)}) {
    analysis::detail::first_table<Key, emulated> table(space, there.span(),
                                                       missing == analysis::missing::as_key, entries);
    table.codes(space, codes.data());
    EXPECT_EQ(codes.to_host(), wanted.codes) << entries;
    EXPECT_EQ(table.first_rows().to_host(), wanted.first_rows) << entries;
  }
}
TEST(EmulatedAnalysis, FirstRows) {
  constexpr u64 rows = detail::tuning::gpu::least_first_rows + 700;
  std::vector<u64> wide;
  std::vector<double> numbers;
  for (u64 i = 0; i < rows; ++i) {
    wide.push_back(i % 50 == 7 ? ~u64(0) : mix64(i * i % 300));
    numbers.push_back(i % 50 == 9 ? std::nan("") : static_cast<double>(i * i % 100) * (i % 2 == 0 ? 1 : -1));
  }
  expect_first_rows(wide, analysis::missing::excluded);
  expect_first_rows(numbers, analysis::missing::excluded);
  expect_first_rows(numbers, analysis::missing::as_key);
#if !TILEHASH_FEW_TYPES
  std::vector<u32> narrow;
  for (const u64 key : wide) narrow.push_back(static_cast<u32>(key));
  expect_first_rows(narrow, analysis::missing::excluded);
  expect_first_rows(std::vector<std::int16_t>(narrow.begin(), narrow.end()), analysis::missing::excluded);
#endif
}
// Values of few groups are combined in a block's scratch, and those of many in place.
template <class Value, class Op>
void expect_folded(u64 groups, Op op, Value start) {
  emulated space({.seed = 9, .preempt = true});
  const u64 rows = 3000;
  std::vector<u32> codes;
  std::vector<Value> values, wanted(groups, start);
  for (u64 i = 0; i < rows; ++i) {
    codes.push_back(i % 7 == 0 ? analysis::no_code : static_cast<u32>(i * i % groups));
    values.push_back(static_cast<Value>(i * 37 % 1000));
    if (codes[i] != analysis::no_code) wanted[codes[i]] = op(wanted[codes[i]], values[i]);
  }
  const buffer<u32, emulated> c(space, std::span<const u32>(codes));
  const buffer<Value, emulated> v(space, std::span<const Value>(values));
  buffer<Value, emulated> out(space, groups);
  space.fill(out.data(), groups, start);
  static_cast<void>(space.take_most_scratch());
  analysis::detail::fold_on_lanes(space, c.data(), rows, groups,
                                  analysis::detail::given_values<Value>{v.data()}, out.data(), op);
  EXPECT_EQ(space.take_most_scratch() != 0, groups < 100);
  EXPECT_EQ(out.to_host(), wanted) << groups;
}
TEST(EmulatedAnalysis, Counts) {
  for (const u64 groups : {u64(3), u64(2000)}) {
    emulated space({.seed = 11, .preempt = true});
    std::vector<u32> codes, wanted(groups, 0);
    for (u64 i = 0; i < 3001; ++i) {
      codes.push_back(i % 9 == 0 ? analysis::no_code : static_cast<u32>(i % 3 == 0 ? i * i % groups : 1));
      if (codes[i] != analysis::no_code) ++wanted[codes[i]];
    }
    const buffer<u32, emulated> c(space, std::span<const u32>(codes));
    buffer<u32, emulated> counts(space, groups);
    space.fill(counts.data(), groups, u32(0));
    analysis::detail::count_codes(space, c.data(), codes.size(), groups, counts.data());
    EXPECT_EQ(counts.to_host(), wanted) << groups;
  }
}
TEST(EmulatedAnalysis, Folds) {
  for (const u64 groups : {u64(1), u64(40), u64(1000)}) {
    expect_folded<u64>(groups, op::sum{}, ~u64(0) - 2);
    expect_folded<double>(groups, op::sum{}, 0.5);
    expect_folded<std::int32_t>(groups, op::minimum{}, 500);
    expect_folded<float>(groups, op::maximum{}, 500.0F);
#if !TILEHASH_FEW_TYPES
    expect_folded<u32>(groups, op::sum{}, 1);
    expect_folded<std::int64_t>(groups, op::maximum{}, -5);
#endif
  }
}
TEST(EmulatedAnalysis, IsIn) {
  emulated space({.seed = 4, .interleave = true});
  contract::expect_isin<float>(space, 200, contract::random_numbers("emulated isin"));
}

TEST(EmulatedAnalysis, Groups) {
  emulated space({.seed = 5, .preempt = true});
  contract::expect_grouped(space, 200, contract::random_numbers("emulated groups"));
}
TEST(EmulatedAnalysis, ReproducibleSums) {
  emulated space({.seed = 10, .preempt = true});
  contract::expect_reproducible_sums<double>(space, 3000, contract::random_numbers("emulated sums"));
#if !TILEHASH_FEW_TYPES
  contract::expect_reproducible_sums<float>(space, 300, contract::random_numbers("emulated sums"));
#endif
}
// With too little memory a call throws. No key is taken for a missing one.
template <class Key>
void expect_coded_or_out_of_memory(const std::vector<Key>& keys) {
  const contract::coded_model<Key> wanted(keys, {});
  u32 threw = 0, coded = 0;
  for (u64 memory = 4096; coded < 1; memory += memory / (small() ? 2 : 4)) {
    ASSERT_LT(memory, u64(1) << 20);
    emulated space({.seed = 6}, memory);
    try {
      const buffer<Key, emulated> there(space, std::span<const Key>(keys));
      const auto found = analysis::factorize(space, there.span());
      EXPECT_EQ(found.codes.to_host(), wanted.codes) << memory;
      ++coded;
    } catch (const out_of_memory&) {
      ++threw;
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(threw, 0U);
}
TEST(EmulatedAnalysis, LacksMemory) {
  std::vector<double> numbers;
  for (u32 i = 0; i < (small() ? 120U : 300U); ++i) numbers.push_back(i % 5 == 0 ? std::nan("") : i);
  expect_coded_or_out_of_memory(numbers);
}

}  // namespace
}  // namespace tilehash::designs_test
