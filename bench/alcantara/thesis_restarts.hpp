// SPDX-License-Identifier: Apache-2.0
// How often the construction of cuckoo tables must start again, and how far a single-level table's walks go,
// against its size, with the stash and without (Alcantara, sections 5.5 and 6.1.1). These do not depend on
// the machine.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash::bench {

struct restart_case {
  u32 functions = 4;
  bool stash = true;
  u64 items = 0, trials = 0;
  double size = 0;  // of the table, in slots an item
};

struct restart_counts {
  restart_case what;
  u64 restarted = 0;   // constructions that took new hash functions
  u64 larger = 0;      // of these, the ones that ended in a larger table
  u64 stash_used = 0;  // constructions that put something into the stash
  u64 stashed = 0;     // items in it, in all of them
  u64 lost = 0;        // items that are not found afterwards
  double hard = 0;     // share of the items for which others moved, or were to
  double walks = 0;    // searches for a path, for each of those
  u64 most_walks = 0;  // for any one
};

restart_counts count_restarts(const restart_case& the_case);

// The two-level table: how often the partition gives a region more than the C = 512 items that the thesis
// allows, and how often building starts again: a region with its next seed, or everything.
struct partition_case {
  u64 items = 0;
  u64 partitions = 0;  // that are only counted
  u64 builds = 0;
};
struct partition_counts {
  partition_case what;
  u64 regions = 0;                            // of a table
  u64 overfull = 0;                           // partitions with a region of more than 512 items
  u64 beyond = 0;                             // ... of more than its slots, which no seed can build
  u64 restarted = 0, reseeded = 0, lost = 0;  // tables, regions and items of all builds
};
partition_counts count_partitions(const partition_case& the_case);

}  // namespace tilehash::bench
