// SPDX-License-Identifier: Apache-2.0
// Computes the size of a table from its number of items, and throws when the arithmetic overflows.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

inline constexpr u64 max_slots = u64(1) << 48;

// The highest load factor that a caller may request: above it, inserts degenerate in every design.
inline constexpr double max_load_factor = 0.98;

// The highest load factor that a design or a probe sequence supports.
template <class Design>
constexpr double highest_load_factor() {
  if constexpr (requires { Design::max_load_factor; })
    return Design::max_load_factor;
  else
    return max_load_factor;
}

// Throws invalid_argument unless 0 < load_factor <= highest.
inline void require_load_factor(double load_factor, double highest) {
  if (load_factor > 0 && load_factor <= highest) return;
  char number[32];
  std::snprintf(number, sizeof number, "%g", std::floor(1000 * highest + 1e-9) / 1000);
  refuse(std::string("the load factor must be above 0 and at most ") + number);
}

// Slots for `items` at `load_factor`, at least 1. Throws invalid_argument when either is out of range.
inline u64 slots_for(u64 items, double load_factor, double highest = max_load_factor) {
  require_load_factor(load_factor, highest);
  const double wanted = std::ceil(static_cast<double>(items) / load_factor);
  require(wanted < static_cast<double>(max_slots),
          "a table cannot have more than 2^48 slots; ask for fewer items");
  return wanted < 1 ? 1 : static_cast<u64>(wanted);
}

// The largest count to expect of hashed items: mean + 8 standard deviations of a Poisson distribution.
inline double most_expected(double mean) { return mean + 8 * std::sqrt(mean); }

// The capacity of a bin that gets `mean` items on average. The added 32 cover bins of few items.
inline u64 bin_capacity(double mean) {
  const double most = most_expected(mean);
  return (most < 0x1p63 ? static_cast<u64>(most) : u64(1) << 63) + 32;  // (larger ones do not convert)
}
// The capacity of each of `bins` bins for n items.
inline u64 bin_capacity(u64 n, u64 bins) {
  return bin_capacity(static_cast<double>(n) / static_cast<double>(bins));
}

inline u64 divide_up(u64 a, u64 b) { return a / b + (a % b != 0); }

// Is a sweep due after so many erases in a table of single slots? Lookups of absent keys end at free slots, and
// tombstones take these: at most 1/share of them. (A full table may have tombstones in 1/256 of its slots,
// because a sweep reads all slots.)
inline bool tombstones_are_due(u64 capacity, u64 items, u64 erased, u64 share) {
  const u64 free = items < capacity ? capacity - items : 0;
  return erased > free / share && erased > capacity / 256;
}

// Is a table of buckets below 0.7 full? A sweep costs as much as many erases there, and the marks that erases
// leave cost lookups little. With four times as many erases between sweeps, lookups read at most 1.3 times as
// much as in a new table.
inline bool marks_cost_little(u64 capacity, u64 items) { return 10 * items < 7 * capacity; }

// The smallest prime that is not below n. O(sqrt(n)).
inline u64 next_prime(u64 n) {
  const auto is_prime = [](u64 x) {
    if (x < 4) return x > 1;
    if (x % 2 == 0) return false;
    for (u64 d = 3; d * d <= x; d += 2) {
      if (x % d == 0) return false;
    }
    return true;
  };
  while (!is_prime(n)) ++n;
  return n;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
