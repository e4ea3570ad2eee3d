// SPDX-License-Identifier: Apache-2.0
// A goal is a rate or a time that a call must reach. tilehash_goals measures all goals in one run.
#pragma once

#include <tilehash/core/config.hpp>

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

struct goal_row {
  std::string call;
  goal_unit unit{};
  double asked = 0;  // in the unit
  u64 items = 0;     // of the call
  spread seconds{};
  rival_time rival{};
  u64 wrong = 0;    // answers
  u64 refused = 0;  // items

  double in_unit(double s) const {
    if (unit == goal_unit::billions_a_second) return s > 0 ? static_cast<double>(items) / s / 1e9 : 0;
    return s * (unit == goal_unit::milliseconds ? 1e3 : 1e6);
  }
  bool is_met() const {
    const double ours = in_unit(seconds.median);
    const bool is_reached = unit == goal_unit::billions_a_second ? ours >= asked : ours <= asked;
    return is_reached && wrong == 0 && refused == 0;
  }
};

using tell_goal = std::function<void(const goal_row&)>;

// Those that the other benchmarks have no row for.
void sums_goals(const tell_goal& tell);
void view_goals(const tell_goal& tell);
void growth_goals(const tell_goal& tell);
void join_goals(const tell_goal& tell);

}  // namespace tilehash::bench
