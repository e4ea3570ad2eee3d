// SPDX-License-Identifier: Apache-2.0
// A join by each way that there is here, and by what people use instead: a sort of both sides and a merge, a
// lookup of one in a table of the other. Every row of every result is checked.
#pragma once

#include <tilehash/core/join_options.hpp>

#include <functional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace tilehash::bench {

inline const std::vector<std::string> join_designs = {
    "join",                  // join.hpp: by regions, or what it takes to be better
    "join_by_table",         // its other way, by a multimap
    "hash_graph",            // a graph of the right side, whose rows are walked
    "hash_graph_intersect",  // ... and one of the left side, whose rows meet them
    "sort_merge",            // both sides sorted (on a GPU by CUB), and a search for each left row
    "tiled",                 // the right side in a map, where each key comes once there
};

// Whose keys come as often as Zipf's law says, exponent 1; those of the other side come equally often.
enum class join_skew { none, left, right };

struct join_case {
  u64 left = 0, right = 0;  // rows; keys are of 32 bits
  u64 copies = 1;           // how often a key of the right side comes there, on average
  join_skew skew = join_skew::none;
  double found = 1;  // share of the left rows whose key is on the right side, too
  join_kind kind = join_kind::inner;

  TILEHASH_FN u64 keys() const { return (right + copies - 1) / copies; }  // of the right side, at most
  bool comes_once() const { return copies == 1 && skew != join_skew::right; }
};

struct join_measurement {
  std::string design, space;
  join_case what;
  u64 rows = 0;
  spread build{}, join{}, all{};  // seconds: what knows the right side alone; the rest; both
  u64 wrong = 0;                  // left rows that were joined to others than they should be
  std::string obstacle{};         // what kept it from being measured: memory; empty: nothing

  double rate(double s) const { return static_cast<double>(rows) / s; }
  double rate_in(double s) const { return static_cast<double>(what.left + what.right) / s; }
};

using tell_join = std::function<void(const join_measurement&)>;

// Those of the designs that can do it.
void cpu_joins(const join_case& the_case, const std::vector<std::string>& designs, unsigned repeat,
               int threads, const tell_join& tell);
void cuda_joins(const join_case& the_case, const std::vector<std::string>& designs, unsigned repeat,
                const tell_join& tell);

}  // namespace tilehash::bench
