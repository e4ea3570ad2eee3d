// SPDX-License-Identifier: Apache-2.0
// How long something takes, on the clock of a space.
#pragma once

#include <algorithm>
#include <vector>

namespace tilehash_examples {

inline double median(std::vector<double> seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

// The median of so many runs.
template <class Space, class Run>
double seconds_of(Space& space, unsigned repeat, Run run) {
  std::vector<double> seconds(repeat);
  for (double& s : seconds) s = space.time(run);
  return median(std::move(seconds));
}

}  // namespace tilehash_examples
