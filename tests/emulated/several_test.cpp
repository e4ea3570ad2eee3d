// SPDX-License-Identifier: Apache-2.0
// Routes of several ranks by a GPU's lanes: every item goes to its owner, in order.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <contract/random.hpp>
#include <emulated/emulated.hpp>
#include <tilehash/several/frequent.hpp>
#include <tilehash/several/route.hpp>

namespace tilehash::contract {
namespace {

// The keys below `frequents` are frequent, and are sent once with the value that is given here.
void expect_routed(emulated& space, u32 ranks, u32 n, u32 frequents, random_numbers& random) {
  const u32 all = n + frequents;
  std::vector<u32> keys(n), values(n), routed_keys(all), routed_values(all), positions(all);
  for (u32 i = 0; i < n; ++i) keys[i] = static_cast<u32>(random.below(n / 2 + 1)), values[i] = i;
  detail::frequent_items<u32, u32, emulated> often{buffer<u32, emulated>(space, frequents),
                                                   buffer<u32, emulated>(space, frequents)};
  for (u32 f = 0; f < frequents; ++f) often.keys.data()[f] = f, often.values.data()[f] = n + f;
  detail::routing<u32, u32, emulated> route(space, keys.data(), values.data(), n, ranks, often);
  const auto key_of = [&](u32 i) { return i < n ? keys[i] : i - n; };
  std::vector<std::vector<u32>> expected(ranks);
  for (u32 i = 0; i < all; ++i)
    if (i >= n || keys[i] >= frequents)
      expected[several::rank_of(several::shard_of(key_of(i)), ranks)].push_back(i);
  route.send(space, {routed_keys.data(), routed_values.data(), positions.data()});
  u32 at = 0;
  for (u32 r = 0; r < ranks; ++r) {
    ASSERT_EQ(route.counts()[r], expected[r].size());
    for (const u32 i : expected[r]) {
      ASSERT_EQ(routed_values[at], i) << "rank " << r << " of " << ranks;
      ASSERT_EQ(routed_keys[at], key_of(i));
      ASSERT_EQ(positions[i], at);
      ++at;
    }
  }
  std::vector<u32> out(n);
  space.for_each(n, detail::return_answers<u32>{routed_keys.data(), positions.data(), n, out.data()});
  EXPECT_EQ(out, keys);
}

TEST(SeveralRoutes, ItemsGoToTheirOwnersInOrder) {
  emulated space({.seed = 3});
  random_numbers random("routes");
  for (const u32 ranks : {1, 2, 3, 31, 32, 33, 4096})
    for (const u32 n : {0, 1, 31, 32, 33, 1000, 5003})
      for (const u32 frequents : {0, 3}) expect_routed(space, ranks, n, frequents, random);
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
