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

// What came of measuring more than once.
struct spread {
  double min = 0, median = 0, max = 0;
};
inline spread spread_of(std::vector<double>& seconds) {
  const auto [min, max] = std::ranges::minmax(seconds);
  return {min, median(seconds), max};
}

// Seconds that each of `repeat` runs takes, on the space's own clock, after one to warm up. setup() goes
// before each of them and is not timed.
template <class Space, class Setup, class Run>
std::vector<double> measure_all(Space& space, unsigned repeat, Setup setup, Run run) {
  std::vector<double> seconds;
  for (unsigned i = 0; i <= repeat; ++i) {
    setup();
    const double s = space.time(run);
    if (i != 0) seconds.push_back(s);
  }
  return seconds;
}
// Their median.
template <class Space, class Setup, class Run>
double measure(Space& space, unsigned repeat, Setup setup, Run run) {
  auto seconds = measure_all(space, repeat, setup, run);
  return median(seconds);
}

}  // namespace tilehash::bench
