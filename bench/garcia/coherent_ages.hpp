// SPDX-License-Identifier: Apache-2.0
// How old the keys of Robin Hood tables grow, next to open addressing (Garcia et al., figure 3), against the
// load, and how often a build fails (section 4.1). These do not depend on the machine.
#pragma once

#include <tilehash/core/config.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tilehash::bench {

// Keys by age, of which [0] are free slots. "model" tables are an array and a rule, filled key by key.
struct age_row {
  std::string table, data;
  u64 items = 0;
  double load = 0;  // asked for
  std::vector<u64> ages;
  double found = 0, not_found = 0;  // buckets read by a lookup; 0: not counted
  u64 refused = 0, wrong = 0;

  u64 oldest() const { return ages.empty() ? 0 : ages.size() - 1; }
};

struct failure_row {
  std::string table;
  double load = 0;
  u64 tables = 0, failed = 0;       // builds, and those that refused a key
  u64 restarts = 0, restarted = 0;  // how often one restarted, and how many did
  u64 oldest = 0;                   // of all keys of all tables
  u64 wrong = 0;                    // keys that were not found again
};

// n keys of a universe 16 times as large at load 0.8; then as many random keys, and those of a structured
// picture, at each load.
void count_ages(u64 n, const std::vector<double>& loads, const std::function<void(const age_row&)>& tell);
// So many tables of n keys for each load, each with other keys and another seed.
void count_failures(u64 tables, u64 n, const std::vector<double>& loads,
                    const std::function<void(const failure_row&)>& tell);

}  // namespace tilehash::bench
