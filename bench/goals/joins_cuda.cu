// SPDX-License-Identifier: Apache-2.0
// Inner joins of few and of many rows.
#include <tilehash/join.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>

#include <algorithm>
#include <optional>
#include <utility>

#include "goal.hpp"
#include "numbered.hpp"

namespace tilehash::bench {
namespace {

// Row i has the key of number i / copies; rows from `matching` on have keys that the other side lacks.
struct make_side {
  u32* keys;
  shuffled order;
  u64 copies, matching, other;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 row = order(i);
    keys[i] = key_of<u32>(row < matching ? row / copies : other + row);
  }
};
struct check_pairs {
  const u32 *left, *right, *left_rows, *right_rows;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (left[left_rows[i]] != right[right_rows[i]]) detail::fetch_add(wrong, u64(1));
  }
};

struct join_goal {
  const char* call;
  goal_unit unit;
  double asked;
  u64 rows, left_copies, right_copies, left_matching, right_matching;
};

goal_row inner_join(cuda& space, const goal_bounds& bounds, const join_goal& goal) {
  goal_row row{.call = goal.call, .unit = goal.unit, .asked = goal.asked, .items = 2 * goal.rows};
  const u64 n = goal.rows;
  buffer<u32, cuda> left(space, n), right(space, n);
  space.for_each(n,
                 make_side{left.data(), shuffled(0, n), goal.left_copies, goal.left_matching, u64(1) << 30});
  space.for_each(
      n, make_side{right.data(), shuffled(0, n), goal.right_copies, goal.right_matching, u64(1) << 31});
  std::optional<join_rows<cuda>> pairs;
  row.seconds = measure(
      space, 7, [&] { pairs.reset(); },
      [&] { pairs = join(space, std::as_const(left).span(), std::as_const(right).span()); });
  const u64 keys = std::min(goal.left_matching / goal.left_copies, goal.right_matching / goal.right_copies);
  row.wrong = pairs->size() != keys * goal.left_copies * goal.right_copies;
  // The rows are written at least.
  row.least_seconds = static_cast<double>(pairs->left.bytes() + pairs->right.bytes()) / bounds.bytes_written;
  const buffer<u64, cuda> wrong(space, 1);
  space.fill(wrong.data(), 1, u64(0));
  space.for_each(pairs->size(), check_pairs{left.data(), right.data(), pairs->left.data(),
                                            pairs->right.data(), wrong.data()});
  row.wrong += read_one(space, wrong.data());
  return row;
}

}  // namespace

void join_goals(const goal_bounds& bounds, const tell_goal& tell) {
  cuda space;
  using enum goal_unit;
  constexpr u64 many = 100'000'000, few = 100'000, keys = 30'000;
  tell(inner_join(
      space, bounds,
      {"inner join of 10^8 and 10^8 rows, both sides 8 of a key", milliseconds, 12, many, 8, 8, many, many}));
  // 30 000 left rows match; each matching key has so many right rows, as many keys as fit.
  const auto small = [&](const char* call, double asked, u64 copies) {
    const u64 of = std::min(keys, few / copies);  // keys of the right side that match
    return join_goal{call,   milliseconds,   asked,      few, std::max<u64>(keys / of, 1),
                     copies, keys / of * of, of * copies};
  };
  tell(inner_join(space, bounds,
                  small("inner join of 10^5 and 10^5 rows, 30 000 match, 1 of a key", 0.12, 1)));
  tell(inner_join(space, bounds, small("... 1 000 of a key", 0.22, 1000)));
  tell(inner_join(space, bounds, small("... 10 000 of a key", 0.7, 10000)));
  tell(inner_join(space, bounds, small("... 50 000 of a key", 3.4, 50000)));
}

}  // namespace tilehash::bench
