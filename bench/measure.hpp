// The stopwatch.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace tilehash::bench {

// What came of measuring more than once.
struct spread {
  double min = 0, median = 0, max = 0;
  std::vector<double> runs{};  // in their order

  spread() = default;
  explicit spread(std::vector<double> of) : runs(std::move(of)) {
    auto sorted = runs;
    std::ranges::sort(sorted);
    min = sorted.front(), median = sorted[sorted.size() / 2], max = sorted.back();
  }

  // From the fastest to the slowest, as a share of the median.
  double noise() const { return (max - min) / median; }
};

// Seconds that each of `repeat` runs takes, on the space's own clock, after one to warm up. setup() goes
// before each of them and is not timed.
template <class Space, class Setup, class Run>
spread measure(Space& space, unsigned repeat, Setup setup, Run run) {
  std::vector<double> seconds;
  for (unsigned i = 0; i <= repeat; ++i) {
    setup();
    const double s = space.time(run);
    if (i != 0) seconds.push_back(s);
  }
  return spread(std::move(seconds));
}

}  // namespace tilehash::bench
