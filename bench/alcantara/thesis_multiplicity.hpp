// SPDX-License-Identifier: Apache-2.0
// Multimaps and two-way indexes against how often a key comes, the number of items fixed (Alcantara, figures
// 5.10, 5.11, 6.13 and 6.14): both builds of a multimap and the one that is chosen, lookups, and all values of
// all keys, compared with a sort of the same pairs and hash_graph. Then the thesis' compacting tables, the sorted
// list of the different keys, and index; and the thesis' multi-value tables.
#pragma once

#include <tilehash/core/config.hpp>

#include <iterator>
#include <string>

#include "measure.hpp"

namespace tilehash::bench {

struct multiplicity_case {
  u64 items = 0, copies = 0;  // of each key

  u64 keys() const { return (items + copies - 1) / copies; }
};

// Items a second, in the order of the columns.
enum class multiplicity_op {
  sort,                // space.sort_pairs: the yardstick of the builds
  by_sort,             // build
  by_count,            // build
  automatic,           // build
  graph_build,         // hash_graph
  look_up,             // count() of every item's key, so of each key as often as it comes (as in the thesis)
  retrieve,            // the values of every key, keys in random order
  graph_retrieve,      // count() of every key once, which walks its values; hash_graph has no more
  compact,             // the thesis' compacting table: build
  compact_find,        // ids of every item's key
  two_level,           // the same over the two-level table
  two_level_find,      // ids of every item's key
  list,                // the sorted structure next to both of its tables: the different keys in order, build
  list_find,           // a binary search for every item's key
  index_build,         // tilehash::index
  index_find,          // ids of every item's key
  single_values,       // the thesis' multi-value table over the single-level table, by sort: build
  single_values_find,  // count and place of the values of every item's key
  two_values,          // over the two-level table, by counting: build
  two_values_find,     // as above
};
inline constexpr multiplicity_op multiplicity_ops[] = {
    multiplicity_op::sort,         multiplicity_op::by_sort,        multiplicity_op::by_count,
    multiplicity_op::automatic,    multiplicity_op::graph_build,    multiplicity_op::look_up,
    multiplicity_op::retrieve,     multiplicity_op::graph_retrieve, multiplicity_op::compact,
    multiplicity_op::compact_find, multiplicity_op::two_level,      multiplicity_op::two_level_find,
    multiplicity_op::list,         multiplicity_op::list_find,      multiplicity_op::index_build,
    multiplicity_op::index_find,   multiplicity_op::single_values,  multiplicity_op::single_values_find,
    multiplicity_op::two_values,   multiplicity_op::two_values_find};

struct multiplicity_row {
  multiplicity_case what;
  std::string space;
  spread seconds[std::size(multiplicity_ops)] = {};
  double bytes = 0;  // of the multimap, an item
  u64 wrong = 0;     // keys with other values than they should have, in any of the tables

  double rate(multiplicity_op op) const {
    return static_cast<double>(what.items) / seconds[static_cast<u32>(op)].median;
  }
};

// Keys and values of 32 bits.
multiplicity_row cpu_multiplicity(const multiplicity_case& the_case, unsigned repeat, int threads);
multiplicity_row cuda_multiplicity(const multiplicity_case& the_case, unsigned repeat);

}  // namespace tilehash::bench
