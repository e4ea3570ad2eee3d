// SPDX-License-Identifier: Apache-2.0
// The least and the greatest of floating-point values do not depend on the order of the items. A NaN loses
// against every number, and -0.0 is less than 0.0. Tested in slots, in sentinel cells, and where items of
// equal keys are combined first.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

// All orders of four values, a key each, and all prefixes of those: 1 + 4 + 12 + 24 + 24 keys, the last two
// of which are stored in sentinel cells.
struct orders {
  std::vector<u32> keys;
  std::vector<float> values;  // four for each key, some unused
  std::vector<u32> come;      // how many are used

  orders() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float all[] = {-nan, nan, -0.0F, 0.0F, -1, 7};
    for (u32 chosen = 0; chosen < 64; ++chosen) {
      if (std::popcount(chosen) != 4) continue;
      std::vector<u32> order;
      for (u32 i = 0; i < 6; ++i)
        if ((chosen >> i & 1) != 0) order.push_back(i);
      do {
        for (u32 length = 1; length <= 4; ++length) {
          keys.push_back(~static_cast<u32>(keys.size()));
          come.push_back(length);
          for (const u32 i : order) values.push_back(all[i]);
        }
      } while (std::ranges::next_permutation(order).found);
    }
  }
};

inline u32 rank_of(float x) {  // in the order of numbers
  const u32 bits = std::bit_cast<u32>(x);
  return (bits >> 31) != 0 ? ~bits : bits | 1U << 31;
}
inline bool is_a_nan(float x) { return (std::bit_cast<u32>(x) & ~(1U << 31)) > 0x7f80'0000U; }

template <class Op, class Space>
void expect_extremes(Space& space, bool least, u64 times) {
  const orders given;
  const u64 n = given.keys.size();
  table<linear_probing<u32, float>, Space> t(space, n);
  for (u32 turn = 0; turn < 4; ++turn) {
    std::vector<u32> keys;
    std::vector<float> values;
    for (u64 i = 0; i < n; ++i) {
      if (turn >= given.come[i]) continue;
      for (u64 k = 0; k < times; ++k) {  // many items of one key are combined first
        keys.push_back(given.keys[i]);
        values.push_back(given.values[4 * i + (times == 1 ? turn : (turn + k) % given.come[i])]);
      }
    }
    const buffer<u32, Space> k(space, keys);
    const buffer<float, Space> v(space, values);
    const insert_report report = t.insert_or_apply(space, k.span(), v.span(), Op{});
    ASSERT_EQ(report.refused, 0U);
  }
  const buffer<u32, Space> k(space, given.keys);
  const buffer<float, Space> out(space, n);
  t.find(space, k.span(), out.span());
  const auto found = out.to_host();
  for (u64 i = 0; i < n; ++i) {
    std::vector<float> its(given.values.begin() + static_cast<long>(4 * i),
                           given.values.begin() + static_cast<long>(4 * i + given.come[i]));
    std::erase_if(its, is_a_nan);
    if (its.empty()) {
      ASSERT_TRUE(is_a_nan(found[i]));
      continue;
    }
    const float expected = least ? std::ranges::min(its, {}, rank_of) : std::ranges::max(its, {}, rank_of);
    ASSERT_EQ(std::bit_cast<u32>(found[i]), std::bit_cast<u32>(expected)) << "key " << i;
  }
}

// Inserts `times` items of each key at once.
template <class Space>
void expect_extremes_in_any_order(Space& space, u64 times) {
  for (const u64 together : {u64(1), times}) {
    SCOPED_TRACE(together);
    expect_extremes<op::minimum>(space, true, together);
    expect_extremes<op::maximum>(space, false, together);
  }
}

}  // namespace tilehash::contract
