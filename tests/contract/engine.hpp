// SPDX-License-Identifier: Apache-2.0
// Promises of engines in addition to right answers: asynchronous calls, moved-from tables, kept state, and
// bounded work where a table is full or keys are adversarial. `engine_space` is the space under test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <contract/bad_hash.hpp>
#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>
#include <tilehash/papers/cuckoo.hpp>
#include <tilehash/papers/mega_kv.hpp>
#include <tilehash/papers/two_level_cuckoo.hpp>
#include <tilehash/tilehash.hpp>

namespace tilehash::contract {

template <class Design>
class engines : public ::testing::Test {
 protected:
  using space_type = engine_space;
  using table_type = table<Design, space_type>;
  using words = buffer<u32, space_type>;

  // n different keys, each with its number as its value.
  void make(u64 n) {
    std::vector<u32> k(n), v(n);
    for (u64 i = 0; i < n; ++i) k[i] = mix32(static_cast<u32>(i) ^ 0x5a5a5a), v[i] = static_cast<u32>(i);
    keys = words(space, k);
    values = words(space, v);
  }
  std::span<const u32> k() const { return keys.span(); }
  std::span<const u32> v() const { return values.span(); }
  void fill(table_type& t) {
    if constexpr (insertable<Design>)
      EXPECT_EQ(t.insert(space, k(), v()).inserted, keys.size());
    else
      EXPECT_EQ(t.build(space, k(), v()).inserted, keys.size());
  }
  u64 found_in(const table_type& t) {
    words out(space, keys.size());
    t.find_or(space, k(), out.span(), ~0U);
    u64 right = 0;
    const auto host = out.to_host();
    for (u64 i = 0; i < host.size(); ++i) right += host[i] == i;
    return right;
  }

  space_type space;
  words keys, values;
};

using engine_designs =
    all_or_read<::testing::Types<tiled<u32, u32>, papers::bucketed_cuckoo_balanced<u32, u32>,
                                 papers::cuckoo<u32, u32>, linear_probing<u32, u32>, indexed<u32, u32>,
                                 multi<u32, u32>, papers::two_level_cuckoo<u32, u32>, chained<u32, u32>>,
                ::testing::Types<tiled<u32, u32>, indexed<u32, u32>, chained<u32, u32>>>;
TYPED_TEST_SUITE(engines, engine_designs);

TYPED_TEST(engines, what_was_moved_from_is_an_empty_table) {
  this->make(1000);
  typename TestFixture::table_type t(this->space, 1000);
  this->fill(t);
  auto other = std::move(t);
  EXPECT_EQ(this->found_in(other), 1000U);
  EXPECT_EQ(t.size(), 0U);  // NOLINT(bugprone-use-after-move): this is what is asked
  EXPECT_EQ(t.capacity(), 0U);
  EXPECT_EQ(t.bytes(), 0U);
  EXPECT_EQ(this->found_in(t), 0U);
  t.clear(this->space);
  EXPECT_EQ(this->found_in(t), 0U);
  auto again = std::move(t);
  this->fill(t);
  EXPECT_EQ(this->found_in(t), 1000U);
  this->fill(again);
  EXPECT_EQ(this->found_in(again), 1000U);
}

TYPED_TEST(engines, capacity_is_given_and_kept) {
  typename TestFixture::table_type t(this->space, 1000);
  const u64 capacity = t.capacity();
  if (!std::is_same_v<TypeParam, multi<u32, u32>>) {  // which grows when items are inserted
    EXPECT_GE(static_cast<double>(capacity) * t.options().load_factor, 1000.0);
  }
  this->make(1000);
  this->fill(t);
  const u64 filled = t.capacity();
  t.clear(this->space);
  EXPECT_EQ(t.size(), 0U);
  EXPECT_EQ(t.capacity(), filled);
  EXPECT_EQ(this->found_in(t), 0U);
  this->fill(t);
  EXPECT_EQ(this->found_in(t), 1000U);
}

TYPED_TEST(engines, seeds_are_drawn_unless_given) {
  const typename TestFixture::table_type a(this->space), b(this->space), c(this->space, 0, {.seed = 7});
  EXPECT_NE(a.options().seed.value(), b.options().seed.value());
  EXPECT_EQ(c.options().seed.value(), 7U);
}

// ---- asynchronous calls ----
template <class Design>
class async_calls : public engines<Design> {};
using async_designs = all_or_read<
    ::testing::Types<tiled<u32, u32>, papers::bucketed_cuckoo_balanced<u32, u32>, papers::cuckoo<u32, u32>,
                     linear_probing<u32, u32>, dynamic_cuckoo<u32, u32>>,
    ::testing::Types<tiled<u32, u32>, dynamic_cuckoo<u32, u32>>>;
TYPED_TEST_SUITE(async_calls, async_designs);

TYPED_TEST(async_calls, report_in_the_memory_of_the_space) {
  for (const u64 n : {u64(1), u64(1000), scaled(100'000, 40'000)}) {
    SCOPED_TRACE(n);
    this->make(n);
    auto& here = this->space;
    typename TestFixture::table_type t(here, n, {.grow = false});
    buffer<insert_report, engine_space> report(here, 4);
    buffer<u64, engine_space> erased(here, 1);
    t.insert_async(here, this->k(), this->v(), report.data());
    // A copy counts each change once, and its size stays right after its own changes.
    auto copy = t.clone(here);
    EXPECT_EQ(copy.size(), n);
    EXPECT_EQ(copy.erase(here, this->k().first(n / 2)), n / 2);
    EXPECT_EQ(copy.size(), n - n / 2);
    EXPECT_EQ(copy.clone(here).size(), n - n / 2);
    t.insert_async(here, this->k(), this->v(), report.data() + 1);
    t.insert_or_apply_async(here, this->k(), this->v(), op::sum{}, report.data() + 2);
    t.insert_or_assign_async(here, this->k(), this->v(), report.data() + 3);
    const auto reports = report.to_host();
    EXPECT_EQ(reports[0], (insert_report{.inserted = n}));
    for (int i = 1; i < 4; ++i) EXPECT_EQ(reports[i], (insert_report{.present = n}));
    EXPECT_EQ(t.size(), n);
    EXPECT_EQ(this->found_in(t), n);
    t.erase_async(here, this->k().first(n / 2), erased.data());
    EXPECT_EQ(t.size(), n - n / 2);
    EXPECT_EQ(erased.to_host()[0], n / 2);
    EXPECT_EQ(t.insert(here, this->k(), this->v()).inserted, n / 2);
  }
}
TYPED_TEST(async_calls, change_the_size_of_the_table_that_is_moved_to) {
  this->make(100);
  auto& here = this->space;
  typename TestFixture::table_type t(here, 100, {.grow = false});
  const buffer<insert_report, engine_space> report(here, 1);
  t.insert_async(here, this->k(), this->v(), report.data());
  auto moved = std::move(t);
  EXPECT_EQ(t.size(), 0U);  // NOLINT(bugprone-use-after-move): this is what is asked
  EXPECT_EQ(moved.size(), 100U);
  t = std::move(moved);
  EXPECT_EQ(t.size(), 100U);
  EXPECT_EQ(moved.size(), 0U);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(this->found_in(t), 100U);
}
// Synchronous and asynchronous calls in any order: size(), a clone and retrieve_all() count each change
// once.
TYPED_TEST(async_calls, change_the_size_once_among_those_that_wait) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = 2'000, rounds = scaled(60, 30);
  random_numbers random("async_calls");
  this->make(n);
  auto& here = this->space;
  typename TestFixture::table_type t(here, 2 * n, {.seed = run_seed(), .grow = false});
  const buffer<insert_report, engine_space> report(here, 1);
  const buffer<u64, engine_space> erased(here, 1);
  const buffer<u32, engine_space> all_keys(here, n + 1), all_values(here, n + 1);  // larger than size()
  std::vector<u8> present(n, 0);
  for (u64 round = 0; round < rounds; ++round) {
    const u64 first = random.below(n), count = random.between(1, n - first);
    const auto keys = this->k().subspan(first, count), values = this->v().subspan(first, count);
    const bool waits = random.one_in(2), erases = random.one_in(3);
    if (erases && waits)
      t.erase(here, keys);
    else if (erases)
      t.erase_async(here, keys, erased.data());
    else if (waits)
      std::ignore = t.insert(here, keys, values);
    else
      t.insert_async(here, keys, values, report.data());
    std::fill_n(present.begin() + static_cast<std::ptrdiff_t>(first), count, u8(!erases));
    if (random.one_in(2)) continue;  // size() is not called
    const auto expected = static_cast<u64>(std::ranges::count(present, 1));
    ASSERT_EQ(t.size(), expected) << "in round " << round;
    const auto copy = t.clone(here);
    ASSERT_EQ(copy.size(), expected) << "in round " << round;
    ASSERT_EQ(copy.retrieve_all(here, all_keys.span(), all_values.span()), expected);
    ASSERT_EQ(this->found_in(copy), expected);
    ASSERT_EQ(t.retrieve_all(here, all_keys.span(), all_values.span()), expected);
  }
}
TYPED_TEST(async_calls, of_no_items_write_their_results) {
  this->make(3);
  auto& here = this->space;
  typename TestFixture::table_type t(here, 10, {.grow = false});
  const insert_report unwritten{.inserted = 9, .present = 9, .refused = 9, .restarts = 9};
  const buffer<insert_report, engine_space> report(here, std::vector(3, unwritten));
  const buffer<u64, engine_space> erased(here, std::vector<u64>{9});
  this->fill(t);
  t.insert_async(here, {}, {}, report.data());
  t.insert_or_apply_async(here, {}, {}, op::sum{}, report.data() + 1);
  t.insert_or_assign_async(here, {}, {}, report.data() + 2);
  t.erase_async(here, {}, erased.data());
  for (const auto& written : report.to_host()) EXPECT_EQ(written, insert_report{});
  EXPECT_EQ(erased.to_host()[0], 0U);
  EXPECT_EQ(t.size(), 3U);
}
TYPED_TEST(async_calls, of_a_table_that_may_grow_are_refused) {
  this->make(10);
  typename TestFixture::table_type t(this->space, 10);
  buffer<insert_report, engine_space> report(this->space, 1);
  EXPECT_THROW(t.insert_async(this->space, this->k(), this->v(), report.data()), invalid_argument);
  EXPECT_EQ(t.size(), 0U);
}

// ---- memory ----
TEST(fixed_tables, of_more_items_than_slots_are_refused) {
  engine_space space;
  using table_type = table<robin_hood<u32, u32>, engine_space>;
  for (const bool grow : {false, true}) {
    for (const double load : {1.001, 1.5})
      EXPECT_THROW(table_type(space, 100, {.load_factor = load, .grow = grow}), invalid_argument);
  }
}
// Where keys cannot be placed, a table that may not grow takes another hash function and no more slots.
// Here the first four hash functions fail.
TEST(fixed_tables, keep_their_capacity_when_another_hash_is_needed) {
  engine_space space;
  for (u64 n = 18; n <= 22; ++n) {  // most of the slots, and more than two buckets hold
    SCOPED_TRACE(n);
    table<papers::mega_kv<u32, u32, bad_at_first<4>>, engine_space> t(
        space, n, {.load_factor = 0.95, .seed = 0, .grow = false});
    const u64 capacity = t.capacity();
    std::vector<u32> host(n);
    for (u32 i = 0; i < n; ++i) host[i] = mix32(i);
    const buffer<u32, engine_space> keys(space, host), out(space, n);
    const auto report = t.insert(space, keys.span(), keys.span());
    EXPECT_EQ(report.inserted, n);
    EXPECT_GE(report.restarts, 4U);
    EXPECT_EQ(t.capacity(), capacity);
    EXPECT_EQ(t.size(), n);
    t.find_or(space, keys.span(), out.span(), 0);
    EXPECT_EQ(out.to_host(), host);
  }
}
TYPED_TEST(async_calls, keys_that_are_there_do_not_make_a_table_grow) {
  this->make(scaled(20'000, 3'000));
  typename TestFixture::table_type t(this->space, this->keys.size());
  this->fill(t);
  const u64 capacity = t.capacity();
  const auto report = t.insert(this->space, this->k(), this->v());
  EXPECT_EQ(report, (insert_report{.present = this->keys.size()}));
  EXPECT_EQ(t.capacity(), capacity);
}

}  // namespace tilehash::contract
