// SPDX-License-Identifier: Apache-2.0
#include "row.hpp"

#include <algorithm>
#include <vector>

namespace tilehash::app {

probe_statistics summarise_probes(std::span<const std::uint32_t> probes) {
  if (probes.empty()) return {};
  std::vector<std::uint64_t> times(std::size_t{std::ranges::max(probes)} + 1);  // that so many were read
  for (const std::uint32_t count : probes) ++times[count];
  // Nearest rank: the smallest count that covers that share of the lookups.
  const auto covering = [&](std::uint64_t percent) {
    std::uint64_t left = (probes.size() * percent + 99) / 100;
    std::uint32_t count = 0;
    while (left > times[count]) left -= times[count++];
    return count;
  };
  std::uint64_t sum = 0;
  for (std::size_t count = 0; count < times.size(); ++count) sum += count * times[count];
  return {.average = static_cast<double>(sum) / static_cast<double>(probes.size()),
          .p50 = covering(50),
          .p80 = covering(80),
          .p90 = covering(90),
          .p99 = covering(99),
          .p100 = covering(100)};
}

}  // namespace tilehash::app
