// SPDX-License-Identifier: Apache-2.0
// Sums by group, SELECT key, sum(value) GROUP BY key: a table's insert_or_apply against what people use
// instead.
#pragma once

#include <tilehash/core/config.hpp>

#include <span>
#include <string>
#include <vector>

#include "measure.hpp"

namespace tilehash::bench {

struct aggregation_case {
  u64 items = 0, groups = 0;
  bool skewed = false;  // group k comes about 1/k times as often as the first (Zipf, exponent 1)
};

struct aggregation {
  std::string method, space;
  aggregation_case what;
  spread seconds{};
  u64 wrong = 0;  // sums

  double rate() const { return static_cast<double>(what.items) / seconds.median; }
};

// Keys and values of 32 bits; the table is made for the groups at load factor 0.8, which is not timed.
std::vector<aggregation> cpu_aggregations(const aggregation_case& the_case, unsigned repeat, int threads);
std::vector<aggregation> cuda_aggregations(const aggregation_case& the_case, unsigned repeat);

}  // namespace tilehash::bench
