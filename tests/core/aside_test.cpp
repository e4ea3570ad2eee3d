// The two cells beside a table.
#include <tilehash/core/aside.hpp>

#include <gtest/gtest.h>

namespace tilehash::detail {
namespace {

using full = slot<u32, u32>;   // no spare bits: two keys live aside
using roomy = slot<u32, u64>;  // spare bits: none

static_assert(aside<full>::count == 2 && aside<roomy>::count == 0 && aside<roomy>::bytes == 0);

TEST(aside, each_key_has_a_cell_of_its_own) {
  aside<full>::cell cells[2] = {};
  const aside<full> a{cells};
  const u32 tags[] = {full::empty_tag, full::erased_tag};
  for (u32 tag : tags) EXPECT_EQ(a.find(tag).what, state::absent);
  EXPECT_EQ(a.insert(tags[0], 10), outcome::inserted);
  EXPECT_EQ(a.find(tags[1]).what, state::absent);
  EXPECT_EQ(a.insert(tags[1], 20), outcome::inserted);
  for (u32 i = 0; i < 2; ++i) {
    EXPECT_EQ(a.insert(tags[i], 99), outcome::present);
    EXPECT_EQ(a.find(tags[i]).what, state::found);
    EXPECT_EQ(a.find(tags[i]).value, 10 * (i + 1)) << "the first value stays";
    EXPECT_EQ(a.tag_at(a.index(tags[i])), tags[i]);
  }
  EXPECT_TRUE(a.erase(tags[0]));
  EXPECT_FALSE(a.erase(tags[0]));
  EXPECT_EQ(a.find(tags[0]).what, state::absent);
  EXPECT_EQ(a.find(tags[1]).what, state::found);
  EXPECT_EQ(a.insert(tags[0], 30), outcome::inserted);
  EXPECT_EQ(a.find(tags[0]).value, 30U);
}

TEST(aside, holds_wide_values) {
  using wide = slot<u8, std::array<u8, 15>>;
  static_assert(aside<wide>::count == 2);
  aside<wide>::cell cells[2] = {};
  const aside<wide> a{cells};
  const auto value = static_cast<wide::value_bits>(7) << 100 | 5;
  EXPECT_EQ(a.insert(wide::erased_tag, value), outcome::inserted);
  EXPECT_TRUE(a.find(wide::erased_tag).value == value);
}

}  // namespace
}  // namespace tilehash::detail
