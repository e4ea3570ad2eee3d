// SPDX-License-Identifier: Apache-2.0
// Routes of several ranks by a GPU's lanes: every item goes to its owner, in order.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <contract/random.hpp>
#include <emulated/emulated.hpp>
#include <tilehash/several/repeats.hpp>
#include <tilehash/several/route.hpp>

namespace tilehash::contract {
namespace {

void expect_routed(emulated& space, u32 ranks, u64 n, random_numbers& random) {
  std::vector<u32> keys(n), values(n), routed_keys(n), routed_values(n), positions(n);
  for (u64 i = 0; i < n; ++i) keys[i] = static_cast<u32>(random.below(n)), values[i] = static_cast<u32>(i);
  detail::routing<u32, u32, emulated> route(space, keys.data(), values.data(), n, ranks);
  std::vector<std::vector<u32>> expected(ranks);
  for (u64 i = 0; i < n; ++i)
    expected[several::rank_of(several::shard_of(keys[i]), ranks)].push_back(static_cast<u32>(i));
  route.send(space, {routed_keys.data(), routed_values.data(), positions.data()});
  u64 at = 0;
  for (u32 r = 0; r < ranks; ++r) {
    ASSERT_EQ(route.counts()[r], expected[r].size());
    for (const u32 i : expected[r]) {
      ASSERT_EQ(routed_values[at], i) << "rank " << r << " of " << ranks;
      ASSERT_EQ(routed_keys[at], keys[i]);
      ASSERT_EQ(positions[i], at);
      ++at;
    }
  }
}

TEST(SeveralRoutes, ItemsGoToTheirOwnersInOrder) {
  emulated space({.seed = 3});
  random_numbers random("routes");
  for (const u32 ranks : {1, 2, 3, 31, 32, 33, 4096})
    for (const u64 n : {0, 1, 31, 32, 33, 1000, 5003}) expect_routed(space, ranks, n, random);
}
TEST(SeveralRoutes, CountsAbsentKeys) {
  emulated space({.seed = 3});
  random_numbers random("absent");
  for (const u64 n : {0, 1, 31, 33, 1000}) {
    std::vector<u8> flags(n);
    for (u8& f : flags) f = random.one_in(3) ? 0 : 1;
    EXPECT_EQ(detail::count_absent(space, flags.data(), n), u64(std::count(flags.begin(), flags.end(), 0)));
  }
}

}  // namespace
}  // namespace tilehash::contract
