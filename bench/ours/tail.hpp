// SPDX-License-Identifier: Apache-2.0
// Inserts into tables that are nearly full, where few keys find a free slot in their first bucket; erases; and
// lookups of some keys far more often than others: each against what the memory can do.
#pragma once

#include <tilehash/core/config.hpp>

#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"
#include "ours/ceilings.hpp"

namespace tilehash::bench {

enum class tail_op {
  insert,  // the last items of a table that is made for all of them
  erase,   // of some of them, in random order
  find,    // as many lookups as there are items, by Zipf's law
};

struct tail_case {
  tail_op op = tail_op::insert;
  u64 n = 0;  // unique keys in the table when it is full
  double load_factor = 0.8;
  unsigned bits = 32;  // of a key, and of a value: 32 or 64
  u64 items = 0;       // inserted, erased or asked for
};

struct tail_row {
  std::string design, space;
  tail_case what;
  double load_factor = 0;  // of the table when it was full
  spread seconds;
  limits ceilings;  // of random accesses to memory of the table's size
  u64 failed = 0;   // items refused
  u64 wrong = 0;    // wrong answers

  double rate(double s) const { return static_cast<double>(what.items) / s; }
};

// Nothing where tables of the design cannot do this.
std::optional<tail_row> cpu_tail(const std::string& design, const tail_case& the_case, known_limits& known,
                                 unsigned repeat, int threads);
std::optional<tail_row> cuda_tail(const std::string& design, const tail_case& the_case, known_limits& known,
                                  unsigned repeat);

}  // namespace tilehash::bench
