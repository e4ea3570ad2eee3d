// SPDX-License-Identifier: Apache-2.0
// Threads that insert the same keys into a Robin Hood table at once, whatever they have in hand, put each in
// once; and those that erase them at once count each once. They work on the design's view as lone tiles, and
// nothing else orders them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <unordered_map>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/papers/robin_hood_random.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
namespace {

using contract::run_seed;
using contract::scaled;

using lines = robin_hood<u32, u32>;
using paper = robin_hood<u32, u32, 1>;  // one slot a bucket

// How many keys of a home are on their way, and that some have been since, is known however many there were.
TEST(robin_hood_race, counters_of_keys_on_their_way_do_not_come_round) {
  constexpr u32 home = 5, many = 70'000;
  std::vector<u64> memory(detail::robin_hood_counters::words(800, 100) / 2 + 1);
  const detail::robin_hood_counters counters(reinterpret_cast<u32*>(memory.data()), 800, 100);
  const auto before = counters.relocations(home);
  for (u32 i = 1; i <= many; ++i) {
    counters.begin_move(home);
    counters.end_move(home);
    ASSERT_NE(counters.relocations(home), before) << i;
  }
  for (u32 i = 1; i <= many; ++i) {
    counters.begin_move(home);
    ASSERT_EQ(counters.relocations(home) & detail::robin_hood_counters::in_flight, i);
  }
}

// Where keys are put back, all counters of keys on their way end at zero and all homes are due; nothing
// behind them changes.
TEST(robin_hood_race, no_key_is_on_its_way_after_all_were_put_back) {
  for (const u32 buckets : {16U, 31U, 32U, 33U, 64U, 100U, 1000U}) {
    const u64 words = detail::robin_hood_counters::words(8 * buckets, buckets);
    std::vector<u64> memory(words / 2 + 1);
    const detail::robin_hood_counters counters(reinterpret_cast<u32*>(memory.data()), 8 * buckets, buckets);
    ASSERT_TRUE(counters.acquire_slot(0));
    for (u32 home = 0; home < buckets; ++home) counters.begin_move(home);
    for (u64 i = 0; i < detail::robin_hood_counters::bit_words(buckets); ++i) counters.none_evicted(i);
    for (u32 home = 0; home < buckets; ++home) {
      EXPECT_EQ(counters.relocations(home), 0U) << home << " of " << buckets;
      EXPECT_NE(counters.due()[home / 32] & 1U << home % 32, 0U) << home << " of " << buckets;
    }
    u32 keys = 0;
    for (u64 i = words - detail::sharded_count::shard_words; i < words; ++i)
      keys += reinterpret_cast<u32*>(memory.data())[i];
    EXPECT_EQ(keys, 1U) << "the last counter, of " << buckets;
  }
}

// Each of four threads inserts all keys, with its own value, into a table in which most must move.
template <class Design>
void expect_one_winner_each(u64 n, double load, u64 seed) {
  using slot_type = typename Design::slot_type;
  using value_bits = typename slot_type::value_bits;
  constexpr u32 threads = 4;
  cpu space(1);
  table<Design, cpu> t(space, n, {.load_factor = load, .seed = seed});
  const Design d = t.view().design;
  const u64 keys = std::min(d.capacity(), static_cast<u64>(load * static_cast<double>(d.capacity())));
  std::vector<std::vector<insert_state>> became(threads, std::vector<insert_state>(keys));
  const auto key_of = [&](u64 i) { return slot_type::encode(mix32(static_cast<u32>(seed + i))); };
  std::atomic<u32> missing = threads;
  std::atomic<u64> unplaced = 0;
  std::vector<std::thread> all;
  for (u32 self = 0; self < threads; ++self) {
    all.emplace_back([&, self] {
      --missing;
      while (missing != 0) std::this_thread::yield();
      for (u64 turn = 0; turn < keys; ++turn) {
        const u64 i = self % 2 == 0 ? turn : keys - 1 - turn;
        auto r = d.insert(solo_tile{}, key_of(i), value_bits(self + 1), true);
        while (r.what == insert_state::again) {
          std::this_thread::yield();
          r = d.insert(solo_tile{}, key_of(i), value_bits(self + 1), true);
        }
        unplaced += r.what == insert_state::replaced;
        became[self][i] = r.what;
      }
    });
  }
  for (auto& thread : all) thread.join();
  ASSERT_EQ(unplaced, 0U);
  std::unordered_map<u32, u32> copies;
  for (u64 s = 0; s < d.capacity(); ++s) {
    const auto w = d.slots()[s];
    if (!slot_type::is_free(w)) ++copies[slot_type::decode(d.key_at(s, w))];
  }
  for (u64 i = 0; i < keys; ++i) {
    u32 winners = 0, winner = 0;
    for (u32 self = 0; self < threads; ++self)
      if (became[self][i] == insert_state::inserted) ++winners, winner = self;
    const u32 key = slot_type::decode(key_of(i));
    ASSERT_EQ(winners, 1U) << "key " << i;
    ASSERT_EQ(copies[key], 1U) << "key " << i;
    const auto hit = t.view().find(key);
    ASSERT_TRUE(hit.found());
    ASSERT_EQ(hit.value(), winner + 1);
  }
  for (u64 home = 0; home < d.capacity() / Design::bucket_slots; ++home)
    ASSERT_EQ(d.counters().relocations(static_cast<u32>(home)) & detail::robin_hood_counters::in_flight, 0U);

  // And all erase all.
  std::vector<std::atomic<u32>> erased(keys);
  all.clear();
  for (u32 self = 0; self < threads; ++self) {
    all.emplace_back([&, self] {
      for (u64 turn = 0; turn < keys; ++turn) {
        const u64 i = self % 2 == 0 ? turn : keys - 1 - turn;
        if (i % 3 != 0)
          erased[i] += detail::erase_one(d, t.view().sentinels, detail::query<slot_type>(key_of(i)));
      }
    });
  }
  for (auto& thread : all) thread.join();
  all.clear();
  for (u32 self = 0; self < threads; ++self) {
    all.emplace_back([&, self] {
      for (u64 b = self; b < d.capacity() / Design::bucket_slots; b += threads)
        if ((d.due()[b / 32] >> b % 32 & 1) != 0) d.tidy(solo_tile{}, static_cast<u32>(b), true);
    });
  }
  for (auto& thread : all) thread.join();
  for (u64 i = 0; i < keys; ++i) {
    ASSERT_EQ(erased[i], i % 3 != 0 ? 1U : 0U);
    ASSERT_EQ(t.view().find(slot_type::decode(key_of(i))).found(), i % 3 == 0);
  }
}
TEST(robin_hood_race, inserts_and_erases_of_the_same_keys) {
  SCOPED_TRACE(run_seed());
  for (u64 round = 0; round < scaled(40, 10); ++round) {
    expect_one_winner_each<paper>(256, 0.98, run_seed() + round);
    expect_one_winner_each<lines>(1024, 0.99, run_seed() + round);
    expect_one_winner_each<papers::robin_hood_random<u32, u32, 2>>(256, 0.9, run_seed() + round);
  }
  expect_one_winner_each<paper>(scaled(20'000, 2'000), 0.95, run_seed());
  expect_one_winner_each<lines>(scaled(20'000, 2'000), 0.99, run_seed());
}

}  // namespace
}  // namespace tilehash
