#include "row.hpp"

#include <algorithm>
#include <numeric>

namespace tilehash::app {

probe_statistics summarise_probes(std::vector<std::uint32_t> probes) {
  if (probes.empty()) return {};
  std::sort(probes.begin(), probes.end());
  // Nearest rank: the smallest count that covers that share of the lookups.
  const auto covering = [&](std::uint64_t percent) {
    return probes[(probes.size() * percent + 99) / 100 - 1];
  };
  const auto sum = std::accumulate(probes.begin(), probes.end(), std::uint64_t{0});
  return {.average = static_cast<double>(sum) / static_cast<double>(probes.size()),
          .p50 = covering(50),
          .p80 = covering(80),
          .p90 = covering(90),
          .p99 = covering(99),
          .p100 = covering(100)};
}

}  // namespace tilehash::app
