// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include <contract/faulty.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct region_space : cpu {
  region_space() : cpu(2) {}
  explicit region_space(faulty_host& memory) : cpu(2, memory) {}
};
}  // namespace tilehash::contract

#include <contract/regions.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, regions, region_designs);

// A space without the memory for so many-th work of blocks.
struct exhausted_space : region_space {
  u32 works = ~u32(0);  // before memory is out
  template <class Body, class... Scratch>
  void for_each_block(u64 blocks, u32 threads, u64 scratch_bytes, Body body, Scratch&... scratch) {
    if (works-- == 0) throw out_of_memory("a test refuses scratch memory");
    region_space::for_each_block(blocks, threads, scratch_bytes, body, scratch...);
  }
};

// Memory ends while the items are in the table's slots, on their way to their regions: all slots are free
// again, and the items are placed one by one.
TEST(regions, an_insert_without_memory_for_them_places_items_one_by_one) {
  exhausted_space space;
  const auto keys = region_keys<u32>(60'000, 0);
  table<tiled<u32, u32>, exhausted_space> t(space, keys.size(), {.seed = run_seed()});
  for (const u32 works : {0, 1}) {
    space.works = works;
    const auto report = t.insert(space, keys, keys);
    EXPECT_GT(space.works, 1U) << "no memory was refused";
    EXPECT_EQ(report.restarts, 0U) << "the slots were not free";
    EXPECT_EQ(report.inserted, keys.size());
    EXPECT_EQ(t.size(), keys.size());
    std::vector<u32> found(keys.size()), rest(keys.size());
    t.find(space, keys, found);
    EXPECT_EQ(found, keys);
    EXPECT_EQ(t.retrieve_all(space, found, rest), t.size());
    t.clear(space);
  }
}

// As many keys as slots, and some of them twice: regions leave items over, of which some are refused. Then the
// call counts the refused items by a lookup of all, whose bits need memory. Each allocation is refused in turn.
TEST(regions, refused_items_are_counted_without_memory_for_their_bits) {
  ground<region_space, faulty_host> ground;
  const u64 seed = run_seed();
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(seed));
  using table_type = table<tiled<u32, u32>, region_space>;
  bool was_refused = true;
  for (u64 allocations = 0; was_refused; ++allocations) {
    SCOPED_TRACE(std::to_string(allocations) + " allocations");
    ASSERT_LT(allocations, 50U) << "the call never had memory enough";
    table_type t(ground.space, 40'000, {.load_factor = 0.95, .seed = seed, .grow = false});
    auto keys = region_keys<u32>(t.capacity(), 0);
    keys.insert(keys.end(), keys.begin(), keys.begin() + 500);
    const u64 n = keys.size();
    ASSERT_GT(n, 2 * detail::call_memory::few_items);
    insert_report report;
    ground.memory.refuse_after(allocations, 1);
    ground.memory.guarded([&] { report = t.insert(ground.space, keys, keys); });
    was_refused = ground.memory.refused();
    ground.memory.refuse_after(faulty::never);
    std::vector<u32> values(n);
    std::vector<char> found(n);
    t.find(ground.space, keys, values, std::span(reinterpret_cast<bool*>(found.data()), n));
    const u64 absent = static_cast<u64>(std::ranges::count(found, 0));
    EXPECT_GT(absent, 0U) << "no item was refused";
    EXPECT_EQ(report.refused, absent);
    EXPECT_EQ(report.inserted, t.size());
    EXPECT_EQ(report.inserted + report.present + report.refused, n);
  }
}

// Bins count by 32 bits. If over 2^32 items go to one bin, those beyond its capacity go to the list of
// remaining items.
TEST(regions, capacities_of_bins_fit_32_bits) {
  using detail::most_in_a_bin;
  const u64 below = (u64(1) << 32) - (u64(1) << 20);
  EXPECT_EQ(most_in_a_bin(below, 1), detail::bin_capacity(below, 1));
  EXPECT_LT(most_in_a_bin(below, 1), ~u32(0));
  EXPECT_EQ(most_in_a_bin(u64(1) << 32, 1), ~u32(0));
  EXPECT_EQ(most_in_a_bin((u64(1) << 32) + (u64(1) << 20), 1), ~u32(0));
  EXPECT_EQ(most_in_a_bin(u64(1) << 47, u64(1) << 14), ~u32(0));
  EXPECT_EQ(most_in_a_bin(~u64(0), 1), ~u32(0));
}
}  // namespace tilehash::contract
