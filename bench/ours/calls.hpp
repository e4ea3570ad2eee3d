// SPDX-License-Identifier: Apache-2.0
// The cost of a call by the clock of the host that makes it, the wait for its answers included: the price of
// launches, allocations and of asking the space how it went, which no rate of many items shows.
#pragma once

#include <tilehash/core/config.hpp>

#include <functional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace tilehash::bench {

struct calls_case {
  std::string design;        // one of call_designs
  std::vector<u64> items;    // in calls on tables made for as many
  u64 slots = 0;             // of a table that is half full
  std::vector<u64> batches;  // items in calls on that one
  unsigned repeat = 50;      // fewer where they take longer than a second
  int threads = 0;           // of the CPU
};

// Pairs of 32 + 32 bits.
inline constexpr const char* call_designs[] = {"tiled", "bucketed_cuckoo"};

struct call_row {
  std::string design, space, call{};
  u64 items = 0;  // given to the call
  u64 held = 0;   // in the table before it
  bool waits = true;
  unsigned repeat = 0;
  spread done{};      // seconds until its answers are complete
  spread returned{};  // ... until the host may go on; the same where the call waits
  u64 wrong = 0;      // calls that reported something else than they should, and wrong answers in the end
};

using tell_call = std::function<void(const call_row&)>;

void cpu_calls(const calls_case& the_case, const tell_call& tell);
void cuda_calls(const calls_case& the_case, const tell_call& tell);

}  // namespace tilehash::bench
