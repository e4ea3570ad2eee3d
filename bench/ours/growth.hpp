// SPDX-License-Identifier: Apache-2.0
// The costs of growth: in the table's own memory, and by a second table.
#pragma once

#include <tilehash/core/config.hpp>

#include <functional>
#include <string>

#include "measure.hpp"

namespace tilehash::bench {

struct growth_case {
  u64 items = 0;        // that are doubled: half of the table's items in the end
  u64 batch = 0;        // items of a call, of a table that grows from `from`
  u64 from = 0;         // ... items
  double load = 0;      // factor that the table is sized for
  unsigned repeat = 0;  // each with a space of its own
  int threads = 0;
};

// Seconds of the host until the answers are complete; bytes that are out at most meanwhile, the table's
// included.
struct growth_row {
  std::string space, growth;  // "in place" or "second table"
  growth_case what{};
  spread build_first{}, build{};           // of the items: in new memory, and in memory that the space has
  spread doubling{}, find{}, shrinking{};  // reserve(2 n); n lookups afterwards; shrink_to_fit
  u64 old_bytes = 0, new_bytes = 0;        // of the table, before and after it was doubled
  u64 doubling_peak = 0, shrinking_peak = 0;
  spread batches{};  // from `from` items to `items`, in new memory
  u64 batches_bytes = 0, batches_peak = 0;
  u64 wrong = 0;  // answers
};

using tell_growth = std::function<void(const growth_row&)>;
// Pairs of 32 + 32 bits in `tiled`; both ways of growth.
void cpu_growth(const growth_case& the_case, const tell_growth& tell);
void cuda_growth(const growth_case& the_case, const tell_growth& tell);

}  // namespace tilehash::bench
