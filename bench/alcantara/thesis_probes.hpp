// SPDX-License-Identifier: Apache-2.0
// How many slots a lookup reads in open addressing, for both families of hash functions of Alcantara's thesis
// and ours, and for the jumps of double hashing (sections 3.1.2, 3.2, 3.3.3). These do not depend on the
// machine.
#pragma once

#include <tilehash/core/config.hpp>

#include <array>
#include <functional>
#include <string>

namespace tilehash::bench {

struct probe_statistics {
  std::string probing, hash;
  u64 jump_prime = 0;  // of double hashing, else 0
  u64 items = 0;
  double size = 0;  // of the table, in slots an item
  bool found = false;
  double average = 0;
  std::array<u32, 5> at{};  // so many slots for 50, 80, 90, 99 and 100 % of the lookups
  u64 refused = 0;          // items that found no slot within the most probes allowed
};

// Calls tell() for all kinds of tables of so many items in so many slots each.
void count_probes(u64 items, double size, const std::function<void(const probe_statistics&)>& tell);

}  // namespace tilehash::bench
