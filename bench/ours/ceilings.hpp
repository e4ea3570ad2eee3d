// SPDX-License-Identifier: Apache-2.0
// The limits of the machine: the rates that bound any hash table.
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/space/forward.hpp>

#include <bit>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "measure.hpp"

namespace tilehash::bench {

struct ceiling {
  std::string what;
  u64 bytes = 0;  // of the memory that is accessed
  u64 ops = 0;
  double bytes_per_op = 0;
  spread seconds{};

  double ops_per_s() const { return static_cast<double>(ops) / seconds.median; }
  double bytes_per_s() const { return bytes_per_op * ops_per_s(); }
};

// Every limit at every size of memory; each is measured `repeat` times.
std::vector<ceiling> cpu_ceilings(std::span<const u64> sizes, unsigned repeat, int threads);
std::vector<ceiling> cuda_ceilings(std::span<const u64> sizes, unsigned repeat);

// Those that a table of so many bytes is held against, in operations per second.
struct limits {
  double reads = 0;    // of 64 random bytes: what a lookup does at least
  double updates = 0;  // a random line is read and one word of it compared and swapped: an insert, an erase
  double swaps = 0;    // of random words of 8 bytes, not read before: what changes a slot at least
};
limits measure_limits(cpu& space, u64 bytes, unsigned repeat);
limits measure_limits(cuda& space, u64 bytes, unsigned repeat);

// The bound of a call on a table of so many bytes: accesses of random places of 64 bytes, a second. An update
// reads 64 bytes, then compares and swaps a word of them.
struct access_rates {
  double reads = 0, updates = 0;              // many under way, as calls of the library have
  double reads_alone = 0, updates_alone = 0;  // by a thread that does not look ahead, as a caller's kernel
  double steps = 0;  // reads of a walk: each has the address of the next; a GPU has many walks under way
  double call = 0;   // seconds of a GPU's kernel that does nothing, and of the wait for it
};
// The fastest of a few runs. `processor_time`: of the only thread, not of the clock on the wall.
access_rates cpu_access_rates(u64 bytes, int threads, bool processor_time);
access_rates cuda_access_rates(u64 bytes);

// Measured once for tables of nearly the same size.
class known_limits {
 public:
  template <class Space>
  const limits& at(Space& space, u64 bytes, unsigned repeat) {
    const u64 step = std::bit_floor(bytes) / 32, rounded = (bytes + step / 2) / step * step;
    const auto known = by_size_.find(rounded);
    if (known != by_size_.end()) return known->second;
    return by_size_.emplace(rounded, measure_limits(space, rounded, repeat)).first->second;
  }

  const std::map<u64, limits>& by_size() const { return by_size_; }

 private:
  std::map<u64, limits> by_size_;
};

}  // namespace tilehash::bench
