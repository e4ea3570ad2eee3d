// SPDX-License-Identifier: Apache-2.0
// The single-level cuckoo table as the thesis publishes it (papers/published/cuckoo.hpp), with two to five
// functions: builds that fail, chains of evictions, the stash, and rates, against the size of the table
// (Alcantara, section 6.1.1 and figure 6.6).
#pragma once

#include <tilehash/core/config.hpp>

#include <string>

namespace tilehash::bench {

struct cuckoo_case {
  u32 functions = 4;
  double size = 1.25;  // slots for each item
  u64 items = 0;
  u64 builds = 0;  // other keys and other functions in each
  unsigned repeat = 1;
  u32 stash = 101;  // its slots: 101 with one place a key, 16 probed linearly, or none
};

struct cuckoo_row {
  cuckoo_case what;
  std::string space;
  u64 failed = 0;         // builds that lose a pair, which the thesis repeats
  u64 lost = 0;           // pairs, in all builds
  u64 stash_used = 0;     // builds
  u64 most_unplaced = 0;  // pairs of a build whose chains became too long; the stash gets these
  double mean_chain = 0;  // evictions for each pair
  u64 longest_chain = 0;
  u64 most_allowed = 0;                         // evictions
  double build = 0, find = 0, find_absent = 0;  // items a second; filling with free slots is part of a build
  u64 wrong = 0;
};

// The least size of a table by the thesis, in slots for each item (section 6.1.1).
constexpr double least_cuckoo_size(u32 functions) {
  constexpr double of[] = {2.1, 1.1, 1.03, 1.02};
  return of[functions - 2];
}

cuckoo_row cpu_cuckoo(const cuckoo_case& the_case, int threads);
cuckoo_row cuda_cuckoo(const cuckoo_case& the_case);

}  // namespace tilehash::bench
