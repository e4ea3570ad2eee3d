// The stopwatch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tilehash::bench {

inline double median(std::vector<double>& seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

// Seconds that run() takes, on the space's own clock: the median of `repeat` runs after one to warm up.
// setup() goes before each of them and is not timed.
template <class Space, class Setup, class Run>
double measure(Space& space, unsigned repeat, Setup setup, Run run) {
  std::vector<double> seconds;
  for (unsigned i = 0; i <= repeat; ++i) {
    setup();
    const double s = space.time(run);
    if (i != 0) seconds.push_back(s);
  }
  return median(seconds);
}

}  // namespace tilehash::bench
