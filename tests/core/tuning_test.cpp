// SPDX-License-Identifier: Apache-2.0
// The class of tuning numbers of a machine, and limits that every class must keep.
#include <tilehash/space/tuning.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <type_traits>

#include <tilehash/space/cpu.hpp>

namespace tilehash::detail::tuning {
namespace {

struct space_of_lanes {
  static constexpr bool has_lanes = true;
  static u64 large_blocks_at_once() { return 132; }
};

TEST(tuning, of_a_gpu_goes_by_its_compute_capability) {
  EXPECT_TRUE((std::is_same_v<gpu_of<750>, sm_75>));
  EXPECT_TRUE((std::is_same_v<gpu_of<860>, sm_75>));
  EXPECT_TRUE((std::is_same_v<gpu_of<890>, sm_75>));
  EXPECT_TRUE((std::is_same_v<gpu_of<900>, sm_90>));
  EXPECT_TRUE((std::is_same_v<gpu_of<1000>, sm_100>));
  EXPECT_TRUE((std::is_same_v<gpu_of<1200>, sm_100>));
}

TEST(tuning, without_a_gpu_is_that_of_the_one_measured_on) {
  EXPECT_EQ(oldest_target, 0U);
  EXPECT_TRUE((std::is_same_v<gpu, sm_90>));
  EXPECT_TRUE((std::is_same_v<gpu_here, sm_90>));
  EXPECT_TRUE((std::is_same_v<here, tuning::cpu>));
}

TEST(tuning, of_a_space_goes_by_how_it_schedules_work) {
  EXPECT_TRUE((std::is_same_v<of<tilehash::cpu>, tuning::cpu>));
  EXPECT_TRUE((std::is_same_v<of<space_of_lanes>, gpu>));
  EXPECT_TRUE((std::is_same_v<of_block<1>, tuning::cpu>));
  EXPECT_TRUE((std::is_same_v<of_block<32>, gpu>));
}

TEST(tuning, knows_how_many_threads_a_multiprocessor_holds) {
  EXPECT_EQ(resident_threads(750), 1024U);
  EXPECT_EQ(resident_threads(800), 2048U);
  for (const u32 arch : {860, 870, 890, 1200, 1210}) EXPECT_EQ(resident_threads(arch), 1536U) << arch;
  for (const u32 arch : {900, 1000, 1030}) EXPECT_EQ(resident_threads(arch), 2048U) << arch;
  EXPECT_EQ(resident_threads(0), 2048U);
}

// ---- limits of the code that reads the numbers ----
template <class Machine>
class each_gpu : public testing::Test {};
using gpus = testing::Types<sm_75, sm_90, sm_100>;
TYPED_TEST_SUITE(each_gpu, gpus);

TYPED_TEST(each_gpu, has_blocks_of_whole_warps) {
  const auto whole = [](u32 threads) { return threads != 0 && threads % 32 == 0 && threads <= 1024; };
  EXPECT_TRUE(whole(TypeParam::lanes_block));
  EXPECT_TRUE(whole(TypeParam::rank_block));
  EXPECT_TRUE(whole(TypeParam::merge_block(8)) && whole(TypeParam::merge_block(16)));
  // Sums over a block's threads take a power of two.
  const auto sums = [&](u32 threads) { return whole(threads) && std::has_single_bit(threads); };
  EXPECT_TRUE(sums(TypeParam::large_block));
  EXPECT_TRUE(sums(TypeParam::displace_block));
  EXPECT_TRUE(sums(TypeParam::tidy_block));
  EXPECT_TRUE(sums(TypeParam::segments_block));
  EXPECT_TRUE(sums(TypeParam::runs_block));
  EXPECT_TRUE(sums(TypeParam::sort_block));
}

TYPED_TEST(each_gpu, asks_for_at_least_one_block) {
  for (const u64 bytes : {4, 8, 16}) {
    EXPECT_GE(TypeParam::lookup_occupancy(bytes), 1U);
    EXPECT_GE(TypeParam::change_occupancy(bytes), 1U);
    EXPECT_GE(TypeParam::displace_occupancy(bytes), 1U);
  }
  EXPECT_GE(TypeParam::merge_occupancy, 1U);
  EXPECT_GE(TypeParam::sort_occupancy, 1U);
  EXPECT_GE(TypeParam::tidy_blocks(space_of_lanes()), 1U);
}

template <class Machine>
class each_machine : public testing::Test {};
using machines = testing::Types<tuning::cpu, sm_75, sm_90, sm_100>;
TYPED_TEST_SUITE(each_machine, machines);

TYPED_TEST(each_machine, has_work_for_each_block) {
  EXPECT_GE(TypeParam::displace_words, 1U);
  EXPECT_LE(u64(TypeParam::displace_words) * 32, u64(1) << 16);  // a block's list has numbers of 16 bits
  EXPECT_GE(TypeParam::displace_blocks(space_of_lanes()), 1U);
  EXPECT_EQ(TypeParam::segments_share % TypeParam::segments_block, 0U);
  EXPECT_EQ(TypeParam::binned_share % TypeParam::large_block, 0U);
  EXPECT_EQ(TypeParam::ordered_items % (TypeParam::ordered_at_once * TypeParam::large_block), 0U);
}

TYPED_TEST(each_machine, has_shares_that_16_bits_number) {
  const u64 most = u64(1) << 16;
  for (const u64 bytes : {4, 8, 16}) {
    EXPECT_LE(u64(TypeParam::partition_items(bytes)) * TypeParam::large_block, most);
    EXPECT_LT(TypeParam::grouped_items(bytes), most);
    EXPECT_EQ(TypeParam::rows_items % (TypeParam::rows_at_once(bytes) * TypeParam::large_block), 0U);
  }
  for (const bool narrow : {true, false}) {
    const u64 share = u64(TypeParam::combined_items(narrow)) * TypeParam::large_block;
    EXPECT_LE(share, most);
    EXPECT_GE(share, TypeParam::combined_parts);  // a part's counter is in the memory of an item's cell
  }
}

TYPED_TEST(each_machine, has_requests_in_flight) {
  EXPECT_GE(TypeParam::walked_at_once, 1U);
  EXPECT_GE(TypeParam::searched_at_once, 1U);
  EXPECT_GE(TypeParam::fetched_at_once, 1U);
  EXPECT_EQ(32 % TypeParam::contested_at_once, 0U);  // a thread has a bit for each of 32 keys
  EXPECT_TRUE(std::has_single_bit(TypeParam::written_at_once));
}

TYPED_TEST(each_machine, has_samples_that_fill_at_most_half_of_their_set) {
  EXPECT_LE(2 * TypeParam::sampled_keys, u32(1) << TypeParam::sample_slots_log2);
}

TYPED_TEST(each_machine, fills_fuller_tables_from_fewer_items_on) {
  for (const u64 bytes : {4, 8, 16}) {
    for (double full = 0; full < 1; full += 0.01)
      EXPECT_LE(TypeParam::fill_share(full, bytes), TypeParam::fill_share(full + 0.01, bytes)) << full;
  }
}

TEST(tuning, of_a_cpu_has_blocks_of_one_thread) {
  using machine = tuning::cpu;
  for (const u32 threads : {machine::large_block, machine::displace_block, machine::segments_block,
                            machine::runs_block, machine::rank_block, machine::sort_block})
    EXPECT_EQ(threads, 1U);
}

TEST(tuning, of_tables_counts_whole_words) {
  EXPECT_EQ(table::window_step % 32, 0U);
  EXPECT_EQ(table::few_items % table::window_step, 0U);
  EXPECT_TRUE(std::has_single_bit(table::count_shards));
}

}  // namespace
}  // namespace tilehash::detail::tuning
