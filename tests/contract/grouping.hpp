// SPDX-License-Identifier: Apache-2.0
// The promises of join_rows, groups of columns with nulls, and the reductions of groups, on any space: the answers of a
// model of std::map.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <contract/random.hpp>
#include <tilehash/analysis/join_rows.hpp>
#include <tilehash/analysis/reductions.hpp>

namespace tilehash::contract {

// Two key columns, the second with nulls, on the host and in the memory of a space.
template <class Space>
struct nullable_columns {
  static constexpr u64 offset = 3;
  std::vector<u32> first;
  std::vector<double> second;
  std::vector<u8> valid;
  buffer<u32, Space> first_there;
  buffer<double, Space> second_there;
  buffer<u8, Space> valid_there;

  nullable_columns(Space& space, u64 rows, random_numbers& random) : valid((rows + offset) / 8 + 1, 0) {
    for (u64 i = 0; i < rows; ++i) {
      first.push_back(static_cast<u32>(random.below(11)));
      second.push_back(random.one_in(12) ? std::nan("") : static_cast<double>(random.below(5)));
      if (!random.one_in(9)) valid[(i + offset) / 8] |= static_cast<u8>(1U << (i + offset) % 8);
    }
    first_there = buffer<u32, Space>(space, std::span<const u32>(first));
    second_there = buffer<double, Space>(space, std::span<const double>(second));
    valid_there = buffer<u8, Space>(space, std::span<const u8>(valid));
  }
  analysis::nullable<double> column() const { return {second_there.span(), valid_there.data(), offset}; }
  bool has(u64 i) const { return (valid[(i + offset) / 8] >> (i + offset) % 8 & 1) != 0; }
  // Nulls and NaN are one missing key.
  std::optional<double> key(u64 i) const {
    return has(i) && !std::isnan(second[i]) ? std::optional(second[i]) : std::nullopt;
  }
};

using row_pairs = std::vector<std::pair<u32, u32>>;

using rows_match = std::function<bool(u64, u64)>;

inline row_pairs joined_model(u64 n, u64 m, const rows_match& match, analysis::join_kind kind) {
  using enum analysis::join_kind;
  if (kind == right) {
    auto pairs = joined_model(
        m, n, [&](u64 i, u64 j) { return match(j, i); }, left);
    for (auto& [l, r] : pairs) std::swap(l, r);
    return pairs;
  }
  row_pairs pairs;
  std::vector<bool> met(m, false);
  for (u32 i = 0; i < n; ++i) {
    const u64 before = pairs.size();
    for (u32 j = 0; j < m; ++j)
      if (match(i, j)) pairs.emplace_back(i, j), met[j] = true;
    const bool any = pairs.size() != before;
    if (kind == semi || kind == anti) {
      pairs.resize(before);
      if (any == (kind == semi)) pairs.emplace_back(i, 0);
    } else if (!any && kind != inner) {
      pairs.emplace_back(i, analysis::no_row);
    }
  }
  for (u32 j = 0; j < m; ++j)
    if (kind == outer && !met[j]) pairs.emplace_back(analysis::no_row, j);
  return pairs;
}

template <class Space>
void expect_joined(Space& space, u64 n, u64 m, random_numbers random) {
  using analysis::join_kind;
  const nullable_columns<Space> l(space, n, random), r(space, m, random);
  for (const auto kind : {join_kind::inner, join_kind::left, join_kind::right, join_kind::outer,
                          join_kind::semi, join_kind::anti}) {
    for (const bool nulls_equal : {false, true}) {
      const auto second = [&](u64 i, u64 j) {
        return l.key(i) == r.key(j) && (l.key(i).has_value() || nulls_equal);
      };
      const auto both = [&](u64 i, u64 j) { return l.first[i] == r.first[j] && second(i, j); };
      const auto expect = [&](const analysis::joined_rows<Space>& found, const row_pairs& wanted) {
        const bool pairs = kind != join_kind::semi && kind != join_kind::anti;
        const auto left = found.left.to_host(), right = found.right.to_host();
        ASSERT_EQ(left.size(), wanted.size());
        ASSERT_EQ(right.size(), pairs ? wanted.size() : 0);
        u64 wrong = 0;
        for (u64 i = 0; i < wanted.size(); ++i)
          wrong += left[i] != wanted[i].first || (pairs && right[i] != wanted[i].second);
        EXPECT_EQ(wrong, 0U) << "kind " << static_cast<int>(kind) << ", nulls_equal " << nulls_equal;
      };
      const analysis::join_how how{kind, nulls_equal};
      expect(analysis::join_rows(space, analysis::on(l.column()), analysis::on(r.column()), how),
             joined_model(n, m, second, kind));
      expect(analysis::join_rows(space, analysis::on(l.first_there.span(), l.column()),
                                 analysis::on(r.first_there.span(), r.column()), how),
             joined_model(n, m, both, kind));
    }
  }
}

// A group's rows, and its values that are not null.
struct modelled_group {
  u32 first_row = 0;
  std::vector<u32> rows;
};

template <class Space>
void expect_groups_of_nulls(Space& space, u64 rows, random_numbers random) {
  const nullable_columns<Space> k(space, rows, random);
  for (const bool as_key : {false, true}) {
    std::map<std::pair<u32, std::optional<double>>, u32> model;
    std::vector<u32> wanted;
    for (u64 i = 0; i < rows; ++i) {
      const bool in = as_key || k.key(i).has_value();
      wanted.push_back(
          in ? model.emplace(std::pair(k.first[i], k.key(i)), static_cast<u32>(model.size())).first->second
             : analysis::no_code);
    }
    const auto how = as_key ? analysis::missing::as_key : analysis::missing::excluded;
    const analysis::groups<Space> found(space, {.missing_keys = how}, k.first_there.span(), k.column());
    std::vector<u32> codes(rows);
    if (rows != 0) space.copy_to_host(codes.data(), found.codes().data(), rows * sizeof(u32));
    EXPECT_EQ(codes, wanted) << as_key;
    EXPECT_EQ(found.size(), model.size());
  }
  if (rows != 0) {
    EXPECT_THROW(
        static_cast<void>(analysis::groups<Space>(space, {.by = analysis::order::sorted}, k.column())),
        invalid_argument);
  }
}

// Every reduction of the values that the bitmap does not leave out.
template <class Space, class Value>
void expect_reduced(Space& space, u64 rows, random_numbers random) {
  const nullable_columns<Space> k(space, rows, random);
  std::vector<Value> values;
  for (u64 i = 0; i < rows; ++i) values.push_back(static_cast<Value>(random.below(9)) - Value(4));
  const buffer<Value, Space> v(space, std::span<const Value>(values));
  const auto every = analysis::group_by(space, k.first_there.span());
  const auto some = every.where(space, k.valid_there.data(), k.offset);
  std::map<u32, u32> numbers;
  std::vector<std::vector<u32>> of;
  for (u32 i = 0; i < rows; ++i) {
    const u32 g = numbers.emplace(k.first[i], static_cast<u32>(numbers.size())).first->second;
    of.resize(numbers.size());
    if (k.has(i)) of[g].push_back(i);
  }
  ASSERT_EQ(some.size(), of.size());
  const auto means = analysis::mean(space, some, v.span()).to_host();
  const auto variances = analysis::variance(space, some, v.span()).to_host();
  const auto firsts = analysis::first_row(space, some).to_host(),
             lasts = analysis::last_row(space, some).to_host();
  const auto argmins = analysis::argmin(space, some, v.span()).to_host();
  const auto argmaxs = analysis::argmax(space, some, v.span()).to_host();
  const auto any_true = analysis::any(space, some, v.span()).to_host(),
             all_true = analysis::all(space, some, v.span()).to_host();
  const auto different = analysis::nunique(space, some, v.span()).to_host();
  const auto medians = analysis::median(space, some, v.span()).to_host();
  const auto tenths = analysis::quantile(space, some, v.span(), 0.1).to_host();
  const auto same = [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) < 1e-9;
  };
  for (u64 g = 0; g < of.size(); ++g) {
    std::vector<double> sorted;
    double sum = 0, squares = 0;
    u32 least = analysis::no_row, most = analysis::no_row;
    for (const u32 i : of[g]) {
      sorted.push_back(static_cast<double>(values[i]));
      sum += sorted.back();
      if (least == analysis::no_row || values[i] < values[least]) least = i;
      if (most == analysis::no_row || values[i] > values[most]) most = i;
    }
    std::ranges::sort(sorted);
    const double n = static_cast<double>(sorted.size()), none = std::nan(""), mean = n > 0 ? sum / n : none;
    for (const double x : sorted) squares += (x - mean) * (x - mean);
    const auto quantile = [&](double q) {
      if (sorted.empty()) return none;
      const u64 low = static_cast<u64>(q * (n - 1)), high = std::min(low + 1, u64(sorted.size()) - 1);
      return sorted[low] + (sorted[high] - sorted[low]) * (q * (n - 1) - static_cast<double>(low));
    };
    EXPECT_TRUE(same(means[g], mean)) << g;
    EXPECT_TRUE(same(variances[g], n > 1 ? squares / (n - 1) : none)) << g;
    EXPECT_EQ(firsts[g], of[g].empty() ? analysis::no_row : of[g].front());
    EXPECT_EQ(lasts[g], of[g].empty() ? analysis::no_row : of[g].back());
    EXPECT_EQ(argmins[g], least);
    EXPECT_EQ(argmaxs[g], most);
    EXPECT_EQ(any_true[g], std::ranges::any_of(sorted, [](double x) { return x != 0; }));
    EXPECT_EQ(all_true[g], std::ranges::all_of(sorted, [](double x) { return x != 0; }));
    EXPECT_TRUE(same(medians[g], quantile(0.5))) << g;
    EXPECT_TRUE(same(tenths[g], quantile(0.1))) << g;
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    EXPECT_EQ(different[g], sorted.size());
  }
}

}  // namespace tilehash::contract
