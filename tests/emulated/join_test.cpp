// Joins under the GPU's schedule: by regions, some of which are left to the table, and by the table.
#include <array>
#include <limits>

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
