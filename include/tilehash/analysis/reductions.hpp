// SPDX-License-Identifier: Apache-2.0
// Reductions of groups that need more than one op: mean, variance, first, last, argmin, argmax, any, all, nunique,
// quantile, median.
//
//   codes   | 0 | 1 | 0 | 2 | 0 |      mean     | 2 | 5 | 8 |      (of values 1 5 2 8 3)
//                                      argmax   | 4 | 1 | 3 |      rows
//
// Each is a few passes of groups::reduce(), or sorts the rows by group. A group without rows, which where() makes,
// has NaN as a number and no_row as a row. A NaN is a value: where() leaves NaN out.
#pragma once

#include <cmath>
#include <limits>
#include <ranges>
#include <span>
#include <utility>

#include <tilehash/analysis/group_by.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis {

namespace detail {

template <class Values>
using value_of = std::remove_cv_t<std::ranges::range_value_t<Values>>;

template <class Space, class Values>
std::span<const value_of<Values>> checked_values(const Space& space, const groups<Space>& grouped,
                                                 const Values& values) {
  const std::span<const value_of<Values>> all(values);
  require(all.size() == grouped.codes().size(), "group_by: keys and values differ in length");
  space.check_pointer(all, "group_by: the values");
  return all;
}

template <class T>
struct as_double {
  const T* values;
  double* out;
  TILEHASH_FN void operator()(u64 i) const { out[i] = static_cast<double>(values[i]); }
};
struct divide {
  double* sums;
  const u32* counts;
  u32 less;  // of each count
  TILEHASH_FN void operator()(u64 g) const {
    if (counts[g] <= less)
      sums[g] = std::numeric_limits<double>::quiet_NaN();
    else
      sums[g] /= static_cast<double>(counts[g] - less);
  }
};
// Squares of the distances from the group's mean, in place.
struct square_distance {
  const u32* codes;
  const double* means;
  double* values;
  TILEHASH_FN void operator()(u64 i) const {
    if (codes[i] == no_code) return;
    const double d = values[i] - means[codes[i]];
    values[i] = d * d;
  }
};
// Rows that hold the group's chosen value.
template <class T>
struct choose_row {
  const u32* codes;
  const T *values, *chosen;
  u32* rows;
  TILEHASH_FN void operator()(u64 i) const {
    if (codes[i] != no_code && values[i] == chosen[codes[i]])
      tilehash::TILEHASH_ABI::detail::fetch_min(rows + codes[i], static_cast<u32>(i));
  }
};
struct first_and_last {
  const u32* codes;
  u32 *first, *last;  // null: not wanted; last begins as 0, and is a row more
  TILEHASH_FN void operator()(u64 i) const {
    if (codes[i] == no_code) return;
    const u32 row = static_cast<u32>(i);
    if (first != nullptr) tilehash::TILEHASH_ABI::detail::fetch_min(first + codes[i], row);
    if (last != nullptr) tilehash::TILEHASH_ABI::detail::fetch_max(last + codes[i], row + 1);
  }
};
struct less_one {
  u32* rows;
  TILEHASH_FN void operator()(u64 g) const { --rows[g]; }  // 0 becomes no_row
};
template <class T>
struct mark_true {
  const u32* codes;
  const T* values;
  bool wanted;
  u32* marks;
  TILEHASH_FN void operator()(u64 i) const {
    if (codes[i] != no_code && (values[i] != T(0)) == wanted)
      tilehash::TILEHASH_ABI::detail::fetch_or(marks + codes[i], u32(1));
  }
};
struct write_mark {
  const u32* marks;
  u32 flipped;
  u8* out;
  TILEHASH_FN void operator()(u64 g) const { out[g] = static_cast<u8>(marks[g] ^ flipped); }
};
struct count_first {
  const u32 *rows, *codes;
  const u64* pairs;
  u32* counts;
  TILEHASH_FN void operator()(u64 i) const {
    if (pairs[rows[i]] != ~u64(0)) tilehash::TILEHASH_ABI::detail::fetch_add(counts + codes[rows[i]], u32(1));
  }
};
// The group of the row at a place, then the place.
struct write_group_and_place {
  const u32 *codes, *rows;
  u64* words;
  TILEHASH_FN void operator()(u64 place) const { words[place] = u64(codes[rows[place]]) << 32 | place; }
};
// Between the two values nearest to the quantile.
template <class T>
struct write_quantile {
  const u64* words;
  const u32 *rows, *begins;
  const T* values;
  double q;
  double* out;
  TILEHASH_FN double value(u64 at) const {
    return static_cast<double>(values[rows[static_cast<u32>(words[at])]]);
  }
  TILEHASH_FN void operator()(u64 g) const {
    const u32 many = begins[g + 1] - begins[g];
    if (many == 0) {
      out[g] = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    const double place = q * static_cast<double>(many - 1);
    const u64 low = static_cast<u64>(place), high = low + 1 < many ? low + 1 : low;
    const double part = place - static_cast<double>(low), from = value(begins[g] + low);
    out[g] = part == 0 ? from : from + (value(begins[g] + high) - from) * part;
  }
};

template <class Space>
buffer<u32, Space> filled(Space& space, u64 n, u32 with) {
  buffer<u32, Space> all(space, n);
  if (n != 0) space.fill(all.data(), n, with);
  return all;
}
template <class Space, class Values, class Op>
buffer<u32, Space> rows_of_chosen(Space& space, const groups<Space>& grouped, const Values& values, Op op,
                                  value_of<Values> start) {
  const auto all = checked_values(space, grouped, values);
  const auto chosen = grouped.reduce(space, all, op, start);
  auto rows = filled(space, grouped.size(), no_row);
  space.for_each(all.size(), choose_row<value_of<Values>>{grouped.codes().data(), all.data(), chosen.data(),
                                                          rows.data()});
  space.synchronize();
  return rows;
}
template <class Space, class Values>
buffer<u8, Space> marked(Space& space, const groups<Space>& grouped, const Values& values, bool wanted,
                         u32 flipped) {
  const auto all = checked_values(space, grouped, values);
  const auto marks = filled(space, grouped.size(), 0);
  buffer<u8, Space> out(space, grouped.size());
  space.for_each(all.size(),
                 mark_true<value_of<Values>>{grouped.codes().data(), all.data(), wanted, marks.data()});
  space.for_each(out.size(), write_mark{marks.data(), flipped, out.data()});
  space.synchronize();
  return out;
}
template <class T>
constexpr T greatest_number() {
  if constexpr (std::numeric_limits<T>::has_infinity)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}
template <class T>
constexpr T least_number() {
  if constexpr (std::numeric_limits<T>::has_infinity)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

}  // namespace detail

/// The mean of each group's values. O(n); a copy of the values as double. Synchronizes.
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<double, Space> mean(Space& space, const groups<Space>& grouped, const Values& values) {
  const auto all = detail::checked_values(space, grouped, values);
  buffer<double, Space> numbers(space, all.size());
  space.for_each(all.size(), detail::as_double<detail::value_of<Values>>{all.data(), numbers.data()});
  auto sums = grouped.reduce(space, numbers.span(), op::sum{}, 0.0);
  const auto counts = grouped.counts(space);
  space.for_each(sums.size(), detail::divide{sums.data(), counts.data(), 0});
  space.synchronize();
  return sums;
}
/// The variance of each group's values: the squares of their distances from the mean, over their number less
/// `ddof`. NaN for a group of at most ddof rows. O(n); a copy of the values as double. Synchronizes.
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<double, Space> variance(Space& space, const groups<Space>& grouped, const Values& values,
                                             u32 ddof = 1) {
  const auto all = detail::checked_values(space, grouped, values);
  const auto means = mean(space, grouped, values);
  buffer<double, Space> numbers(space, all.size());
  space.for_each(all.size(), detail::as_double<detail::value_of<Values>>{all.data(), numbers.data()});
  space.for_each(all.size(), detail::square_distance{grouped.codes().data(), means.data(), numbers.data()});
  auto sums = grouped.reduce(space, numbers.span(), op::sum{}, 0.0);
  const auto counts = grouped.counts(space);
  space.for_each(sums.size(), detail::divide{sums.data(), counts.data(), ddof});
  space.synchronize();
  return sums;
}
/// The first row of each group, or no_row. O(n). Synchronizes.
template <class Space>
[[nodiscard]] buffer<u32, Space> first_row(Space& space, const groups<Space>& grouped) {
  auto rows = detail::filled(space, grouped.size(), no_row);
  space.for_each(grouped.codes().size(),
                 detail::first_and_last{grouped.codes().data(), rows.data(), nullptr});
  space.synchronize();
  return rows;
}
/// The last row of each group, or no_row. O(n). Synchronizes.
template <class Space>
[[nodiscard]] buffer<u32, Space> last_row(Space& space, const groups<Space>& grouped) {
  auto rows = detail::filled(space, grouped.size(), 0);
  space.for_each(grouped.codes().size(),
                 detail::first_and_last{grouped.codes().data(), nullptr, rows.data()});
  space.for_each(rows.size(), detail::less_one{rows.data()});
  space.synchronize();
  return rows;
}
/// The first row of each group's least value, or no_row. Numbers only. O(n). Synchronizes.
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<u32, Space> argmin(Space& space, const groups<Space>& grouped, const Values& values) {
  return detail::rows_of_chosen(space, grouped, values, op::minimum{},
                                detail::greatest_number<detail::value_of<Values>>());
}
/// The first row of each group's greatest value, or no_row. Numbers only. O(n). Synchronizes.
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<u32, Space> argmax(Space& space, const groups<Space>& grouped, const Values& values) {
  return detail::rows_of_chosen(space, grouped, values, op::maximum{},
                                detail::least_number<detail::value_of<Values>>());
}
/// 1 for each group with a value that is not 0. O(n). Synchronizes.
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<u8, Space> any(Space& space, const groups<Space>& grouped, const Values& values) {
  return detail::marked(space, grouped, values, true, 0);
}
/// 1 for each group without a value that is 0. O(n). Synchronizes.
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<u8, Space> all(Space& space, const groups<Space>& grouped, const Values& values) {
  return detail::marked(space, grouped, values, false, 1);
}
/// The number of different values of each group; NaN is none. O(n) expected; 20 bytes a row. Synchronizes.
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<u32, Space> nunique(Space& space, const groups<Space>& grouped, const Values& values) {
  const auto all = detail::checked_values(space, grouped, values);
  auto counts = detail::filled(space, grouped.size(), 0);
  if (all.empty()) return counts;
  const auto column = factorize(space, all);
  buffer<u64, Space> pairs(space, all.size());
  const auto missing = detail::filled(space, 1, no_code);
  space.for_each(all.size(), detail::write_pair{grouped.codes().data(), column.codes.data(), column.size(),
                                                pairs.data(), missing.data()});
  const auto found = factorize(space, pairs.span());
  space.for_each(found.size(), detail::count_first{found.first_rows.data(), grouped.codes().data(),
                                                   pairs.data(), counts.data()});
  space.synchronize();
  return counts;
}
/// The quantile `q` of each group's values, between the two nearest values in proportion; NaN is the greatest value.
/// NaN for a group of no rows. O(n log n) on a CPU, O(n) on a GPU; 40 bytes a row. Synchronizes. Throws
/// invalid_argument unless 0 <= q <= 1.
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<double, Space> quantile(Space& space, const groups<Space>& grouped, const Values& values,
                                             double q) {
  using value = detail::value_of<Values>;
  detail::require(q >= 0 && q <= 1, "group_by: a quantile is between 0 and 1");
  const auto all = detail::checked_values(space, grouped, values);
  const u64 n = all.size(), many = grouped.size();
  buffer<double, Space> out(space, many);
  if (many == 0) return out;
  buffer<u64, Space> words(space, n);
  buffer<u32, Space> rows(space, n);
  space.for_each(n, detail::write_ordered_bits<value>{all.data(), words.data()});
  space.for_each(n, detail::write_number{rows.data()});
  space.sort_pairs(words.data(), rows.data(), n, 64);
  space.for_each(n, detail::write_group_and_place{grouped.codes().data(), rows.data(), words.data()});
  space.sort(words.data(), n);
  const auto begins = detail::filled(space, many + 1, 0);
  space.for_each(n, detail::count_rows{grouped.codes().data(), begins.data()});
  space.exclusive_scan(begins.data(), begins.data(), many + 1);
  space.for_each(many, detail::write_quantile<value>{words.data(), rows.data(), begins.data(), all.data(), q,
                                                     out.data()});
  space.synchronize();
  return out;
}
/// The median of each group's values: quantile(0.5).
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<double, Space> median(Space& space, const groups<Space>& grouped, const Values& values) {
  return quantile(space, grouped, values, 0.5);
}

}  // namespace analysis
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
