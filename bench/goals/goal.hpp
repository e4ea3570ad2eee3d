// SPDX-License-Identifier: Apache-2.0
// A goal is a rate or a time that a call must reach. tilehash_goals measures all goals in one run.
#pragma once

#include <tilehash/core/config.hpp>

#include <algorithm>
#include <functional>
#include <string>

#include "measure.hpp"

namespace tilehash::bench {

enum class goal_unit { billions_a_second, milliseconds, microseconds };

// A rival's time in the same run. Without one it is 0.
struct rival_time {
  std::string name{};
  double seconds = 0;
};

// Rates of bare kernels, by one thread a key (bounds_cuda.cu). Keys or bytes a second.
struct goal_bounds {
  double swap_26 = 0, swap_22 = 0;  // 64 bytes are read and a word is swapped; 2^26 and 2^22 keys
  double read_22 = 0;               // 64 bytes are read and 4 written
  double two_buckets_26 = 0, two_buckets_22 = 0;  // inserts into two buckets, load factor 0.8
  double find_22 = 0;                             // lookups of their keys
  double linear_26 = 0, double_26 = 0;            // inserts into slots of 8 bytes, load factor 0.8
  double bytes_written = 0;                       // one after the other
  double call = 0;                                // seconds of an empty kernel and a wait
  // Seconds of small calls (small_bounds_cuda.cu): swaps in the lines of 10^3 present keys, and the values of
  // 10^5 keys.
  double update_3 = 0, retrieve_5 = 0;
  // By the host's clock: swaps in 2^24 slots; inserts of 10^6 items there; and of 10^3 to 10^7 items into an empty table.
  double erase_3 = 0, erase_async_3 = 0, half_full_6 = 0;
  double fill_3 = 0, fill_5 = 0, fill_6 = 0, fill_7 = 0;
};
goal_bounds measure_goal_bounds();
void measure_small_bounds(goal_bounds& bounds);  // sets those of small calls
// Seconds of the accesses of an insert of the last 1/16 of n items, whose keys and values have so many bits each
// (tail_bounds_cuda.cu). 0: not known.
struct tail_bounds {
  double one_by_one = 0, in_order = 0, by_regions = 0;

  double least() const { return std::min({one_by_one, in_order, by_regions}); }
};
tail_bounds measure_tail_bounds(u64 n, double load, unsigned bits);

struct goal_row {
  std::string call;
  goal_unit unit{};
  double asked = 0;  // in the unit
  u64 items = 0;     // of the call
  spread seconds{};
  rival_time rival{};
  double least_seconds = 0;  // of any table, by goal_bounds; 0: not known
  u64 wrong = 0;             // answers
  u64 refused = 0;           // items

  double in_unit(double s) const {
    if (unit == goal_unit::billions_a_second) return s > 0 ? static_cast<double>(items) / s / 1e9 : 0;
    return s * (unit == goal_unit::milliseconds ? 1e3 : 1e6);
  }
  bool is_met() const { return reaches(seconds.median) && wrong == 0 && refused == 0; }
  bool is_possible() const { return least_seconds == 0 || reaches(least_seconds); }

 private:
  bool reaches(double s) const {
    return unit == goal_unit::billions_a_second ? in_unit(s) >= asked : in_unit(s) <= asked;
  }
};

using tell_goal = std::function<void(const goal_row&)>;

// Those that the other benchmarks have no row for.
void sums_goals(const tell_goal& tell);
void view_goals(const goal_bounds& bounds, const tell_goal& tell);
void growth_goals(const tell_goal& tell);
void join_goals(const goal_bounds& bounds, const tell_goal& tell);

}  // namespace tilehash::bench
