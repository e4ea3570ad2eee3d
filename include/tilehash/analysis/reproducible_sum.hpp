// SPDX-License-Identifier: Apache-2.0
// Sums of floating-point numbers that do not depend on the order of the rows, nor on the machine.
//
// Each value is two integers, in units that the group's greatest magnitude gives. Sums of integers have no order.
//
//   x = high * unit + low * unit * 2^-b + rest      |x| < 2^b units, |rest| <= unit * 2^-b; b = 61 - bits of the rows
#pragma once

#include <concepts>
#include <ranges>
#include <span>

#include <tilehash/analysis/reductions.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis {
namespace detail {

using i64 = std::int64_t;

// x * 2^by, for a result that a double has.
TILEHASH_FN double times_power(double x, int by) {
  const int half = by / 2;
  return x * from_bits<double>(static_cast<u64>(1023 + half) << 52) *
         from_bits<double>(static_cast<u64>(1023 + by - half) << 52);
}
TILEHASH_FN i64 nearest(double x) { return static_cast<i64>(x < 0 ? x - 0.5 : x + 0.5); }

// How a group's values become integers. Infinite ones are counted instead.
struct sum_units {
  static constexpr u64 infinite = u64(0x7ff) << 52;
  u64 greatest;  // the bits of the group's greatest magnitude
  int bits;      // b

  TILEHASH_FN bool is_finite() const { return greatest < infinite; }
  TILEHASH_FN int scale() const {
    const int exponent = static_cast<int>(greatest >> 52);
    return bits - (exponent == 0 ? -1022 : exponent - 1022);
  }
  TILEHASH_FN u64 high(double x) const {
    if (!is_finite()) return to_bits<u64>(x) == infinite ? 1 : 0;
    return static_cast<u64>(nearest(times_power(x, scale())));
  }
  TILEHASH_FN u64 low(double x) const {
    if (!is_finite()) return to_bits<u64>(x) == (infinite | u64(1) << 63) ? 1 : 0;
    const double rest = x - times_power(static_cast<double>(nearest(times_power(x, scale()))), -scale());
    return static_cast<u64>(nearest(times_power(times_power(rest, scale()), bits)));
  }
  TILEHASH_FN double sum(u64 high_sum, u64 low_sum) const {
    if (!is_finite()) {
      const u64 sign = low_sum != 0 ? u64(1) << 63 : 0;
      const bool nan = greatest > infinite || (high_sum != 0 && low_sum != 0);
      return from_bits<double>(nan ? ~u64(0) >> 1 : infinite | sign);
    }
    const i64 upper = static_cast<i64>(high_sum) >> 32;
    const double lower = times_power(static_cast<double>(high_sum & 0xffffffff), -scale());
    const double least =
        times_power(times_power(static_cast<double>(static_cast<i64>(low_sum)), -bits), -scale());
    return times_power(static_cast<double>(upper), 32 - scale()) + (lower + least);
  }
};

template <class T>
struct magnitude_bits {
  using value = u64;
  const T* values;
  TILEHASH_FN u64 operator()(u64 i) const {
    return to_bits<u64>(static_cast<double>(values[i])) & ~u64(0) >> 1;
  }
};
// The high or the low integer of a row's value.
template <class T>
struct part_of_sum {
  using value = u64;
  const T* values;
  const u32* codes;
  const u64* greatest;
  int bits;
  bool low;
  TILEHASH_FN u64 operator()(u64 i) const {
    if (codes[i] == no_code) return 0;
    const sum_units units{greatest[codes[i]], bits};
    const double x = static_cast<double>(values[i]);
    return low ? units.low(x) : units.high(x);
  }
};
struct write_sum {
  const u64 *greatest, *high, *low;
  int bits;
  double* out;
  TILEHASH_FN void operator()(u64 g) const { out[g] = sum_units{greatest[g], bits}.sum(high[g], low[g]); }
};

template <class Space, class Source, class Op>
buffer<u64, Space> folded_words(Space& space, std::span<const u32> codes, u64 groups, const Source& source,
                                Op op) {
  buffer<u64, Space> out(space, groups);
  space.fill(out.data(), groups, u64(0));
  if constexpr (Space::has_lanes)
    fold_on_lanes(space, codes.data(), codes.size(), groups, source, out.data(), op);
  else
    fold_groups(space, codes.data(), codes.size(), out.data(), groups,
                [&](u64& stored, u64 row) { stored = op(stored, source(row)); });
  return out;
}
template <class Space, class T>
buffer<double, Space> sum_of_codes(Space& space, std::span<const u32> codes, u64 groups, const T* values) {
  buffer<double, Space> out(space, groups);
  if (groups == 0) return out;
  const int bits = 61 - static_cast<int>(bit_width(u64(codes.size())));
  const auto greatest = folded_words(space, codes, groups, magnitude_bits<T>{values}, op::maximum{});
  const auto part = [&](bool low) {
    return folded_words(space, codes, groups,
                        part_of_sum<T>{values, codes.data(), greatest.data(), bits, low}, op::sum{});
  };
  const auto high = part(false), low = part(true);
  space.for_each(groups, write_sum{greatest.data(), high.data(), low.data(), bits, out.data()});
  space.synchronize();
  return out;
}

}  // namespace detail

/// The sum of each group's floating-point values, with the same bits on every machine and for rows in any order.
///
/// Before the result is rounded, its error is at most n^3 * 2^-119 times the greatest magnitude, for n rows.
/// It reads the values three times; groups.reduce() with op::sum reads them once.
/// \param space that runs the call.
/// \param grouped the groups.
/// \param values float or double, one for each row. A group with NaN, or with infinities of both signs, has NaN.
/// \return a sum for each group; 0 for a group of no rows.
/// \throws invalid_argument for another number of values; out_of_memory (strong).
/// \complexity O(n).
/// \memory 32 bytes a group.
/// \synchronizes yes.
/// \concurrency concurrent calls are safe.
template <class Space, std::ranges::contiguous_range Values>
[[nodiscard]] buffer<double, Space> reproducible_sum(Space& space, const groups<Space>& grouped,
                                                     const Values& values) {
  static_assert(std::floating_point<detail::value_of<Values>>, "tilehash: sums of integers are reproducible");
  const auto all = detail::checked_values(space, grouped, values);
  return detail::sum_of_codes(space, grouped.codes(), grouped.size(), all.data());
}

}  // namespace analysis
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
