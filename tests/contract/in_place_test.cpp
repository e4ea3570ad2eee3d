// SPDX-License-Identifier: Apache-2.0
// Growth in a table's own memory on the CPU: in a resource that resizes, and in the system's pages.
#include <contract/crowded_regions.hpp>
#include <contract/in_place.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
namespace {

template <class Design>
class in_place : public ::testing::Test {
 protected:
  // Items of a table of four regions at load 0.8, and a little more.
  static constexpr u64 items = 5 * 2496 * Design::bucket_slots;
  resizing<faulty_host> memory;
  cpu space{2, memory};
};
#if TILEHASH_FEW_TYPES
using designs = ::testing::Types<tiled<u64, u64>>;
#else
using designs = ::testing::Types<tiled<u32, u32>, tiled<u64, u64>>;
#endif
TYPED_TEST_SUITE(in_place, designs);

TYPED_TEST(in_place, right_after_many_growths) {
  for (const u64 each : {u64(63), u64(10'000), 3 * this->items}) {
    const u64 n = (each == 63 ? 1 : scaled(4, each == 10'000 ? 2 : 3)) * this->items;
    grow_from_nothing<TypeParam>(this->space, n, each, each == 10'000 ? 0.9 : 0.8);
  }
  EXPECT_GT(this->memory.resizes(), 0U);
}
TYPED_TEST(in_place, item_by_item) {
  modelled<TypeParam, cpu> m(this->space, 0, {.seed = known_seed});
  ASSERT_EQ(m.insert(0, this->items).refused, 0U);
  const u64 resizes = this->memory.resizes();
  u64 end = this->items;
  for (; this->memory.resizes() == resizes && end < 3 * this->items; ++end)
    ASSERT_EQ(m.insert(end, end + 1).refused, 0U);
  EXPECT_GT(this->memory.resizes(), resizes);
  m.verify(end + 1000);
}
TYPED_TEST(in_place, calls_in_any_order) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = scaled(2, 1) * this->items, steps = scaled(8, 4);
  resize_at_random<TypeParam>(this->space, n, steps, 0.8);
  resize_at_random<TypeParam>(this->space, n, steps, 0.95);
  EXPECT_GT(this->memory.resizes(), 0U);
}
TYPED_TEST(in_place, the_peak_is_the_new_size_and_a_sixteenth) {
  double_in_little_memory<TypeParam>(this->space, this->memory, scaled(6, 2) * this->items);
  EXPECT_EQ(this->memory.resizes(), 2U);
}
TYPED_TEST(in_place, a_clone_has_the_same_regions) { clone_what_has_grown<TypeParam>(this->space); }
TYPED_TEST(in_place, a_second_shrink_does_nothing) {
  modelled<TypeParam, cpu> m(this->space, 4 * this->items, {.seed = known_seed});
  ASSERT_EQ(m.insert(0, this->items).refused, 0U);
  m.tested.shrink_to_fit(this->space);
  const u64 bytes = m.tested.bytes();
  this->memory.forget();
  m.tested.shrink_to_fit(this->space);
  EXPECT_EQ(m.tested.bytes(), bytes);
  EXPECT_EQ(this->memory.most(), bytes);
}
TYPED_TEST(in_place, no_memory_leaves_the_table_as_it_was) {
  const u64 n = this->items;
  fail_at_every_allocation<TypeParam>(this->space, this->memory, n, n,
                                      [&](auto& m) { m.tested.reserve(this->space, 2 * n); });
}
TYPED_TEST(in_place, no_memory_to_shrink_leaves_it_too) {
  const u64 n = this->items;
  fail_at_every_allocation<TypeParam>(this->space, this->memory, 2 * n, n,
                                      [&](auto& m) { m.tested.shrink_to_fit(this->space); });
}

using pairs32 = tiled<u32, u32>;

// Keys that have the same two buckets in a region of `after`, half of them either first.
std::vector<u32> keys_of_one_pair(const pairs32& after, u32 region, u64 n) {
  std::vector<u32> keys;
  u32 other = 0;
  const auto add_from = [&](u32 bucket, u64 most) {
    const u64 within = (static_cast<u64>(bucket + 1) << 32) / after.region_buckets() - 1;  // the last there
    u32 h = static_cast<u32>(((static_cast<u64>(region) << 32) + within) / after.regions());
    for (auto p = after.location_of(h); keys.size() < most && p.bucket == bucket;
         p = after.location_of(--h)) {
      const u32 second = after.mirror(bucket, p.stored);
      if (keys.empty()) other = second;
      if (second == other || bucket == other) keys.push_back(after.unhash(h));
      if (bucket == other && second != 5) keys.pop_back();
    }
  };
  add_from(5, n / 2);
  add_from(other, n);
  return keys;
}
// A space that counts the regions that are built for trial.
class counting_trials : public cpu {
 public:
  using cpu::cpu;
  template <class Body, class... Scratch>
  void for_each_block(u64 blocks, u32 threads, u64 scratch_bytes, Body body, const Scratch&... scratch) {
    if constexpr (requires { Body::for_trial; }) trials_ += Body::for_trial ? blocks : 0;
    cpu::for_each_block(blocks, threads, scratch_bytes, body, scratch...);
  }
  u64 trials() const { return trials_; }

 private:
  u64 trials_ = 0;
};
template <class Design>
class crowded_regions : public ::testing::Test {};
using all_slots = ::testing::Types<tiled<u64, u64>, pairs32, tiled<u32, void>>;
TYPED_TEST_SUITE(crowded_regions, all_slots);

TYPED_TEST(crowded_regions, are_all_that_have_a_key_without_a_place) {
  cpu space(1);
  compare_with_matching<TypeParam>(space, 24);
}
// At usual loads nearly all regions are cleared, although the first count clears few or none.
TYPED_TEST(crowded_regions, are_few) {
  cpu space(1);
  constexpr u64 n = 4 * 2496 * TypeParam::bucket_slots * 8;
  modelled<TypeParam, cpu> m(space, 2 * n, {.seed = known_seed});
  ASSERT_EQ(m.insert(0, n).refused, 0U);
  const TypeParam before = m.tested.view().design;
  TypeParam after = before;
  after.reshape(nullptr, before.regions() / 2);
  EXPECT_EQ(find_listed(space, before, after, 0).count(), after.regions());
  EXPECT_LE(find_listed(space, before, after).count(), after.regions() / 5);
}
// No other region is built for trial, and where all their keys have places, the table is resized in place.
TEST(trials, are_of_crowded_regions_alone) {
  using pairs64 = tiled<u64, u64>;
  resizing<faulty_host> memory;
  counting_trials space(1, memory);
  constexpr double load = 0.9;
  constexpr u64 n = 90'000;
  modelled<pairs64, counting_trials> m(space, 2 * n, {.load_factor = load, .seed = known_seed});
  ASSERT_EQ(m.insert(0, n).refused, 0U);
  const pairs64 before = m.tested.view().design;
  pairs64 after = before;
  after.reshape(nullptr, detail::divide_up(pairs64::capacity_for(n, load), before.region_slots()));
  const u64 listed = find_listed(space, before, after).count();
  ASSERT_GT(listed, 0U);
  ASSERT_LT(listed, after.regions());
  m.tested.shrink_to_fit(space);
  EXPECT_EQ(space.trials(), listed);
  EXPECT_EQ(memory.resizes(), 1U);
  EXPECT_EQ(m.tested.capacity(), after.capacity());
  m.verify(n + n / 4);
}
// Inserts n keys, of which 28 have the same 16 slots once the table has capacity for twice as many.
template <class Space>
std::vector<u32> insert_crowd(Space& space, table<pairs32, Space>& t, u64 n) {
  pairs32 after = t.view().design;
  after.reshape(nullptr, detail::divide_up(pairs32::capacity_for(2 * n, 0.8), after.region_slots()));
  std::vector<u32> keys = keys_of_one_pair(after, 2, 28);
  while (keys.size() < n) keys.push_back(mix32(static_cast<u32>(keys.size())));
  const auto report = t.insert(space, keys, keys);
  EXPECT_EQ(report.refused + report.restarts, 0U);
  return keys;
}
template <class Space>
void expect_own_values(Space& space, const table<pairs32, Space>& t, const std::vector<u32>& keys) {
  std::vector<u32> found(keys.size());
  t.find_or(space, keys, found, ~keys[0]);
  EXPECT_EQ(found, keys);
}
// 28 keys in 16 slots: one region is built for trial, and the table is not resized in place.
TEST(trials, refuse_where_a_key_has_no_place) {
  constexpr u64 n = 110'000;
  resizing<faulty_host> memory;
  counting_trials space(1, memory);
  table<pairs32, counting_trials> t(space, n, {.seed = known_seed});
  const std::vector<u32> keys = insert_crowd(space, t, n);
  t.reserve(space, 2 * n);
  EXPECT_EQ(space.trials(), 1U);
  EXPECT_EQ(memory.resizes(), 0U);
  EXPECT_EQ(t.size(), n);
  expect_own_values(space, t, keys);
}
// 28 keys in 16 slots: the others find a place under another hash. Where there is no memory for that, the
// table is as it was.
TEST(made_up_keys, are_never_lost) {
  constexpr u64 n = 110'000;
  u64 kept = 0, done = 0;
  for (u64 allocations = 0; done == 0 && allocations < 100; ++allocations) {
    SCOPED_TRACE(std::to_string(allocations) + " allocations");
    resizing<faulty_host> memory;
    cpu space(1, memory);
    table<pairs32, cpu> t(space, n, {.seed = known_seed});
    const std::vector<u32> keys = insert_crowd(space, t, n);
    const u64 capacity = t.capacity();
    memory.refuse_after(allocations);
    memory.guarded([&] {
      try {
        t.reserve(space, 2 * n);
        ++done;
      } catch (const out_of_memory&) {
        EXPECT_EQ(t.capacity(), capacity);
        ++kept;
      }
    });
    memory.refuse_after(faulty::never);
    EXPECT_EQ(memory.allocated(), t.bytes());
    EXPECT_EQ(t.size(), n);
    expect_own_values(space, t, keys);
  }
  EXPECT_GT(kept, 0U);
  EXPECT_EQ(done, 1U);
}

TEST(hashes_in, divides_as_hash_of) {
  random_numbers random("hashes");
  for (int i = 0; i < 100'000; ++i) {
    const u64 regions = random.between(1, u64(1) << random.below(17)), buckets = random.between(40, 4000);
    const detail::hashed_buckets<remainder_slot<u32, u32>> all(regions * buckets, buckets, 7);
    const u32 region = static_cast<u32>(random.below(regions)),
              bucket = static_cast<u32>(random.below(buckets));
    const u32 remainder = static_cast<u32>(random()) & remainder_slot<u32, u32>::remainder_mask;
    using hashes = decltype(all)::hashes_in;
    ASSERT_EQ(hashes(all, region)(bucket, remainder), all.hash_of(region, bucket, remainder));
  }
}

// The bucket of a hash in all of a table is its bucket in its region, and both give the hash back.
TEST(hashed_buckets, position_of_is_the_inverse_of_hash_of) {
  random_numbers random("positions");
  using slot = remainder_slot<u64, u64>;
  for (int i = 0; i < 100'000; ++i) {
    const u64 regions = random.between(1, u64(1) << random.below(17)), buckets = random.between(40, 4000);
    const detail::hashed_buckets<slot> all(regions * buckets, buckets, 7);
    const u64 h = random() | (i % 2 == 0 ? 0 : ~u64(0) << random.below(64));
    const u64 scaled = (h >> 32) * regions;
    const auto at = all.position_of(h);
    ASSERT_EQ(at.base, (scaled >> 32) * buckets);
    ASSERT_EQ(at.bucket, static_cast<u32>(scaled) * buckets >> 32);
    ASSERT_EQ(all.position_in_table(h).base, at.base);
    ASSERT_EQ(all.position_in_table(h).bucket, at.bucket);
    ASSERT_EQ(all.hash_of(static_cast<u32>(scaled >> 32), at.bucket, h & slot::remainder_mask), h);
  }
}

// Without the option nothing shrinks; with it a table follows its items down, and does not go up and down.
TEST(shrinking, only_where_it_is_asked_for) {
  resizing<faulty_host> memory;
  cpu space(2, memory);
  const u64 n = scaled(300'000, 100'000);
  for (const double below : {0.0, 0.25}) {
    modelled<pairs32, cpu> m(space, n, {.seed = known_seed, .shrink_below = below});
    ASSERT_EQ(m.insert(0, n).refused, 0U);
    const u64 full = m.tested.capacity();
    u64 capacity = full, changes = 0;
    for (u64 first = 0; first < n - 1000; first += 1000) {
      m.erase(first, first + 1000);
      ASSERT_EQ(m.insert(n + first, n + first + 10).refused, 0U);
      m.erase(n + first, n + first + 10);
      changes += std::exchange(capacity, m.tested.capacity()) != m.tested.capacity();
      ASSERT_GE(m.tested.load_factor(), m.tested.capacity() > 1000 ? below : 0.0);
    }
    m.verify(n + n / 4);
    if (below == 0) {
      EXPECT_EQ(capacity, full);
    } else {
      EXPECT_LT(capacity, full / 50);
      EXPECT_LT(changes, 20U);
    }
  }
}
TEST(shrinking, bad_bounds_are_refused) {
  cpu space(1);
  for (const double below : {-0.1, 0.41, 1.0, std::nan("")}) {
    EXPECT_THROW((table<pairs32, cpu>(space, 10, {.load_factor = 0.8, .shrink_below = below})),
                 invalid_argument);
  }
}

// The system's own pages, which move: from 64 MiB on. Small sizes have as many pages, and fewer items in them.
TEST(own_memory, grows_and_shrinks_in_place) {
  counted<cpu> space(1);
  const double load = small_sizes() ? 0.02 : 0.8;
  double_in_little_memory<tiled<u64, u64>>(space, space, static_cast<u64>(load * 4'375'000), load);
}
// Pages of an allocation of a size that no page divides.
TEST(own_memory, keeps_its_bytes) {
  cpu space(1);
  constexpr u64 least = u64(64) << 20;
  u64 bytes = least + 12'345;
  char* p = static_cast<char*>(space.allocate(bytes));
  EXPECT_FALSE(space.resizes(p, bytes, least - 1));
  EXPECT_FALSE(space.resizes(p, least - 1, bytes));
  const auto at = [](u64 i) { return static_cast<char>(mix64(i)); };
  for (u64 i = 0; i < bytes; i += 4093) p[i] = at(i);
  for (const u64 now : {2 * least + 1, 4 * least, 3 * least - 5, least}) {
    ASSERT_TRUE(space.resizes(p, bytes, now));
    p = static_cast<char*>(space.resize(p, bytes, now));
    u64 wrong = 0;
    for (u64 i = 0; i < std::min(least, now); i += 4093) wrong += p[i] != at(i);
    EXPECT_EQ(wrong, 0U);
    for (u64 i = bytes; i < now; i += 4096) EXPECT_EQ(p[i], 0);  // fresh ones
    bytes = now;
  }
  EXPECT_THROW(static_cast<void>(space.resize(p, bytes, u64(1) << 46)), out_of_memory);
  EXPECT_EQ(p[0], at(0));
  space.deallocate(p, bytes);
}

}  // namespace
}  // namespace tilehash::contract
