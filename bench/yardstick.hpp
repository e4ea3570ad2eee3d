// SPDX-License-Identifier: Apache-2.0
// The yardstick: the workloads that every table is measured by, and the tables that are measured.
#pragma once

#include <tilehash/core/config.hpp>

#include <functional>
#include <string>
#include <vector>

#include "measure.hpp"
#include "ours/ceilings.hpp"

namespace tilehash::bench {

// Lookups of all n keys' number: so many of a hundred are for keys that are not in the table; shuffled, or in
// the order of their keys.
struct query_mix {
  unsigned failed_percent = 0;
  bool sorted = false;
};

// Keys and lookups of an experiment's own, in place of numbered ones.
struct given_keys {
  std::vector<u32> keys;       // each once
  std::vector<u32> questions;  // asked for in this order
  std::vector<u8> there;       // for each question: is it one of the keys?
};

struct yardstick_case {
  u64 n = 0;  // unique keys in the table
  double load_factor = 0.8;
  unsigned bits = 32;  // of a key, and of a value: 32 or 64
  unsigned repeat = 5;
  int threads = 0;                   // of the CPU; 0: all
  std::vector<query_mix> queries{};  // not empty: only the build and these are measured, without ceilings
  u64 least_lookups = 0;             // of a query mix: of fewer keys, each is asked for more than once
  bool count_buckets = false;        // that the lookups of a query mix read
  unsigned fill_steps = 0;  // not 0: only inserts into a table made for all items, in so many equal parts
  const given_keys* given = nullptr;  // these n keys, whose build and lookups are measured, without ceilings
};

struct measurement {
  std::string design, space;
  u64 n = 0;
  unsigned key_bytes = 0, value_bytes = 0;
  double load_factor = 0;     // as built; 0 where the table does not say
  double bytes_per_pair = 0;  // likewise
  std::string op;             // build, insert, find_hit, find_miss, find_mix or erase; find of a query_mix
  int threads = 0;            // that worked; 0 on a GPU
  query_mix queries{};
  double buckets = 0;  // that a lookup reads, on average; 0: not counted
  u64 items = 0;
  spread seconds{};
  double ceiling = 0;  // items per second that the machine allows; 0: not for this one
  u64 failed = 0;      // items refused
  u64 wrong = 0;       // wrong answers

  double rate() const { return static_cast<double>(items) / seconds.median; }
  double ratio() const { return ceiling > 0 ? rate() / ceiling : 0; }
};

using emit = std::function<void(const measurement&)>;

// A design in a space, or one of the peers it is held against.
struct subject {
  std::string name, space;
  bool is_peer = false;
  std::function<void(const yardstick_case&, known_limits&, const emit&)> run;
  // The bytes of a table of so many pairs of 32 + 32 bits, and how full it may be.
  std::function<u64(u64 items, double load_factor)> bytes{};
  double max_load_factor = 0;
};

// All of them, peers last; CMake generates it.
std::vector<subject> all_subjects();

}  // namespace tilehash::bench
