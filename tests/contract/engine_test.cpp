// SPDX-License-Identifier: Apache-2.0
#include <tilehash/papers/papers.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct engine_space : cpu {
  engine_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/bad_hash.hpp>
#include <contract/counting_hash.hpp>
#include <contract/engine.hpp>
#include <contract/growth_memory.hpp>

// Bounded work is counted, not timed: in calls of the hash function.
namespace tilehash::contract {
namespace {

TEST(bounded_work, a_full_table_says_so_soon) {
  cpu space(1);
  table<bucketed_cuckoo<u32, u32, counting_hash>, cpu> t(space, scaled(40'000, 4'000),
                                                         {.seed = run_seed(), .grow = false});
  const u64 n = t.capacity() + t.capacity() / 4;
  std::vector<u32> keys(n), values(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(i));
  counting_hash::calls = 0;
  const auto report = t.insert(space, keys, values);
  EXPECT_GE(report.refused, n - t.capacity());
  EXPECT_EQ(report.inserted + report.refused, n);
  // 128 searches of some 20 calls each would be 2500 for each refused key.
  EXPECT_LT(counting_hash::calls, 150 * n);
}

// Keys whose hashes begin alike, under a seed that is known.
TEST(bounded_work, keys_made_up_to_meet_cost_a_restart) {
  cpu space(2);
  const u64 n = scaled(40'000, 10'000);
  for (const u64 capacity : {u64(0), 9 * n}) {
    table<tiled<u32, u32>, cpu> t(space, capacity, {.seed = known_seed});
    const auto design = t.view().design;
    std::vector<u32> keys(n);
    for (u64 i = 0; i < n; ++i) keys[i] = design.unhash(static_cast<u32>(0x5aU << 24 | (i * 419 & 0xffffff)));
    const u64 before = t.capacity();
    const auto report = t.insert(space, keys, keys);
    EXPECT_EQ(report.inserted, n);
    EXPECT_LE(report.restarts, 6U);
    EXPECT_GE(t.capacity(), before) << "reserved room is kept";
    EXPECT_LE(t.capacity(), std::max(before, 4 * n)) << "and no more is taken than the items need";
  }
}

// Keys that no seed parts, among others: a table does not grow for them until memory ends, but refuses those
// for which there is no place and keeps the rest.
template <class Design>
class growth : public ::testing::Test {};
#if TILEHASH_FEW_TYPES
using growing_designs =
    ::testing::Types<bucketed_cuckoo<u32, u32, bad_for_small>, papers::cuckoo<u32, u32, 2, bad_for_small>,
                     double_hashing<u32, u32, bad_for_small>>;
#else
using growing_designs = ::testing::Types<
    bucketed_cuckoo<u32, u32, bad_for_small>, papers::bucketed_cuckoo_balanced<u32, u32, bad_for_small>,
    papers::cuckoo<u32, u32, 2, bad_for_small>, papers::cuckoo<u32, u32, 4, bad_for_small>,
    linear_probing<u32, u32, bad_for_small>, papers::quadratic_probing<u32, u32, bad_for_small>,
    double_hashing<u32, u32, bad_for_small>>;
#endif
TYPED_TEST_SUITE(growth, growing_designs);

TYPED_TEST(growth, has_a_bound) {
  cpu space(2);
  for (const u32 first : {u32(2000), u32(0), u32(1990)}) {  // none, all, and a few of the small ones
    SCOPED_TRACE(first);
    const u64 n = scaled(2'000, 500);
    std::vector<u32> keys(n), out(n);
    for (u64 i = 0; i < n; ++i) keys[i] = first + static_cast<u32>(i);
    table<TypeParam, cpu> t(space);
    std::vector<outcome> outcomes(n);
    const insert_report report = t.insert(space, keys, keys, outcomes);
    EXPECT_EQ(report.inserted + report.refused, n);
    EXPECT_EQ(t.size(), report.inserted);
    // Capacity for all of them, or 64 slots an item that found a place, doubled once.
    EXPECT_LE(t.capacity(), std::max(4 * n, 150 * report.inserted));
    if (first == 2000) {
      EXPECT_EQ(report.refused, 0U);
    }
    t.find_or(space, keys, out, ~0U);
    for (u64 i = 0; i < n; ++i) ASSERT_EQ(out[i], outcomes[i] == outcome::inserted ? keys[i] : ~0U) << i;
    table<TypeParam, cpu> built(space);
    const insert_report of_build = built.build(space, keys, keys);
    EXPECT_EQ(of_build.inserted + of_build.refused, n);
    EXPECT_EQ(of_build.inserted, built.size());
    EXPECT_LE(built.capacity(), std::max(4 * n, 150 * of_build.inserted));
  }
}
// Where all that is stored in a fixed table finds no place in a smaller one, the table is kept.
TEST(shrinking, is_no_way_to_grow) {
  cpu space(2);
  for (const u32 n : {14U, 28U, 35U, 70U}) {
    SCOPED_TRACE(n);
    std::vector<u32> keys(n), before(n), after(n);
    for (u32 i = 0; i < n; ++i) keys[i] = i;
    table<papers::cuckoo<u32, u32, 4, of_seven_places>, cpu> t(space, 320,
                                                               {.load_factor = 0.3, .grow = false});
    std::ignore = t.insert(space, keys, keys);
    t.find_or(space, keys, before, ~0U);
    const u64 capacity = t.capacity(), bytes = t.bytes(), size = t.size();
    t.shrink_to_fit(space);
    EXPECT_LE(t.capacity(), capacity);
    EXPECT_LE(t.bytes(), bytes);
    EXPECT_EQ(t.size(), size);
    t.find_or(space, keys, after, ~0U);
    EXPECT_EQ(after, before);
  }
}

TEST(growth_memory, old_and_new_table_and_little_beside) {
  counted<cpu> space(2);
  const u64 n = scaled(300'000, 40'000);
  expect_little_memory_of_growth<tiled<u32, u32>>(space, n);
  expect_little_memory_of_growth<tiled<u64, u64>>(space, n);
  expect_little_memory_of_growth<bucketed_cuckoo<u64, u32>>(space, n);
  expect_little_memory_of_growth<papers::cuckoo<u32, u32>>(space, n);
  expect_little_memory_of_growth<linear_probing<u32, u32>>(space, n);
}

// A growth that falls a little short of what is known to come is not made; the next would double the table.
TEST(growth_memory, capacity_grows_for_what_comes) {
  cpu space(2);
  for (const u64 n : {u64(125'000), u64(150'000), u64(250'000), u64(300'000)}) {
    std::vector<u32> keys(n);
    for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(i));
    table<tiled<u32, u32>, cpu> t(space, 0, {.load_factor = 0.8});
    EXPECT_EQ(t.insert(space, keys, keys).inserted, n);
    EXPECT_LT(static_cast<double>(t.capacity()), 1.1 * static_cast<double>(n) / 0.8) << n;
  }
}

TEST(bounded_work, engines_that_cannot_refuse_say_why) {
  cpu space(2);
  const u64 n = scaled(2'000, 500);
  std::vector<u32> few = {5'000, 6'000}, keys(n), out(2);
  for (u64 i = 0; i < n; ++i) keys[i] = static_cast<u32>(i);
  const auto expect_refusal = [&](auto t, const char* why) {
    EXPECT_EQ(t.build(space, few, few).inserted, 2U);
    std::string message = "nothing was thrown";
    try {
      const insert_report report = t.build(space, keys, keys);
      message = std::to_string(report.inserted) + " inserted";
    } catch (const error& e) {
      message = e.what();
    }
    EXPECT_NE(message.find(why), std::string::npos) << message;
    EXPECT_EQ(t.size(), 2U) << "the table is as it was";
    t.find(space, few, out);
    EXPECT_EQ(out, few);
  };
  using hash = bad_for_small;
  expect_refusal(table<papers::two_level_cuckoo<u32, u32, 2048, hash>, cpu>(space), "take another hash");
  using ids = bucketed_cuckoo<u32, u32, hash>;
  expect_refusal(table<multi<u32, u32, ids>, cpu>(space), "take another");
  expect_refusal(table<indexed<u32, u32, murmur, ids>, cpu>(space), "take another");
}

}  // namespace
}  // namespace tilehash::contract
