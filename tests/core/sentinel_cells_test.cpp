// SPDX-License-Identifier: Apache-2.0
// The two sentinel cells of a table.
#include <tilehash/core/op.hpp>
#include <tilehash/core/sentinel_cells.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace tilehash::detail {
namespace {

using full = slot<u32, u32>;   // no spare bits: two keys live in sentinel cells
using spare = slot<u32, u64>;  // spare bits: none

static_assert(sentinel_cells<full>::count == 2 && sentinel_cells<spare>::count == 0 &&
              sentinel_cells<spare>::bytes == 0);

TEST(sentinels, each_key_has_a_cell_of_its_own) {
  sentinel_cells<full>::cell cells[2] = {};
  const sentinel_cells<full> a{cells};
  const u32 keys[] = {full::empty_mark, full::tombstone_mark};
  for (u32 bits : keys) EXPECT_EQ(a.find(bits).what, lookup_state::absent);
  EXPECT_EQ(a.insert(keys[0], 10), outcome::inserted);
  EXPECT_EQ(a.find(keys[1]).what, lookup_state::absent);
  EXPECT_EQ(a.insert(keys[1], 20), outcome::inserted);
  for (u32 i = 0; i < 2; ++i) {
    EXPECT_EQ(a.insert(keys[i], 99), outcome::present);
    EXPECT_EQ(a.find(keys[i]).what, lookup_state::found);
    EXPECT_EQ(a.find(keys[i]).value, 10 * (i + 1)) << "the first value stays";
    EXPECT_EQ(a.key_at(a.index(keys[i])), keys[i]);
  }
  EXPECT_TRUE(a.erase(keys[0]));
  EXPECT_FALSE(a.erase(keys[0]));
  EXPECT_EQ(a.find(keys[0]).what, lookup_state::absent);
  EXPECT_EQ(a.find(keys[1]).what, lookup_state::found);
  EXPECT_EQ(a.insert(keys[0], 30), outcome::inserted);
  EXPECT_EQ(a.find(keys[0]).value, 30U);
}

TEST(sentinels, holds_wide_values) {
  using wide = slot<u8, std::array<u8, 15>>;
  static_assert(sentinel_cells<wide>::count == 2);
  sentinel_cells<wide>::cell cells[2] = {};
  const sentinel_cells<wide> a{cells};
  const auto value = static_cast<wide::value_bits>(7) << 100 | 5;
  EXPECT_EQ(a.insert(wide::tombstone_mark, value), outcome::inserted);
  EXPECT_TRUE(a.find(wide::tombstone_mark).value == value);
}

TEST(sentinels, sums_wrap_round) {
  using numbers = slot<u32, int>;
  sentinel_cells<numbers>::cell cells[2] = {};
  const sentinel_cells<numbers> a{cells};
  const auto most = static_cast<u32>(std::numeric_limits<int>::max());
  EXPECT_EQ(a.insert_or_apply(numbers::empty_mark, most, op::sum{}), outcome::inserted);
  EXPECT_EQ(a.insert_or_apply(numbers::empty_mark, 1U, op::sum{}), outcome::present);
  EXPECT_EQ(static_cast<int>(a.find(numbers::empty_mark).value), std::numeric_limits<int>::min());
}

}  // namespace
}  // namespace tilehash::detail
