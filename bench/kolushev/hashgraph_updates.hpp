// SPDX-License-Identifier: Apache-2.0
// The costs of inserts into a hash graph and of erases, next to a build from all items; and what its
// lookups cost then, next to those of a graph without free entries between its rows.
#pragma once

#include <tilehash/core/config.hpp>

#include <functional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace tilehash::bench {

struct updates_case {
  u64 items = 0;           // that are present; keys and values of 32 bits
  double load_factor = 1;  // items a row
  double slack = 0.25;     // free entries an item, to begin with
  double share = 0;        // how many come, for each that is present

  u64 given() const { return static_cast<u64>(static_cast<double>(items) * share); }
};

struct updates_row {
  std::string space;
  updates_case what;
  // Seconds: to insert those that come, to erase as many, and to build a hash_graph of all there are then; to
  // look up as many keys as were present at first: all found, none found, and the same in that hash_graph.
  spread insert{}, erase{}, build{}, found{}, not_found{}, built_found{}, built_not_found{};
  bool built_anew = false;  // by the insert, which found no free entries
  u64 bytes = 0, built_bytes = 0;
  u64 wrong = 0;           // keys that are not present as often as they should be
  std::string obstacle{};  // what kept it from being measured: memory; empty: nothing
};

using tell_updates = std::function<void(const updates_row&)>;

void cpu_updates(const std::vector<updates_case>& cases, unsigned repeat, int threads,
                 const tell_updates& tell);
void cuda_updates(const std::vector<updates_case>& cases, unsigned repeat, const tell_updates& tell);

}  // namespace tilehash::bench
