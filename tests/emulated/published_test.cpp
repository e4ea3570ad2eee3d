// SPDX-License-Identifier: Apache-2.0
// Baselines as published that work by the warp or by the block, on the GPU's schedule.
#include <gtest/gtest.h>

#include <vector>

#include <contract/published_keys.hpp>
#include <contract/random.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/papers/published/dyhash.hpp>
#include <tilehash/papers/published/two_level.hpp>
#include <tilehash/space/buffer.hpp>

#include "emulated.hpp"

namespace tilehash {
namespace {

namespace published = papers::published;

// Keys that differ, then as many that are absent.
std::vector<u32> mixed_keys(u64 n, u64 first) {
  std::vector<u32> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(first + i));
  return keys;
}

template <class Table>
u64 count_found(emulated& space, const Table& t, const std::vector<u32>& keys) {
  std::vector<u32> out(keys.size());
  buffer<bool, emulated> found(space, keys.size());
  t.find_async(space, keys, out, found.span());
  u64 n = 0;
  for (u64 i = 0; i < keys.size(); ++i) {
    if (!found.data()[i]) continue;
    ++n;
    EXPECT_EQ(out[i], keys[i]);
  }
  return n;
}

// A few buckets that all warps want.
template <published::lock_by How>
void expect_all_stored(double load) {
  const u64 seed = contract::run_seed(), first = seed % (1U << 30);
  emulated space({.seed = seed, .preempt = true});
  const auto keys = mixed_keys(600, first), others = mixed_keys(200, first + 600);
  published::table<published::dyhash<How>, emulated> t(space, keys.size(), load, seed);
  const auto counts = t.insert(space, keys, keys, 300);
  EXPECT_EQ(counts.lost + counts.known, 0U);
  EXPECT_EQ(count_found(space, t, keys), keys.size());
  EXPECT_EQ(count_found(space, t, others), 0U);
}
TEST(EmulatedPublished, DyhashTakesLocksByVote) { expect_all_stored<published::lock_by::vote>(0.9); }
TEST(EmulatedPublished, DyhashTakesLocksBySpinning) { expect_all_stored<published::lock_by::spin>(0.9); }

// Two inserts of a key meet in its bucket, or it is stored twice; none is lost.
TEST(EmulatedPublished, DyhashCountsCopies) {
  emulated space({.seed = contract::run_seed(), .preempt = true});
  std::vector<u32> keys(320);
  for (u32 i = 0; i < keys.size(); ++i) keys[i] = mix32(i % 10);
  published::table<published::dyhash<>, emulated> t(space, keys.size(), 0.5, 1);
  const auto counts = t.insert(space, keys, keys);
  EXPECT_EQ(counts.lost, 0U);
  EXPECT_EQ(counts.known, 310U);  // no bucket is full, so a key stays in its first one
  EXPECT_EQ(count_found(space, t, keys), keys.size());
}

template <published::tables Tables>
void expect_built(u64 n) {
  const u64 seed = contract::run_seed(), first = seed % (1U << 30);
  emulated space({.seed = seed, .preempt = true});
  const auto keys = mixed_keys(n, first), others = mixed_keys(100, first + n);
  published::two_level<emulated, Tables> t(space, n);
  const auto counts = t.build(space, keys, keys, seed);
  EXPECT_TRUE(counts.complete);
  EXPECT_EQ(count_found(space, t, keys), n);
  EXPECT_EQ(count_found(space, t, others), 0U);
}
TEST(EmulatedPublished, TwoLevelBuildsInRounds) { expect_built<published::tables::equal>(900); }
TEST(EmulatedPublished, TwoLevelBuildsExactSizes) { expect_built<published::tables::exact>(900); }

// A bucket with more pairs than its block has threads.
TEST(EmulatedPublished, IndexesAreTwoWay) {
  emulated space({.seed = contract::run_seed(), .preempt = true});
  contract::expect_two_way_indexes(space, 1200);
}
TEST(EmulatedPublished, MultiValueTablesKeepAllValues) {
  emulated space({.seed = contract::run_seed(), .preempt = true});
  contract::expect_multi_value_tables(space, 300);
}
TEST(EmulatedPublished, SetsHaveEachKeyOnce) {
  emulated space({.seed = contract::run_seed(), .preempt = true});
  contract::expect_sets(space, 1200);
}

}  // namespace
}  // namespace tilehash
