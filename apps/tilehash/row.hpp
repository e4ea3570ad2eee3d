// SPDX-License-Identifier: Apache-2.0
// One measurement: what the JSON says, key by key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "spread.hpp"

namespace tilehash::app {

// Slots or buckets read by one lookup: the average, and how many suffice for 50, 80 ... 100 % of the lookups.
struct probe_statistics {
  double average = 0;
  std::uint32_t p50 = 0, p80 = 0, p90 = 0, p99 = 0, p100 = 0;
};

probe_statistics summarise_probes(std::span<const std::uint32_t> probes);

struct row {
  std::string design, space, input;
  std::uint64_t n = 0;       // items given
  std::uint64_t unique = 0;  // different keys among them
  unsigned key_bytes = 0, value_bytes = 0;
  double load_factor = 0;  // as built
  std::uint64_t bytes = 0;
  double bytes_per_pair = 0;
  std::string op;   // one of all_ops
  int threads = 0;  // that worked; 0 on a GPU
  std::uint64_t items = 0;
  spread seconds{};
  std::uint64_t failed = 0;  // items refused
  std::uint64_t wrong = 0;   // answers that the oracle does not give
  bool verified = true;      // else no answer was checked, and `wrong` says nothing
  std::uint64_t restarts = 0;
  std::optional<probe_statistics> probes;

  double mitems_per_s() const {
    return seconds.median > 0 ? static_cast<double>(items) / seconds.median / 1e6 : 0;
  }
};

}  // namespace tilehash::app
