// SPDX-License-Identifier: Apache-2.0
// Baselines as published lose as many pairs as their papers say, and report each loss.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include <contract/published_keys.hpp>
#include <contract/random.hpp>
#include <tilehash/papers/published/cuckoo.hpp>
#include <tilehash/papers/published/dense_hash_map.hpp>
#include <tilehash/papers/published/dyhash.hpp>
#include <tilehash/papers/published/linear_probing.hpp>
#include <tilehash/papers/published/mega_kv.hpp>
#include <tilehash/papers/published/quadratic_probing.hpp>
#include <tilehash/papers/published/two_level.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash {
namespace {

using contract::run_seed;
namespace published = papers::published;

std::vector<u32> different_keys(u64 n, u64 first = 0) {
  std::vector<u32> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(first + i));
  return keys;
}

template <class Design>
struct filled {
  cpu space;
  std::vector<u32> keys;
  published::table<Design, cpu> table;
  published::insert_counts counts;

  filled(std::vector<u32> its, double load, u64 seed = 1, int threads = 1)
      : space(threads), keys(std::move(its)), table(space, keys.size(), load, seed) {
    counts = table.insert(space, keys, keys, 4096);
  }
  double lost_percent() const {
    return 100.0 * static_cast<double>(counts.lost) / static_cast<double>(keys.size());
  }
  u64 found() {
    std::vector<u32> out(keys.size());
    buffer<bool, cpu> hit(space, keys.size());
    table.find_async(space, keys, out, hit.span());
    u64 n = 0;
    for (u64 i = 0; i < keys.size(); ++i) {
      if (!hit.data()[i]) continue;
      ++n;
      EXPECT_EQ(out[i], keys[i]);
    }
    return n;
  }
  double mean_steps() const {
    u64 sum = 0;
    for (u64 i = 0; i < counts.steps.size(); ++i) sum += i * counts.steps[i];
    return static_cast<double>(sum) / static_cast<double>(keys.size());
  }
};

// Threads race for slots, and what is lost is counted all the same.
template <class Design>
void expect_losses_counted(double load) {
  const u64 seed = run_seed();
  filled<Design> t(different_keys(20'000, seed % (1U << 30)), load, seed, 4);
  EXPECT_GT(t.counts.lost, 0U);
  EXPECT_EQ(t.found() + t.counts.lost + t.counts.reserved, t.keys.size());
}
TEST(published, lost_pairs_are_counted_under_races) {
  expect_losses_counted<published::mega_kv<>>(0.9);
  expect_losses_counted<published::linear_probing<64>>(0.95);
  expect_losses_counted<published::cuckoo<2>>(0.6);
}

TEST(published, the_reserved_key_is_counted) {
  filled<published::mega_kv<>> t({5, ~0U, 7}, 0.5);
  EXPECT_EQ(t.counts.reserved, 1U);
  EXPECT_EQ(t.found(), 2U);
}

// Li et al., Table 7 (RAND). Neither the slots of a bucket nor the evictions are printed.
TEST(published, mega_kv_drops_as_many_as_table_7) {
  constexpr struct {
    double load, paper;
  } table_7[] = {{0.75, 0.42}, {0.8, 0.79}, {0.85, 1.4}, {0.9, 2.4}, {0.95, 3.9}};
  for (const auto& cell : table_7) {
    filled<published::mega_kv<>> t(different_keys(50'000), cell.load);
    EXPECT_NEAR(t.lost_percent(), cell.paper, 0.25 * cell.paper) << cell.load;
  }
}

TEST(published, mega_kv_overwrites_a_known_key) {
  filled<published::mega_kv<>> t({1, 2, 1, 1}, 0.5);
  EXPECT_EQ(t.counts.known, 2U);
  EXPECT_EQ(t.counts.lost, 0U);
}

// No limit gives all cells of Table 7: the default meets that of load 0.9 (at full size), 64 probes that of 0.95.
TEST(published, linear_probing_fails_at_its_limit) {
  filled<published::linear_probing<64>> t(different_keys(50'000), 0.95);
  EXPECT_NEAR(t.lost_percent(), 2.0, 0.3);
  EXPECT_EQ(filled<published::linear_probing<>>(different_keys(50'000), 0.75).counts.lost, 0U);
  EXPECT_GT(filled<published::linear_probing<>>(different_keys(50'000), 0.95).counts.lost, 0U);
}

// Section 6.1: four functions, 1.25 N, and chains of at most 7 lg N.
TEST(published, cuckoo_builds_at_1_25_n) {
  for (u64 seed = 1; seed <= 20; ++seed) {
    filled<published::cuckoo<>> t(different_keys(10'000, 10'000 * seed), 0.8, seed);
    EXPECT_EQ(t.counts.lost, 0U);
    EXPECT_FALSE(t.table.view().uses_stash());
    EXPECT_EQ(t.table.view().max_chain(), 98U);
    EXPECT_EQ(t.found(), t.keys.size());
    EXPECT_NEAR(t.mean_steps(), 1.06, 0.1);
  }
}
// The least sizes of the thesis, with slack for a small table.
template <u32 Functions>
void expect_builds(double size) {
  filled<published::cuckoo<Functions>> t(different_keys(10'000), 1 / size);
  EXPECT_EQ(t.counts.lost, 0U) << Functions;
  EXPECT_EQ(t.found(), t.keys.size());
}
TEST(published, cuckoo_builds_with_two_to_five_functions) {
  expect_builds<2>(2.2);
  expect_builds<3>(1.15);
  expect_builds<4>(1.06);
  expect_builds<5>(1.04);
}

// Two functions at 1.8 N need the stash; the old one of 16 slots fills up.
TEST(published, cuckoo_uses_its_stash) {
  filled<published::cuckoo<2, published::probed_stash<>>> probed(different_keys(10'000), 1 / 1.8);
  filled<published::cuckoo<2>> one_place(different_keys(10'000), 1 / 1.8);
  filled<published::cuckoo<2, published::no_stash>> none(different_keys(10'000), 1 / 1.8);
  const auto in_stash = [](const auto& t, u32 slots) {
    const u64* stash = t.table.view().stash();
    return slots - static_cast<u64>(std::count(stash, stash + slots, published::pair_slot::empty_word));
  };
  EXPECT_EQ(in_stash(probed, 16), 16U);
  EXPECT_EQ(probed.found() + probed.counts.lost, probed.keys.size());
  EXPECT_GT(in_stash(one_place, 101), 16U);
  EXPECT_EQ(one_place.found() + one_place.counts.lost, one_place.keys.size());
  EXPECT_GT(one_place.counts.lost, 0U);
  EXPECT_EQ(none.counts.lost, probed.counts.lost + 16);
}
// A key whose first two functions give one slot never leaves it for another: two such keys of one slot evict each
// other until the chain is too long. The one in the stash has free slots by its other functions.
TEST(published, cuckoo_finds_a_stashed_key_that_has_free_slots) {
  using table = published::cuckoo<4>;
  constexpr u64 slots = 17, seed = 1;
  const auto empty = [] { return std::vector<table::word>(table::words_for(slots), table::empty_word); };
  std::vector<std::vector<u32>> stuck(slots);  // by slot, keys that two inserts leave there and in the stash
  for (u32 key = 1; key < 2000; ++key) {
    auto memory = empty();
    const table t(memory.data(), slots, seed, 0.5);
    t.insert(key, 0);
    const auto first = static_cast<u64>(
        std::find_if(memory.begin(), memory.end(), [](table::word w) { return w != table::empty_word; }) -
        memory.begin());
    t.insert(key, 0);
    if (t.uses_stash()) stuck[first].push_back(key);
  }
  u64 pairs = 0;
  for (const auto& keys : stuck) {
    for (u64 i = 0; i + 1 < keys.size(); i += 2, ++pairs) {
      auto memory = empty();
      const table t(memory.data(), slots, seed, 0.5);
      for (const u32 key : {keys[i], keys[i + 1]}) EXPECT_FALSE(t.insert(key, key).lost);
      ASSERT_TRUE(t.uses_stash());
      for (const u32 key : {keys[i], keys[i + 1]})
        EXPECT_EQ(t.find(key), published::pair_slot::pack(key, key));
    }
  }
  EXPECT_GE(pairs, 10U);
}

// Li et al., Table 8: keys of COM come up to 14 times, and CUDPP fails at every load.
TEST(published, cuckoo_fails_where_a_key_comes_too_often) {
  const auto with_copies = [](u32 copies) {
    std::vector<u32> keys = different_keys(1000);
    for (u32 i = 1; i < copies; ++i) keys.push_back(keys[0]);
    return filled<published::cuckoo<4, published::no_stash>>(keys, 0.5).counts.lost;
  };
  EXPECT_EQ(with_copies(4), 0U);
  EXPECT_EQ(with_copies(5), 1U);
  EXPECT_EQ(with_copies(9), 5U);
}

// Li et al.: at 0.95 DyHash stores all of RAND; one insert holds one lock.
TEST(published, dyhash_stores_all) {
  const u64 seed = run_seed();
  filled<published::dyhash<>> voted(different_keys(20'000, seed % (1U << 30)), 0.95, seed, 4);
  EXPECT_EQ(voted.counts.lost + voted.counts.known, 0U);
  EXPECT_EQ(voted.found(), voted.keys.size());
  EXPECT_LT(voted.mean_steps(), 0.2);
  filled<published::dyhash<published::lock_by::spin>> spun(different_keys(20'000, seed % (1U << 30)), 0.95,
                                                           seed, 4);
  EXPECT_EQ(spun.found(), spun.keys.size());
}

// A table of more pairs than slots: each pair that finds none is counted.
TEST(published, dyhash_counts_lost_pairs) {
  cpu space(1);
  const auto keys = different_keys(5'000);
  published::table<published::dyhash<>, cpu> t(space, 4'000, 0.999, 1);
  const auto counts = t.insert(space, keys, keys);
  EXPECT_GE(counts.lost + t.capacity(), keys.size());
  EXPECT_LE(counts.lost, keys.size() - 3'900);
}

// sparsehash keeps its table at most half full, in powers of two.
TEST(published, dense_hash_map_is_at_most_half_full) {
  for (const double load : {0.3, 0.9}) {
    filled<published::dense_hash_map> t(different_keys(20'000), load, 1, 4);
    EXPECT_EQ(t.counts.lost, 0U);
    EXPECT_EQ(t.found(), t.keys.size());
    EXPECT_EQ(t.table.capacity(), load < 0.5 ? 131'072U : 65'536U);
  }
}

// Section 3.3.1: both layouts store the same pairs, and a later value replaces an earlier one.
TEST(published, quadratic_probing_in_one_slot_and_in_two_arrays) {
  using published::pairs_in;
  const u64 seed = run_seed();
  const auto keys = different_keys(20'000, seed % (1U << 30));
  filled<published::quadratic_probing<pairs_in::one_slot>> one(keys, 0.9, seed);
  filled<published::quadratic_probing<pairs_in::two_arrays>> two(keys, 0.9, seed);
  EXPECT_EQ(one.counts.lost + two.counts.lost, 0U);
  EXPECT_EQ(one.found(), keys.size());
  EXPECT_EQ(two.found(), keys.size());
  EXPECT_EQ(one.counts.steps, two.counts.steps);
  filled<published::quadratic_probing<pairs_in::two_arrays>> copies({1, 2, 1, ~0U}, 0.5);
  EXPECT_EQ(copies.counts.known, 1U);
  EXPECT_EQ(copies.counts.reserved, 1U);
}

// Section 5.2.2: 5.5 rounds on average and 25 at most; 1.42 N slots.
template <published::tables Tables>
published::two_level_counts build_two_level(u64 n, double least_size, double most_size) {
  cpu space(2);
  const auto keys = different_keys(n);
  published::two_level<cpu, Tables> t(space, n);
  const auto counts = t.build(space, keys, keys, 1);
  EXPECT_TRUE(counts.complete);
  const double size = static_cast<double>(t.bytes()) / 8 / static_cast<double>(n);
  EXPECT_GT(size, least_size);
  EXPECT_LT(size, most_size);
  std::vector<u32> out(n);
  buffer<bool, cpu> hit(space, n);
  t.find_async(space, keys, out, hit.span());
  for (u64 i = 0; i < n; ++i) {
    if (!hit.data()[i] || out[i] != keys[i]) {
      ADD_FAILURE() << "key " << i;
      break;
    }
  }
  t.find_async(space, different_keys(n, n), out, hit.span());
  EXPECT_EQ(std::count(hit.data(), hit.data() + n, true), 0);
  return counts;
}
TEST(published, two_level_takes_5_5_rounds) {
  const auto counts = build_two_level<published::tables::equal>(200'000, 1.4, 1.43);
  EXPECT_EQ(counts.partitions, 1U);
  EXPECT_NEAR(counts.mean_rounds(), 5.5, 0.2);
  EXPECT_LE(counts.longest(), 25U);
}
TEST(published, two_level_of_exact_size_is_smaller) {
  const auto counts = build_two_level<published::tables::exact>(50'000, 1.1, 1.15);
  EXPECT_GT(counts.mean_rounds(), 10);
}
TEST(published, two_level_takes_another_function) {
  cpu space(1);
  std::vector<u32> keys(1000);
  for (u32 i = 0; i < keys.size(); ++i) keys[i] = 3 * i;  // of three buckets, the first attempt fills one
  published::two_level<cpu> t(space, keys.size());
  const auto counts = t.build(space, keys, keys, 1);
  EXPECT_TRUE(counts.complete);
  EXPECT_GT(counts.partitions, 1U);
}

// Sections 5.3 and 6.3.
TEST(published, indexes_of_repeated_keys_are_two_way) {
  cpu space(4);
  contract::expect_two_way_indexes(space, 6'000);
}
TEST(published, multi_value_tables_keep_all_values) {
  cpu space(4);
  contract::expect_multi_value_tables(space, 1'000);
}
TEST(published, sets_of_repeated_keys_have_each_once) {
  cpu space(4);
  contract::expect_sets(space, 6'000);
}
// Phase 1 sees pairs, not different keys, so too many of those in a bucket show in phase 2.
TEST(published, two_level_of_too_many_different_keys_takes_another_function) {
  cpu space(1);
  std::vector<u32> keys(1000);
  for (u32 i = 0; i < keys.size(); ++i) keys[i] = 3 * i;  // as above
  published::two_level_compacting<cpu> t(space, keys.size());
  const auto counts = t.build(space, keys, 1);
  EXPECT_TRUE(counts.complete);
  EXPECT_GT(counts.partitions, 1U);
  EXPECT_GT(counts.restarts, 15U);
  EXPECT_EQ(t.size(), 1000U);
}

}  // namespace
}  // namespace tilehash
