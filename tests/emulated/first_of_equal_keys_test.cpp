// SPDX-License-Identifier: Apache-2.0
// Bulk builds that keep the first of equal keys, on both kinds of space.
#include <gtest/gtest.h>

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tilehash/algorithm/contested.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/space/cpu.hpp>

#include "designs_test.hpp"
#include "numbered_keys.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

// A build that is to keep the first of equal keys does so for each key of which it left no item over; and of
// the others all items are found again, and few more.
template <class Space, class Design>
u64 keep_firsts(u64 n, double load, which_key which) {
  SCOPED_TRACE(std::to_string(n) + " items");
  using slot = typename Design::slot_type;
  using key = typename Design::key_type;
  using value = typename Design::mapped_type;
  Space space = make_space<Space>();
  std::vector<key> keys(n);
  std::vector<value> values(n);
  std::unordered_map<key, value> first;
  for (u64 i = 0; i < n; ++i) {
    keys[i] = static_cast<key>(mix64(which(i, n)));
    values[i] = static_cast<value>(~i);  // none is its item's number, nor follows their order
    first.try_emplace(keys[i], values[i]);
  }
  const buffer<key, Space> k(space, keys);
  const buffer<value, Space> v(space, values);
  const u64 capacity = Design::capacity_for(n, load);
  const buffer<char, Space> memory(space, Design::bytes(capacity));
  const Design d(memory.data(), capacity, 5, load);
  const auto filled =
      detail::fill_regions<true>(space, d, detail::array_source<slot>{k.data(), v.data()}, n, false);
  EXPECT_TRUE(filled.lists_left);
  EXPECT_LT(filled.left, n / 8);
  if (::testing::Test::HasFailure()) return 0;
  std::unordered_set<key> left;
  for (u64 i = 0; i < filled.left; ++i) left.insert(slot::decode(filled.rest()(i).key.bits));
  u64 there = 0, wrong = 0;
  for (u64 i = 0; i < capacity; ++i) {
    const auto w = d.slots()[i];
    if (slot::is_free(w)) continue;
    const key x = slot::decode(d.key_at(i, w));
    ++there;
    wrong += !left.contains(x) && first.at(x) != detail::from_bits<value>(slot::value_of(w));
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(there, filled.inserted);
  EXPECT_GE(there + left.size(), first.size());

  const detail::contested_keys<Space> some(space, n);
  const auto filter = some.filter();
  space.for_each(filled.left, detail::add_left<Design>{filled.spilled, filter});
  filter.add(d.hash(slot::encode(keys[0])));
  left.insert(keys[0]);
  const auto found = detail::find_contested(space, d, k.data(), n, filter, left.size());
  const std::unordered_set<u32> numbers(found.numbers.data(), found.numbers.data() + found.size);
  EXPECT_EQ(numbers.size(), found.size);
  u64 others = 0;
  for (u32 i = 0; i < n; ++i) {
    if (left.contains(keys[i]))
      EXPECT_TRUE(numbers.contains(i));
    else
      others += numbers.contains(i);
  }
  EXPECT_LE(others, 4 * left.size() + 8 * n / first.size() + 8) << "there is a bit for each item, or two";
  return filled.left;
}
using narrow = tiled<u32, u32>;
using wide = tiled<u64, u64>;  // whose scratch has copies of the items

TEST(FirstOfEqualKeys, IsKeptByABuild) {
  for (const which_key which : {random_key<15'000>, twice<1>, twice<1'500>}) {
    if (small() && which == twice<1'500>) continue;
    keep_firsts<emulated, narrow>(36'000, 0.8, which);
  }
  for (const which_key which : {random_key<80'000>, random_key<8'000>, twice<7>, twice<9'000>}) {
    if (small() && (which == random_key<80'000> || which == twice<9'000>)) continue;
    keep_firsts<emulated, wide>(18'000, 0.8, which);
  }
}
TEST(FirstOfEqualKeys, IsKeptByABuildOnACpu) {
  for (const which_key which : {random_key<30'000'000>, random_key<300'000>, random_key<80'000>,
                                often_and_then_once, twice<1>, twice<16'384>, twice<50'000>}) {
    if (small() && (which == random_key<300'000> || which == twice<16'384> || which == twice<50'000>))
      continue;
    keep_firsts<cpu, narrow>(100'000, 0.9, which);
    keep_firsts<cpu, wide>(100'000, 0.85, which);
    keep_firsts<cpu, narrow>(100'000, 0.95, which);
  }
  // Nearly all wait, many more than their list can hold.
  keep_firsts<cpu, narrow>(100'000, 0.85, random_key<2'000>);
}
// Whose blocks can count few regions, so that a table is filled slice by slice.
struct of_small_blocks : emulated {
  using emulated::emulated;
  static constexpr u64 largest_scratch() { return 165'000; }
};
TEST(FirstOfEqualKeys, IsKeptSliceBySlice) {
  for (const which_key which : {random_key<15'000>, twice<1>, twice<9'000>})
    keep_firsts<of_small_blocks, narrow>(36'000, 0.8, which);
}
// A key comes so often that not all of its items fit its region.
TEST(FirstOfEqualKeys, IsKeptWhereRegionsOverflow) {
  EXPECT_GT((keep_firsts<cpu, narrow>(100'000, 0.9, one_key_often<24>)), 0U);
  EXPECT_GT((keep_firsts<cpu, wide>(100'000, 0.85, one_key_often<48>)), 0U);
  keep_firsts<emulated, wide>(18'000, 0.8, one_key_often<24>);  // (of a share one item of it is left)
}

}  // namespace
}  // namespace tilehash::designs_test
