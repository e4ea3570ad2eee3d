// SPDX-License-Identifier: Apache-2.0
// The sweeps of Alcantara's thesis (figures 3.2 to 3.7, 4.4 to 4.10, 5.7 to 5.9, 6.3 to 6.12): every
// structure's rates of construction and of retrieval against one thing, all others fixed.
//
// A table's size is in slots of 8 bytes an item, whatever it keeps in them, as the thesis compares tables: N
// items in B chains are N + B / 2 slots. So every design is given the load factor that comes to those bytes,
// or its nearest: a row says what it got.
#pragma once

#include <tilehash/core/config.hpp>

#include <string>
#include <vector>

#include "yardstick.hpp"

namespace tilehash::bench {

struct sweep {
  std::string name, about;
  std::vector<u64> items;
  std::vector<double> sizes;
  std::vector<unsigned> failed;  // percent of the lookups
};

// The sweeps that run by default: fewer on a CPU.
std::vector<sweep> thesis_sweeps(const std::string& space);
// The designs that the thesis compares, and ours.
std::vector<std::string> thesis_designs();

struct sweep_row {
  double size = 0;  // asked for
  measurement what;

  double got() const { return what.bytes_per_pair / 8; }
};

// The load factor at which a design's table of so many items is as large as asked for, or nearly.
double load_factor_for(const subject& design, u64 items, double size);

}  // namespace tilehash::bench
