// SPDX-License-Identifier: Apache-2.0
// Lookups against the size of the table, all found and none found, with the bytes that each moves: Horton
// tables next to both cuckoo tables of the paper and `tiled` (Breslow et al., figures 12 and 13).
#pragma once

#include <string>
#include <vector>

#include "fields.hpp"
#include "yardstick.hpp"

namespace tilehash::bench {

struct size_row {
  u64 bytes = 0;  // of the slots, as asked for
  measurement what;

  // The paper's reckoning: whole buckets, a key in and a value out. All of `size_designs` have buckets of 64
  // bytes where keys and values have 32 bits.
  double bytes_moved() const { return 64 * what.buckets + what.key_bytes + what.value_bytes; }
};

// The baseline first.
inline const std::vector<std::string> size_designs{"bucketed_cuckoo_balanced", "bucketed_cuckoo", "horton",
                                                   "tiled"};
// Powers of two from 16 KiB on.
std::vector<u64> sizes_to(u64 most);

fields fields_of(const size_row& row);

}  // namespace tilehash::bench
