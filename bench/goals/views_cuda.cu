// SPDX-License-Identifier: Apache-2.0
// Inserts by a caller's kernel, one thread a key, into tables of open addressing.
#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/table.hpp>

#include "goal.hpp"
#include "numbered.hpp"

namespace tilehash::bench {
namespace {

struct make_goal_pairs {
  u32 *keys, *values;
  TILEHASH_FN void operator()(u64 i) const {
    keys[i] = key_of<u32>(i);
    values[i] = value_of<u32>(keys[i]);
  }
};
template <class View>
struct insert_by_thread {
  View view;
  const u32 *keys, *values;
  u64* refused;
  TILEHASH_FN void operator()(u64 i) const {
    if (view.insert(keys[i], values[i]) == outcome::refused) detail::fetch_add(refused, u64(1));
  }
};
struct compare_values {
  const u32 *values, *found;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (values[i] != found[i]) detail::fetch_add(wrong, u64(1));
  }
};

template <class Design>
goal_row insert_through_view(cuda& space, const char* call, double asked) {
  constexpr u64 n = u64(1) << 26;
  goal_row row{.call = call, .unit = goal_unit::billions_a_second, .asked = asked, .items = n};
  buffer<u32, cuda> keys(space, n), values(space, n), found(space, n);
  buffer<u64, cuda> counts(space, 2);
  space.fill(counts.data(), 2, u64(0));
  space.for_each(n, make_goal_pairs{keys.data(), values.data()});
  table<Design, cuda> t(space, n, {.load_factor = 0.8, .grow = false});
  using view_type = decltype(t.mutable_view(space));
  row.seconds = measure(
      space, 5, [&] { t.clear(space); },
      [&] {
        space.for_each(
            n, insert_by_thread<view_type>{t.mutable_view(space), keys.data(), values.data(), counts.data()});
      });
  t.find_or(space, keys.span(), found.span(), 0u);
  space.for_each(n, compare_values{values.data(), found.data(), counts.data() + 1});
  const auto counted = counts.to_host();
  row.refused = counted[0];
  row.wrong = counted[1] + (t.size() != n);
  return row;
}

}  // namespace

void view_goals(const goal_bounds& bounds, const tell_goal& tell) {
  cuda space;
  const auto bounded = [&](goal_row row, double rate) {
    row.least_seconds = static_cast<double>(row.items) / rate;
    tell(row);
  };
  bounded(insert_through_view<double_hashing<u32, u32>>(
              space, "double_hashing: insert of 2^26 by a thread a key", 11),
          bounds.double_26);
  bounded(insert_through_view<linear_probing<u32, u32>>(
              space, "linear_probing: insert of 2^26 by a thread a key", 11),
          bounds.linear_26);
}

}  // namespace tilehash::bench
