// SPDX-License-Identifier: Apache-2.0
// Builds and lookups of published cuckoo tables, on either space.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/papers/published/cuckoo.hpp>
#include <tilehash/space/buffer.hpp>

#include <algorithm>
#include <string>

#include "alcantara/thesis_cuckoo.hpp"
#include "measure.hpp"

namespace tilehash::bench {

// Keys `first`, `first` + 1, ...: all different, as the mixer is a bijection. A pair's value is its key.
struct make_mixed {
  u64 first;
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = mix32(static_cast<u32>(first + i)); }
};
struct check_mixed {
  const u32 *keys, *values;
  const bool* found;
  u64 *kept, *wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (!found[i]) return;
    detail::fetch_add(kept, u64(1));
    if (values[i] != keys[i]) detail::fetch_add(wrong, u64(1));
  }
};

template <u32 Functions, class Stash, class Space>
class cuckoo_bench {
  using table_type = papers::published::table<papers::published::cuckoo<Functions, Stash>, Space>;

 public:
  cuckoo_bench(Space& space, std::string name, const cuckoo_case& the_case)
      : space_(space),
        row_{.what = the_case, .space = std::move(name)},
        keys_(space, the_case.items),
        out_(space, the_case.items),
        found_(space, the_case.items),
        counts_(space, 2) {}

  cuckoo_row run() {
    u64 evictions = 0;
    for (u64 build = 0; build < row_.what.builds; ++build) evictions += count(build);
    row_.mean_chain = double(evictions) / double(row_.what.builds * row_.what.items);
    time();
    return row_;
  }

 private:
  table_type empty_table(u64 build) {
    return {space_, row_.what.items, 1 / row_.what.size, mix64(build) >> 8};
  }
  void make_keys(u64 build) {
    space_.for_each(row_.what.items, make_mixed{build * row_.what.items, keys_.data()});
  }

  // The evictions of one build.
  u64 count(u64 build) {
    make_keys(build);
    table_type t = empty_table(build);
    row_.most_allowed = t.view().max_chain();
    const auto counts = t.insert(space_, keys_.span(), keys_.span(), t.view().max_chain());
    row_.failed += counts.lost != 0;
    row_.lost += counts.lost;
    row_.stash_used += counts.steps.back() != counts.lost;
    row_.most_unplaced = std::max(row_.most_unplaced, counts.steps.back());
    u64 evictions = 0;
    for (u64 i = 0; i < counts.steps.size(); ++i) {
      evictions += i * counts.steps[i];
      if (counts.steps[i] != 0) row_.longest_chain = std::max(row_.longest_chain, i);
    }
    check(t, row_.what.items - counts.lost - counts.reserved);
    return evictions;
  }
  void check(const table_type& t, u64 expected) {
    space_.fill(counts_.data(), 2, u64(0));
    t.find_async(space_, keys_.span(), out_.span(), found_.span());
    space_.for_each(keys_.size(), check_mixed{keys_.data(), out_.data(), found_.data(), counts_.data(),
                                              counts_.data() + 1});
    row_.wrong += read_one(space_, counts_.data() + 1);
    row_.wrong += read_one(space_, counts_.data()) != expected;
  }

  void time() {
    make_keys(0);
    table_type t = empty_table(0);
    const double n = double(row_.what.items);
    const auto rate = [&](auto run) {
      return n / measure(
                     space_, row_.what.repeat, [] {}, run)
                     .median;
    };
    row_.build = rate([&] {
      t.clear(space_);
      (void)t.insert(space_, keys_.span(), keys_.span());
    });
    const auto find = [&] { t.find_async(space_, keys_.span(), out_.span(), found_.span()); };
    row_.find = rate(find);
    make_keys(1);
    row_.find_absent = rate(find);
    check(t, 0);
  }

  Space& space_;
  cuckoo_row row_;
  buffer<u32, Space> keys_, out_;
  buffer<bool, Space> found_;
  buffer<u64, Space> counts_;
};

template <u32 Functions, class Space>
cuckoo_row measure_functions(Space& space, const char* name, const cuckoo_case& c) {
  using namespace papers::published;
  return c.stash == 0    ? cuckoo_bench<Functions, no_stash, Space>(space, name, c).run()
         : c.stash == 16 ? cuckoo_bench<Functions, probed_stash<>, Space>(space, name, c).run()
                         : cuckoo_bench<Functions, one_place_stash<>, Space>(space, name, c).run();
}

template <class Space>
cuckoo_row measure_cuckoo(Space& space, const char* name, const cuckoo_case& c) {
  return c.functions == 2   ? measure_functions<2>(space, name, c)
         : c.functions == 3 ? measure_functions<3>(space, name, c)
         : c.functions == 4 ? measure_functions<4>(space, name, c)
                            : measure_functions<5>(space, name, c);
}

}  // namespace tilehash::bench
