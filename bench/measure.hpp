// SPDX-License-Identifier: Apache-2.0
// The stopwatch.
#pragma once

#include <utility>
#include <vector>

#include "interrupt.hpp"
#include "spread.hpp"

namespace tilehash::bench {

using app::spread;

// Processor time is of one thread. It has less of what else a machine does.
enum class measured_clock { wall, processor };

// Seconds that each of `repeat` runs takes, on the space's own clock, after one to warm up. setup() goes
// before each of them and is not timed. When the user asks to stop, the runs so far are all, at least one.
template <class Space, class Setup, class Run>
spread measure(Space& space, unsigned repeat, Setup setup, Run run) {
  std::vector<double> seconds;
  for (unsigned i = 0; i <= repeat; ++i) {
    setup();
    const double s = space.time(run);
    if (i != 0) seconds.push_back(s);
    if (app::asked_to_stop() && !seconds.empty()) break;
  }
  return spread(std::move(seconds));
}

}  // namespace tilehash::bench
