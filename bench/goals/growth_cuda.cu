// SPDX-License-Identifier: Apache-2.0
// Inserts of 2^24 distinct keys into empty tables that may grow.
#include <tilehash/dynamic_map.hpp>
#include <tilehash/map.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>

#include "goal.hpp"
#include "numbered.hpp"

namespace tilehash::bench {
namespace {

struct make_growth_keys {
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<u32>(i); }
};
struct count_absent {
  const bool* present;
  u64* absent;
  TILEHASH_FN void operator()(u64 i) const {
    if (!present[i]) detail::fetch_add(absent, u64(1));
  }
};

template <class Table>
goal_row insert_and_grow(cuda& space, const char* call, double asked) {
  constexpr u64 n = u64(1) << 24;
  goal_row row{.call = call, .unit = goal_unit::milliseconds, .asked = asked, .items = n};
  buffer<u32, cuda> keys(space, n);
  space.for_each(n, make_growth_keys{keys.data()});
  Table t(space);
  insert_report report;
  row.seconds = measure(
      space, 5, [&] { t = Table(space); },
      [&] {
        if constexpr (Table::is_set)
          report = t.insert(space, keys.span());
        else
          report = t.insert(space, keys.span(), keys.span());
      });
  row.refused = report.refused;
  const buffer<bool, cuda> present(space, n);
  const buffer<u64, cuda> absent(space, 1);
  space.fill(absent.data(), 1, u64(0));
  t.contains(space, keys.span(), present.span());
  space.for_each(n, count_absent{present.data(), absent.data()});
  row.wrong = read_one(space, absent.data()) + (t.size() != n);
  return row;
}

}  // namespace

void growth_goals(const tell_goal& tell) {
  cuda space;
  tell(insert_and_grow<map<u32, u32, cuda>>(space, "map that grows: insert of 2^24 distinct keys", 0.6));
  tell(insert_and_grow<set<u32, cuda>>(space, "set that grows: insert of 2^24 distinct keys", 0.6));
  tell(insert_and_grow<dynamic_map<u32, u32, cuda>>(
      space, "dynamic_map that grows: insert of 2^24 distinct keys", 1));
}

}  // namespace tilehash::bench
