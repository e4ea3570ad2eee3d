// SPDX-License-Identifier: Apache-2.0
// The promises of factorize, unique, value_counts and isin, on any space: the answers of a model of std::map.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <contract/random.hpp>
#include <tilehash/analysis/factorize.hpp>
#include <tilehash/analysis/group_by.hpp>
#include <tilehash/analysis/reproducible_sum.hpp>

namespace tilehash::contract {

template <class Key>
Key analysed_key(u64 number) {
  if constexpr (std::is_unsigned_v<Key>)
    return static_cast<Key>(number);
  else if constexpr (std::is_arithmetic_v<Key>)  // negative numbers, too
    return static_cast<Key>(static_cast<std::int64_t>(number % 30'000) - 3);
  else
    return Key{number, ~number, number};
}

// The codes that factorize must give, and first rows.
template <class Key>
struct coded_model {
  std::vector<u32> codes, first_rows, counts;

  coded_model(const std::vector<Key>& keys, const analysis::code_options& how) {
    std::map<Key, u32> seen;
    std::optional<u32> missing;
    for (u32 i = 0; i < keys.size(); ++i) {
      const bool is_missing = !detail::is_legal(keys[i]);
      if (is_missing && how.missing_keys == analysis::missing::excluded) {
        codes.push_back(analysis::no_code);
        continue;
      }
      const u32 next = static_cast<u32>(first_rows.size());
      u32 code = next;
      if (is_missing)
        code = *(missing = missing.value_or(next));
      else
        code = seen.emplace(keys[i], next).first->second;
      if (code == next) first_rows.push_back(i), counts.push_back(0);
      ++counts[code];
      codes.push_back(code);
    }
    if (how.by == analysis::order::sorted) sort(seen, missing);
  }
  void sort(const std::map<Key, u32>& seen, std::optional<u32> missing) {
    std::vector<u32> order;
    for (const auto& [key, code] : seen) order.push_back(code);
    if (missing) order.push_back(*missing);
    const coded_model old = *this;
    std::vector<u32> rank(order.size());
    for (u32 i = 0; i < order.size(); ++i) {
      rank[order[i]] = i;
      first_rows[i] = old.first_rows[order[i]];
      counts[i] = old.counts[order[i]];
    }
    for (u32& code : codes)
      if (code != analysis::no_code) code = rank[code];
  }
};

template <class Key, class Space>
void expect_coded(Space& space, const std::vector<Key>& keys, const analysis::code_options& how) {
  const coded_model<Key> wanted(keys, how);
  const buffer<Key, Space> there(space, std::span<const Key>(keys));
  const auto found = analysis::factorize(space, there.span(), how);
  EXPECT_EQ(found.codes.to_host(), wanted.codes);
  EXPECT_EQ(found.first_rows.to_host(), wanted.first_rows);
  const auto each = analysis::unique(space, there.span(), how);
  EXPECT_EQ(each.codes.to_host(), wanted.codes);
  EXPECT_EQ(each.counts.to_host(), wanted.counts);
  const auto values = analysis::value_counts(space, there.span(), how).values.to_host();
  ASSERT_EQ(values.size(), wanted.first_rows.size());
  u64 wrong = 0;
  for (u64 i = 0; i < values.size(); ++i)
    wrong += detail::is_legal(values[i]) && !detail::same_key(values[i], keys[wanted.first_rows[i]]);
  EXPECT_EQ(wrong, 0U);
}

// Random arrays of `rows` keys: few and many values, in a small range and over all numbers, NaN and both zeros.
template <class Key, class Space>
void expect_all_coded(Space& space, u64 rows, random_numbers random) {
  const bool some = small_sizes() && rows > 10'000;
  for (const u64 values : {u64(1), u64(7), rows / 2 + 1, 4 * rows + 1}) {
    const bool first = random.one_in(2);
    for (const bool spread : {false, true}) {
      if (some && (values == 1 || spread != first)) continue;
      std::vector<Key> keys;
      for (u64 i = 0; i < rows; ++i) {
        const u64 number = random.below(values);
        keys.push_back(analysed_key<Key>(spread ? mix64(number) >> 12 : number));
      }
      if constexpr (std::is_floating_point_v<Key>)
        for (u64 i = 0; i < rows; i += 5)
          keys[i] = i % 2 == 0 ? std::numeric_limits<Key>::quiet_NaN() : Key(-0.0);
      for (const auto missing : {analysis::missing::excluded, analysis::missing::as_key})
        for (const auto by : {analysis::order::first, analysis::order::sorted})
          if (std::is_arithmetic_v<Key> || by == analysis::order::first)
            expect_coded(space, keys, {.missing_keys = missing, .by = by});
    }
  }
}

template <class Key, class Space>
void expect_isin(Space& space, u64 rows, random_numbers random) {
  std::vector<Key> keys, wanted;
  std::map<Key, bool> among;
  for (u64 i = 0; i < rows; ++i) keys.push_back(analysed_key<Key>(random.below(rows)));
  for (u64 i = 0; i < rows / 3; ++i) among[wanted.emplace_back(analysed_key<Key>(random.below(rows)))] = true;
  if constexpr (std::is_floating_point_v<Key>)
    keys[0] = wanted.emplace_back(std::numeric_limits<Key>::quiet_NaN());
  const buffer<Key, Space> k(space, std::span<const Key>(keys)), w(space, std::span<const Key>(wanted));
  const buffer<u8, Space> out(space, rows);
  analysis::isin(space, k.span(), w.span(), out.span());
  const auto flags = out.to_host();
  for (u64 i = 0; i < rows; ++i)
    EXPECT_EQ(flags[i], detail::is_legal(keys[i]) && among.contains(keys[i])) << i;
}

// Groups by two columns, one with NaN: sums, counts and greatest values of a model.
template <class Space>
void expect_grouped(Space& space, u64 rows, random_numbers random) {
  std::vector<u32> first;
  std::vector<double> second;
  std::vector<u64> values;
  struct group {
    u32 number, row, count;
    u64 sum, most;
  };
  std::map<std::pair<u32, double>, group> model;
  for (u32 i = 0; i < rows; ++i) {
    first.push_back(static_cast<u32>(random.below(9)));
    second.push_back(random.one_in(10) ? std::nan("") : static_cast<double>(random.below(7)));
    const u64 value = values.emplace_back(random.below(1'000));
    if (std::isnan(second[i])) continue;
    group& g =
        model.emplace(std::pair(first[i], second[i]), group{static_cast<u32>(model.size()), i, 0, 0, 0})
            .first->second;
    ++g.count;
    g.sum += value;
    g.most = std::max(g.most, value);
  }
  const buffer<u32, Space> k1(space, std::span<const u32>(first));
  const buffer<double, Space> k2(space, std::span<const double>(second));
  const buffer<u64, Space> v(space, std::span<const u64>(values));
  const auto grouped = analysis::group_by(space, k1.span(), k2.span());
  ASSERT_EQ(grouped.size(), model.size());
  const auto sums = grouped.reduce(space, v.span(), op::sum{}, 0).to_host();
  const auto mosts = grouped.reduce(space, v.span(), op::maximum{}, 0).to_host();
  const auto counts = grouped.counts(space).to_host();
  std::vector<u32> codes(rows), first_rows(model.size());
  space.copy_to_host(codes.data(), grouped.codes().data(), rows * sizeof(u32));
  space.copy_to_host(first_rows.data(), grouped.first_rows().data(), model.size() * sizeof(u32));
  for (const auto& [key, g] : model) {
    EXPECT_EQ(sums[g.number], g.sum);
    EXPECT_EQ(mosts[g.number], g.most);
    EXPECT_EQ(counts[g.number], g.count);
    EXPECT_EQ(first_rows[g.number], g.row);
  }
  for (u64 i = 0; i < rows; ++i)
    EXPECT_EQ(codes[i], std::isnan(second[i]) ? analysis::no_code : model.at({first[i], second[i]}).number);
}

// Sums of floats have the same bits on any space and in any order of the rows, and are near the exact ones.
template <class Float, class Space>
void expect_reproducible_sums(Space& space, u64 rows, random_numbers random) {
  constexpr u32 groups = 7;
  std::vector<u32> keys;
  std::vector<Float> values;
  long double exact[groups] = {};
  for (u64 i = 0; i < rows; ++i) {
    keys.push_back(static_cast<u32>(i < groups ? i : random.below(groups)));
    const double x = std::ldexp(static_cast<double>(random.below(1'000'000)) - 400'000,
                                static_cast<int>(random.below(60)) - 30);
    values.push_back(static_cast<Float>(x));
    // The groups 4 to 6: infinite, NaN, and numbers without a normal exponent.
    const Float infinite = std::numeric_limits<Float>::infinity();
    if (keys[i] == 4 && i % 5 == 0) values[i] = -infinite;
    if (keys[i] == 5) values[i] = i % 2 == 0 ? infinite : -infinite;
    if (keys[i] == 6)
      values[i] = std::numeric_limits<Float>::denorm_min() * static_cast<Float>(random.below(100));
    exact[keys[i]] += values[i];
  }
  const auto sums = [](auto& where, const std::vector<u32>& k, const std::vector<Float>& v) {
    using there = std::remove_reference_t<decltype(where)>;
    const buffer<u32, there> on_keys(where, std::span<const u32>(k));
    const buffer<Float, there> on_values(where, std::span<const Float>(v));
    return analysis::reproducible_sum(where, analysis::group_by(where, on_keys.span()), on_values.span())
        .to_host();
  };
  const auto found = sums(space, keys, values);
  // The first row of each group stays where it is, so groups have the same numbers.
  for (u64 i = rows - 1; i > groups; --i) {
    const u64 other = groups + random.below(i - groups + 1);
    std::swap(keys[i], keys[other]);
    std::swap(values[i], values[other]);
  }
  cpu one(1);
  const auto wanted = sums(one, keys, values);
  ASSERT_EQ(found.size(), groups);
  for (u32 g = 0; g < groups; ++g) {
    EXPECT_EQ(detail::to_bits<u64>(found[g]), detail::to_bits<u64>(wanted[g])) << g;
    if (g < 4 || g == 6) {
      EXPECT_NEAR(found[g], static_cast<double>(exact[g]), std::abs(static_cast<double>(exact[g])) * 1e-12)
          << g;
    }
  }
  EXPECT_EQ(found[4], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(found[5]));
}

}  // namespace tilehash::contract
