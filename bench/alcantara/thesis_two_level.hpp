// SPDX-License-Identifier: Apache-2.0
// The two-level cuckoo table as the thesis publishes it (papers/published/two_level.hpp): rounds of a bucket,
// seeds that fail, rates, with buckets of equal and of exact sizes (Alcantara, sections 5.2.2 and 5.5).
#pragma once

#include <tilehash/core/config.hpp>

#include <string>

namespace tilehash::bench {

struct two_level_case {
  u64 items = 0;
  u64 builds = 0;      // other keys and other functions in each
  bool exact = false;  // each bucket has the slots that its own pairs take
  unsigned repeat = 1;
};

struct two_level_row {
  two_level_case what;
  std::string space;
  double size = 0;                              // of all that a lookup reads, in slots of 8 bytes an item
  u64 buckets = 0, partitions = 0, failed = 0;  // in all builds; failed: builds
  u64 restarts = 0;                             // seeds that failed
  double mean_rounds = 0;                       // of a bucket, with the seed that succeeded
  u32 longest = 0;
  double build = 0, find = 0, find_absent = 0;  // items a second
  u64 wrong = 0;
};

two_level_row cpu_two_level(const two_level_case& the_case, int threads);
two_level_row cuda_two_level(const two_level_case& the_case);

}  // namespace tilehash::bench
