// Joins under the GPU's schedule: by regions, some of which are left to the table, and by the table.
#include <array>
#include <limits>
#include <string>
#include <vector>

#include <contract/join_model.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

using contract::expect_joined;

// Two regions of right rows or more, which the left ones meet once, often or never.
template <class Key>
void join_under(emulation::schedule s, join_options::ways way) {
  const u64 n = way == join_options::ways::by_regions ? 5'000 : small() ? 160 : sizeof(Key) > 8 ? 200 : 700;
  emulated space(s);
  std::vector<Key> left, right;
  for (u64 i = 0; i < n; ++i) right.push_back(contract::key_from<Key>(mix64(i % (n - 30))));
  for (u64 i = 0; i < n / 2; ++i) left.push_back(contract::key_from<Key>(mix64(3 * i)));
  expect_joined(space, left, right, way);
  if (way == join_options::ways::by_regions) return;
  for (u64 i = 0; i < n; i += 20) right[i] = left[0];
  expect_joined(space, left, right, way);
}

TEST(Join, ByRegions) {
  u64 seed = 0;
  for (const bool preempt : {true, false}) {
    join_under<u32>({.seed = ++seed, .preempt = preempt}, join_options::ways::by_regions);
    if (small()) continue;  // minutes under a sanitizer
    join_under<u64>({.seed = ++seed, .interleave = preempt}, join_options::ways::by_regions);
  }
  if (small()) join_under<u64>({.seed = ++seed, .interleave = true}, join_options::ways::by_regions);
}

TEST(Join, LeavesRegionsToTheTable) {
  const u64 n = 4'200;
  emulated space({.seed = 9, .preempt = true});
  std::vector<double> left(n), right(n);
  for (u64 i = 0; i < n; ++i) {
    left[i] = static_cast<double>(i % (n / 2));
    right[i] = i % 30 == 7 ? 5 : static_cast<double>(mix64(i) % n);
  }
  expect_joined(space, left, right, join_options::ways::by_regions);
  expect_joined(space, left, {}, join_options::ways::by_regions);
  expect_joined(space, {}, right, join_options::ways::by_regions);
  expect_joined(space, std::vector<double>(60, 4.), std::vector<double>(n, 4.),
                join_options::ways::by_regions);
}

// Right keys that come so often that regions are grouped; some left ones come often too, others have no match.
template <class Key>
void join_grouped(emulation::schedule s, u64 n, u64 copies) {
  SCOPED_TRACE(std::to_string(copies) + " of a key");
  emulated space(s);
  std::vector<Key> left, right;
  for (u64 i = 0; i < n; ++i) right.push_back(contract::key_from<Key>(mix64(i / copies)));
  for (u64 i = 0; i < n / 3; ++i)
    left.push_back(contract::key_from<Key>(mix64(i % 5 == 0 ? i % 100 / 50 : 3 * i / copies)));
  expect_joined(space, left, right, join_options::ways::by_regions);
}

TEST(Join, GroupsRegions) {
  u64 seed = 20;
  for (const u64 copies : {4, 7, 8, 31, 32, 33})
    join_grouped<u32>({.seed = ++seed, .preempt = copies % 2 == 0}, small() ? 1'000 : 3'000, copies);
  join_grouped<u64>({.seed = ++seed, .interleave = true}, small() ? 700 : 3'000, 8);
  join_grouped<double>({.seed = ++seed}, small() ? 700 : 3'000, 16);
}

// Regions that are to be grouped, and are left to the table: too many rows, keys whose hashes are neighbours, a key
// so frequent on both sides that its block would write for long.
TEST(Join, LeavesGroupsToTheTable) {
  using slot = remainder_slot<u32, u32>;
  const u64 n = 3'000, seed = 11;
  emulated space({.seed = 40, .preempt = true});
  const detail::hash_route<slot> route(2, seed);
  const auto joined = [&](const std::vector<u32>& left, const std::vector<u32>& right, bool all) {
    const buffer<u32, emulated> l(space, left), r(space, right);
    detail::region_join<u32, emulated> by_regions;
    EXPECT_TRUE(by_regions.count(space, l.span(), r.span(), join_kind::inner, seed, {}, 0, 8));
    detail::numbered_rows<u32, emulated> rest_left, rest_right;
    by_regions.rest(space, rest_left, rest_right);
    EXPECT_EQ(rest_right.keys.size() == 0, all);
    const u64 rest = join_size(space, rest_left.keys.span(), rest_right.keys.span());
    EXPECT_EQ(by_regions.size() + rest, contract::join_model<u32>(left, right).size(join_kind::inner));
  };
  std::vector<u32> right(n), left(n / 2);
  const auto fill = [&](std::vector<u32>& keys, const auto& hash) {
    for (u64 i = 0; i < keys.size(); ++i)
      keys[i] = slot::decode(route.unhash(static_cast<slot::key_bits>(hash(i))));
  };
  const auto spread = [](u64 i) { return mix64(i / 8); };
  fill(left, spread);
  fill(right, spread);
  joined(left, right, true);
  fill(right, [&](u64 i) { return spread(i) % (u64(1) << 31); });  // all of one region
  joined(left, right, false);
  fill(right, [&](u64 i) { return i % 8 == 0 ? i : spread(i); });  // 375 of one slot
  joined(left, right, false);
  fill(right, [&](u64 i) { return i % 16 == 0 ? 5 : spread(i); });
  joined(left, right, true);
  fill(left, [&](u64) { return 5; });
  joined(left, right, false);
}

TEST(Join, ByTheTable) {
  join_under<u32>({.seed = 4, .preempt = true}, join_options::ways::by_table);
  join_under<std::array<u64, 3>>({.seed = 5}, join_options::ways::automatic);
}

TEST(Join, WithAGraph) {
  emulated space({.seed = 6, .preempt = true});
  std::vector<float> left, right;
  for (u64 i = 0; i < 600; ++i) right.push_back(static_cast<float>(mix64(i) % 300));
  for (u64 i = 0; i < 300; ++i) left.push_back(static_cast<float>(mix64(i + 400) % 500));
  left.push_back(std::numeric_limits<float>::quiet_NaN());
  contract::expect_probed(space, left, right);
}

}  // namespace
}  // namespace tilehash::designs_test
