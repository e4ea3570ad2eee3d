// SPDX-License-Identifier: Apache-2.0
// Builds and lookups of published two-level tables, on either space.
#pragma once

#include <tilehash/papers/published/two_level.hpp>
#include <tilehash/space/algorithms.hpp>

#include <algorithm>
#include <utility>

#include "alcantara/thesis_cuckoo_workload.hpp"
#include "alcantara/thesis_two_level.hpp"

namespace tilehash::bench {

template <papers::published::tables Tables, class Space>
class two_level_bench {
  using counts_type = papers::published::two_level_counts;

 public:
  two_level_bench(Space& space, std::string name, const two_level_case& the_case)
      : space_(space),
        row_{.what = the_case, .space = std::move(name)},
        keys_(space, the_case.items),
        out_(space, the_case.items),
        found_(space, the_case.items),
        counts_(space, 2),
        table_(space, the_case.items) {}

  two_level_row run() {
    double rounds = 0;
    for (u64 i = 0; i < row_.what.builds; ++i) {
      make_keys(i);
      const counts_type counts = build(i);
      row_.failed += !counts.complete;
      row_.partitions += counts.partitions;
      row_.restarts += counts.restarts;
      row_.buckets += counts.buckets;
      row_.longest = std::max(row_.longest, counts.longest());
      rounds += counts.mean_rounds() * double(counts.buckets);
      if (counts.complete) check(row_.what.items);
    }
    row_.mean_rounds = rounds / double(row_.buckets);
    row_.size = double(table_.bytes()) / 8 / double(row_.what.items);
    time();
    return row_;
  }

 private:
  void make_keys(u64 number) {
    space_.for_each(row_.what.items, make_mixed{number * row_.what.items, keys_.data()});
  }
  counts_type build(u64 seed) { return table_.build(space_, keys_.span(), keys_.span(), mix64(seed)); }
  void find() { table_.find_async(space_, keys_.span(), out_.span(), found_.span()); }
  // One key of all may be the mark of free slots, which no build stores.
  void check(u64 expected) {
    space_.fill(counts_.data(), 2, u64(0));
    find();
    space_.for_each(keys_.size(), check_mixed{keys_.data(), out_.data(), found_.data(), counts_.data(),
                                              counts_.data() + 1});
    row_.wrong += read_one(space_, counts_.data() + 1);
    row_.wrong += read_one(space_, counts_.data()) != expected;
  }
  void time() {
    const auto rate = [&](auto work) {
      const spread s = measure(
          space_, row_.what.repeat, [] {}, work);
      return double(row_.what.items) / s.median;
    };
    make_keys(0);
    row_.build = rate([&] { (void)build(0); });
    row_.find = rate([&] { find(); });
    make_keys(row_.what.builds);
    row_.find_absent = rate([&] { find(); });
    check(0);
  }

  Space& space_;
  two_level_row row_;
  buffer<u32, Space> keys_, out_;
  buffer<bool, Space> found_;
  buffer<u64, Space> counts_;
  papers::published::two_level<Space, Tables> table_;
};

template <class Space>
two_level_row measure_two_level(Space& space, const char* name, const two_level_case& c) {
  using papers::published::tables;
  return c.exact ? two_level_bench<tables::exact, Space>(space, name, c).run()
                 : two_level_bench<tables::equal, Space>(space, name, c).run();
}

}  // namespace tilehash::bench
