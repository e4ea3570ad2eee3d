// SPDX-License-Identifier: Apache-2.0
// How many buckets a lookup reads in a Horton table and in the cuckoo tables it is held against, and what its
// remap entries take, next to the paper's model of both (Breslow et al., figures 8 to 11 and 14). These do not
// depend on the machine.
#pragma once

#include <tilehash/core/config.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tilehash::bench {

struct bucket_reads {
  std::string design;
  u32 slots = 0;                    // of a bucket
  double load = 0;                  // items a slot, as it came to be
  double entries = 0;               // share of the slots that hold remap entries
  double found = 0, not_found = 0;  // buckets read by a lookup
  double model_entries = 0, model_found = 0, model_not_found = 0;  // 0: the paper has none
  u64 items = 0, failed = 0, wrong = 0;

  // A bucket of fewer than four slots is too small a secondary bucket for the keys that must share it.
};

// How many buckets have so many primary keys? Next to equation 3.
struct home_counts {
  std::string hash;
  u32 slots = 0;
  double load = 0;
  std::vector<u64> buckets;  // by number of keys
  std::vector<double> model;
};

// Tables of so many slots, but `buckets` buckets where homes are counted, which come first.
void count_accesses(u64 table_slots, u64 buckets, const std::function<void(const home_counts&)>& tell_homes,
                    const std::function<void(const bucket_reads&)>& tell);

}  // namespace tilehash::bench
