// SPDX-License-Identifier: Apache-2.0
// Horton tables that erase and insert at a constant load: whether lookups come to read more buckets, for
// repatriation eager, lazy and none, next to a table freshly made of the same items. These do not depend on
// the machine.
#pragma once

#include <tilehash/core/config.hpp>

#include <functional>
#include <string>

namespace tilehash::bench {

struct churn_case {
  u64 table_slots = 0;
  unsigned rounds = 0;  // in each of which a tenth of the items goes and as many others come
  unsigned calls = 0;   // of erase and of insert in a round, in turns
};

struct churn_row {
  u32 slots = 0;
  double load = 0;
  unsigned round = 0;                    // after it; 0: the first items
  std::string home{};                    // how items come home: eager, lazy, never; fresh: a new table
  double found = 0, not_found = 0;       // buckets read by a lookup
  double type_b = 0;                     // share of the buckets
  u64 items = 0, failed = 0, wrong = 0;  // failed: keys of this round that found no place

  // Without repatriation the entries take ever more slots, and keys may well find none.
};

// 8 slots at load 0.9, then 4 at 0.85.
void count_churn(const churn_case& the_case, const std::function<void(const churn_row&)>& tell);

}  // namespace tilehash::bench
