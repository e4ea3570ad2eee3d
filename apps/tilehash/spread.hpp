// SPDX-License-Identifier: Apache-2.0
// The spread of repeated measurements.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace tilehash::app {

struct spread {
  double min = 0, median = 0, max = 0;
  std::vector<double> runs{};  // in their order

  static constexpr double much_noise = 0.1;

  spread() = default;
  explicit spread(std::vector<double> of) : runs(std::move(of)) {
    if (runs.empty()) return;
    auto sorted = runs;
    std::ranges::sort(sorted);
    min = sorted.front(), median = sorted[sorted.size() / 2], max = sorted.back();
  }

  // From the fastest to the slowest, as a share of the median.
  double noise() const { return median > 0 ? (max - min) / median : 0; }
  bool is_noisy() const { return noise() > much_noise; }
};

}  // namespace tilehash::app
