// SPDX-License-Identifier: Apache-2.0
// Measures ceilings one after another.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "ours/ceilings.hpp"

namespace tilehash::bench {

template <class Space>
class ceiling_list {
 public:
  ceiling_list(Space& space, unsigned repeat) : space_(space), repeat_(repeat) {}

  // run() does `ops` accesses of `bytes_per_op` each to memory of `bytes`. Gives accesses per second.
  template <class Run>
  double add(std::string what, u64 bytes, u64 ops, double bytes_per_op, Run run) {
    auto seconds = measure(
        space_, repeat_, [] {}, run);
    measured_.push_back({std::move(what), bytes, ops, bytes_per_op, std::move(seconds)});
    return measured_.back().ops_per_s();
  }

  std::vector<ceiling> take() { return std::move(measured_); }

 private:
  Space& space_;
  unsigned repeat_;
  std::vector<ceiling> measured_;
};

}  // namespace tilehash::bench
