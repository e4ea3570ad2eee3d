// SPDX-License-Identifier: Apache-2.0
// Tests of tables in subtables: the load factor they keep, the memory that a resize takes, resizes without
// memory, values of any size, and refused options.
//
// The includer names the space `dynamic_space`, a counted one (growth_memory.hpp); `dynamic_faulty`, a
// ground of its kind whose memory can be made to run out; and `dynamic_beside`, which holds another space
// object of the same device.
// length: one ground and its model; each test is a promise of one engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <contract/growth_memory.hpp>
#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/dynamic_map.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

inline std::vector<u32> numbered_keys(u64 first, u64 n) {
  std::vector<u32> k(n);
  for (u64 i = 0; i < n; ++i) k[i] = mix32(static_cast<u32>(first + i));
  return k;
}

// Checks that the table holds exactly these keys, with themselves as values.
template <class Table, class Space>
void expect_holds(Table& t, Space& space, const std::vector<u32>& keys, const std::vector<u32>& others) {
  ASSERT_EQ(t.size(), keys.size());
  const buffer<u32, Space> k(space, keys), out(space, keys.size()), o(space, others);
  t.find(space, k.span(), out.span());
  EXPECT_EQ(out.to_host(), keys);
  const buffer<bool, Space> found(space, others.size());
  t.contains(space, o.span(), found.span());
  for (const bool is : found.to_host()) ASSERT_FALSE(is);
}

// Checks that no subtable is more than twice the size of another.
template <class Table>
void expect_even(const Table& t) {
  const auto design = t.view().design;
  u64 least = ~u64(0), most = 0;
  for (u32 i = 0; i < design.subtables; ++i) {
    least = std::min(least, design.at(i).buckets);
    most = std::max(most, design.at(i).buckets);
  }
  EXPECT_LE(most, 2 * least);
}

TEST(dynamic, is_kept_between_alpha_and_beta_in_little_memory) {
  dynamic_space space;
  const u64 n = scaled(40'000, 16'000), batch = n / 20, fixed = u64(1) << 14;
  for (const auto& [alpha, beta] : {std::pair{0.4, 0.9}, std::pair{0.2, 0.6}, std::pair{0.6, 0.95}}) {
    SCOPED_TRACE(std::to_string(alpha) + " to " + std::to_string(beta));
    table<dynamic_cuckoo<u32, u32>, dynamic_space> t(space, 0,
                                                     {.seed = run_seed(), .alpha = alpha, .beta = beta});
    const auto all = numbered_keys(0, n);
    const buffer<u32, dynamic_space> k(space, all);
    u64 resizes = 0;
    const auto bounded = [&](auto call) {
      const u64 before = t.bytes(), others = space.now() - before;
      space.forget();
      call();
      // The table, one new subtable, and a sixteenth of the items: far below 1.5.
      const u64 steady = std::max(before, t.bytes());
      if (t.bytes() != before) ++resizes;
      EXPECT_LE(static_cast<double>(space.most() - others),
                1.5 * static_cast<double>(steady) + static_cast<double>(batch * 8 + fixed));
      expect_even(t);
      EXPECT_LE(t.load_factor(), std::max(beta, 0.8) + 1e-9);
    };
    for (u64 i = 0; i < n; i += batch) {
      bounded([&] {
        ASSERT_EQ(t.insert(space, k.span().subspan(i, batch), k.span().subspan(i, batch)).inserted, batch);
      });
    }
    EXPECT_GT(resizes, 4U);
    expect_holds(t, space, all, numbered_keys(n, 100));
    for (u64 i = 0; i < n; i += batch) {
      bounded([&] { ASSERT_EQ(t.erase(space, k.span().subspan(i, batch)), batch); });
      const auto design = t.view().design;
      const bool is_least = design.at(0).levels == 0 && design.at(1).levels == 0 && design.at(2).levels == 0;
      EXPECT_TRUE(is_least || t.load_factor() >= alpha) << t.load_factor();
    }
    EXPECT_TRUE(t.empty());
    EXPECT_LT(t.bytes(), n / 2 + fixed) << "memory is given back";
  }
}

TEST(dynamic, one_subtable_at_a_time) {
  dynamic_space space;
  const u64 n = scaled(20'000, 8'000);
  const auto keys = numbered_keys(0, n), others = numbered_keys(n, 500);
  const buffer<u32, dynamic_space> k(space, keys);
  table<dynamic_cuckoo<u32, u32, 4>, dynamic_space> t(space, n, {.seed = run_seed(), .grow = false});
  ASSERT_EQ(t.insert(space, k.span(), k.span()).inserted, n);
  for (int i = 0; i < 9; ++i) {
    const u64 before = t.capacity();
    t.double_subtable(space);
    EXPECT_GT(t.capacity(), before);
    expect_even(t);
    expect_holds(t, space, keys, others);
  }
  for (int i = 0; i < 9; ++i) {
    const u64 before = t.capacity();
    ASSERT_TRUE(t.halve_subtable(space));
    EXPECT_LT(t.capacity(), before);
    expect_even(t);
    expect_holds(t, space, keys, others);
  }
  // 0.8 filled: the next halvings can still place the items that are left over, and then no longer. No item
  // is lost.
  bool halved = true;
  while (halved) {
    const u64 before = t.capacity(), bytes = t.bytes();
    halved = t.halve_subtable(space);
    EXPECT_TRUE(halved || (t.capacity() == before && t.bytes() == bytes));
    expect_holds(t, space, keys, others);
  }
  EXPECT_GT(t.load_factor(), 0.8);
  EXPECT_EQ(t.erase(space, k.span()), n);  // nor is any stored twice
  expect_holds(t, space, {}, keys);
}

// Inserts and lookups continue while another thread, in another space object, fills the new subtable.
TEST(dynamic, others_work_beside_a_doubling) {
  dynamic_space space;
  dynamic_beside beside;
  const u64 n = scaled(30'000, 4'000), rounds = 8, more = n / 64;
  auto keys = numbered_keys(0, n);
  table<dynamic_cuckoo<u32, u32>, dynamic_space> t(space, n + rounds * more, {.seed = run_seed()});
  {
    const buffer<u32, dynamic_space> k(space, keys);
    ASSERT_EQ(t.insert(space, k.span(), k.span()).inserted, n);
  }
  for (u64 round = 0; round < rounds; ++round) {
    auto given = numbered_keys(n + round * more, more);
    keys.insert(keys.end(), given.begin(), given.end());
    given.insert(given.end(), keys.begin(),
                 keys.begin() + static_cast<std::ptrdiff_t>(more));  // present keys
    const buffer<u32, dynamic_space> k(space, given);
    const u64 before = t.capacity();
    t.begin_doubling(space);
    EXPECT_THROW(t.erase(space, k.span()), invalid_argument);
    EXPECT_THROW(t.begin_doubling(space), invalid_argument);
    EXPECT_THROW(std::ignore = t.insert_or_assign(space, k.span(), k.span()), invalid_argument);
    std::thread other([&] { t.run_doubling(beside.space); });
    const auto report = t.insert(space, k.span(), k.span());
    EXPECT_EQ(report.inserted, more);
    EXPECT_EQ(report.present, more);
    expect_holds(t, space, keys, numbered_keys(3 * n, 200));
    other.join();
    t.end_doubling(space, beside.space);
    EXPECT_GT(t.capacity(), before);
    EXPECT_EQ(t.bytes(), space.now() - k.bytes());
    expect_even(t);
    expect_holds(t, space, keys, numbered_keys(3 * n, 200));
  }
  EXPECT_THROW(t.end_doubling(space, beside.space), invalid_argument);
  EXPECT_THROW(t.run_doubling(beside.space), invalid_argument);
}

TEST(dynamic, a_resize_without_memory_changes_nothing) {
  const u64 n = 2'000;
  const auto keys = numbered_keys(0, n), others = numbered_keys(n, 100);
  for (const bool doubles : {true, false}) {
    bool done = false;
    for (u64 allocations = 0; !done; ++allocations) {
      ASSERT_LT(allocations, 20U);
      dynamic_faulty ground;
      auto& space = ground.space;
      using space_type = std::remove_reference_t<decltype(space)>;
      table<dynamic_cuckoo<u32, u32>, space_type> t(space, 8 * n, {.seed = run_seed()});
      {
        const buffer<u32, space_type> k(space, keys);
        ASSERT_EQ(t.insert(space, k.span(), k.span()).inserted, n);
      }
      const u64 before = t.capacity(), bytes = t.bytes();
      ground.memory.refuse_after(allocations);
      ground.memory.guarded([&] {
        if (doubles) {
          try {
            t.double_subtable(space);
            done = true;
          } catch (const out_of_memory&) {
          }
        } else {
          done = t.halve_subtable(space);
        }
      });
      ground.memory.refuse_after(faulty::never);
      EXPECT_EQ(done, !ground.memory.refused());
      EXPECT_TRUE(done || (t.capacity() == before && t.bytes() == bytes));
      EXPECT_EQ(ground.memory.allocated(), t.bytes());
      expect_holds(t, space, keys, others);
    }
  }
}

// Erases halve subtables, but never below the reserved capacity.
TEST(dynamic, erases_leave_what_was_reserved) {
  dynamic_space space;
  using design = dynamic_cuckoo<u32, u32>;
  for (const u64 n : {u64(3'000), scaled(30'000, 9'000)}) {
    const auto keys = numbered_keys(0, n);
    const buffer<u32, dynamic_space> k(space, keys);
    table<design, dynamic_space> t(space, 0, {.seed = run_seed()});
    t.reserve(space, n);
    const u64 reserved = design::capacity_for(n, t.options().load_factor);
    ASSERT_GE(t.capacity(), reserved);
    ASSERT_EQ(t.insert(space, k.span(), k.span()).inserted, n);
    for (u64 left = n; left > 16; left -= left / 2) {
      ASSERT_EQ(t.erase(space, k.span().subspan(left - left / 2, left / 2)), left / 2);
      ASSERT_GE(t.capacity(), reserved) << left - left / 2 << " keys are left";
    }
    t.shrink_to_fit(space);  // gives up the reserved capacity
    EXPECT_LT(t.capacity(), reserved);
  }
}

// Inserts `others` into a table of `held` items, or erases so many, in one call that resizes it repeatedly.
// The memory allows 0, 1, 2, ... allocations until the call needs no more. Returns how many it needs.
template <bool Erases>
u64 expect_resizes_to_lose_nothing(u64 held, u64 others, const table_options& options) {
  SCOPED_TRACE(std::to_string(held) + (Erases ? " less " : " and ") + std::to_string(others));
  const auto all = numbered_keys(0, Erases ? held : held + others), absent = numbered_keys(all.size(), 100);
  for (u64 allocations = 0; allocations < 100; ++allocations) {
    SCOPED_TRACE(std::to_string(allocations) + " allocations");
    dynamic_faulty ground;
    auto& space = ground.space;
    using space_type = std::remove_reference_t<decltype(space)>;
    table<dynamic_cuckoo<u32, u32>, space_type> t(space, 0, options);
    auto there = all, missing = absent;
    {
      const buffer<u32, space_type> k(space, all);
      const buffer<outcome, space_type> became(space, others);
      EXPECT_EQ(t.insert(space, k.first(held), k.first(held)).inserted, held);
      const u64 capacity = t.capacity();
      ground.memory.refuse_after(allocations);
      ground.memory.guarded([&] {
        if constexpr (Erases) {
          EXPECT_EQ(t.erase(space, k.first(others)), others);
          there.erase(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(others));
          missing.insert(missing.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(others));
        } else {
          const auto given = k.span().subspan(held);
          there.resize(held);
          try {
            const insert_report report = t.insert(space, given, given, became.span());
            const auto outcomes = became.to_host();
            for (u64 i = 0; i < others; ++i)
              (outcomes[i] == outcome::inserted ? there : missing).push_back(all[held + i]);
            EXPECT_EQ(report, (insert_report{.inserted = there.size() - held,
                                             .refused = held + others - there.size(),
                                             .restarts = report.restarts}));
          } catch (const out_of_memory&) {
            EXPECT_EQ(t.capacity(), capacity);
            missing.insert(missing.end(), all.begin() + static_cast<std::ptrdiff_t>(held), all.end());
          }
        }
      });
      ground.memory.refuse_after(faulty::never);
      EXPECT_TRUE(ground.memory.refused() || t.capacity() != capacity) << "it was to be resized";
    }
    expect_holds(t, space, there, missing);
    expect_even(t);
    EXPECT_EQ(ground.memory.allocated(), t.bytes());
    {  // with memory the next calls succeed
      const buffer<u32, space_type> k(space, all);
      EXPECT_EQ(t.insert(space, k.span(), k.span()).inserted, all.size() - there.size());
      EXPECT_EQ(t.erase(space, k.span()), all.size());
    }
    if (::testing::Test::HasFailure()) return 0;
    if (!ground.memory.refused()) {
      EXPECT_EQ(there.size(), Erases ? held - others : held + others);
      return allocations;
    }
  }
  ADD_FAILURE() << "it never had memory enough";
  return 0;
}

TEST(dynamic, resizing_by_itself_without_memory_loses_nothing) {
  const table_options narrow = {.seed = run_seed(), .alpha = 0.6, .beta = 0.95};
  // One subtable after the other; then far more items than the capacity, so all move to a new table.
  EXPECT_GE(expect_resizes_to_lose_nothing<false>(2'900, 6'000, narrow), 3U);
  EXPECT_GE(expect_resizes_to_lose_nothing<false>(500, 20'000, {.seed = run_seed()}), 4U);
  EXPECT_GE(expect_resizes_to_lose_nothing<true>(12'000, 6'000, narrow), 2U);
  EXPECT_GE(expect_resizes_to_lose_nothing<true>(12'000, 11'000, narrow), 4U);
}

// An asynchronous insert refuses the items for which it got no scratch to displace others, as insert()
// does.
template <class Design>
void expect_an_async_insert_to_refuse() {
  const u64 n = 20'000;
  const auto keys = numbered_keys(0, n);
  u64 refused = 0;
  bool done = false;
  for (u64 allocations = 0; !done; ++allocations) {
    ASSERT_LT(allocations, 20U);
    dynamic_faulty ground;
    auto& space = ground.space;
    using space_type = std::remove_reference_t<decltype(space)>;
    table<Design, space_type> t(space, n, {.load_factor = 0.9, .seed = run_seed(), .grow = false});
    const buffer<u32, space_type> k(space, keys);
    const buffer<insert_report, space_type> report(space, 1);
    ground.memory.refuse_after(allocations);
    bool threw = false;
    ground.memory.guarded([&] {
      try {
        t.insert_async(space, k.span(), k.span(), report.data());
      } catch (const out_of_memory&) {
        threw = true;
      }
    });
    ground.memory.refuse_after(faulty::never);
    done = !ground.memory.refused();
    if (threw) {
      EXPECT_EQ(t.size(), 0U) << "half a call";
      continue;
    }
    const insert_report r = report.to_host()[0];
    EXPECT_EQ(r.inserted + r.refused, n);
    EXPECT_EQ(r.inserted, t.size());
    if (!done) refused += r.refused;
  }
  EXPECT_GT(refused, 0U) << "no call was short of scratch";
}
TEST(dynamic, an_async_insert_without_scratch_refuses_what_is_left) {
  if (dynamic_space::has_lanes) GTEST_SKIP() << "displacement takes no memory there";
  expect_an_async_insert_to_refuse<dynamic_cuckoo<u32, u32>>();
  expect_an_async_insert_to_refuse<tiled<u32, u32>>();
}

// Keys and values of given sizes in bytes.
template <u32 Bytes>
using block = std::array<u8, Bytes>;
template <u32 Bytes>
block<Bytes> block_of(u64 x) {
  block<Bytes> b{};
  for (u32 i = 0; i < Bytes; ++i) b[i] = static_cast<u8>(mix64(x + i / 8) >> 8 * (i % 8));
  return b;
}
struct add_bytes {
  template <class Value>
  TILEHASH_FN Value operator()(const Value& a, const Value& b) const {
    Value c = a;
    auto* const to = reinterpret_cast<unsigned char*>(&c);
    const auto* const with = reinterpret_cast<const unsigned char*>(&b);
    for (u32 i = 0; i < sizeof(Value); ++i) to[i] = static_cast<unsigned char>(to[i] + with[i]);
    return c;
  }
};
template <u32 KeyBytes, u32 ValueBytes,
          class Table = dynamic_map<block<KeyBytes>, block<ValueBytes>, dynamic_space>>
void expect_values_of_any_size(dynamic_space& space) {
  SCOPED_TRACE(std::to_string(KeyBytes) + " and " + std::to_string(ValueBytes) + " bytes");
  using key = block<KeyBytes>;
  using value = block<ValueBytes>;
  const u64 n = KeyBytes == 1 ? 256 : scaled(3'000, 700);
  std::vector<key> keys;
  std::vector<value> values, twice;
  for (u64 i = 0; i < n; ++i) {
    keys.push_back(KeyBytes == 1 ? key{static_cast<u8>(i)} : block_of<KeyBytes>(KeyBytes < 3 ? i << 8 : i));
    if constexpr (KeyBytes == 2) keys.back() = {static_cast<u8>(i), static_cast<u8>(i >> 8)};
    values.push_back(block_of<ValueBytes>(i + 99));
    twice.push_back(add_bytes{}(values.back(), values.back()));
  }
  const buffer<key, dynamic_space> k(space, keys);
  const buffer<value, dynamic_space> v(space, values), out(space, n);
  Table t(space);
  ASSERT_EQ(t.insert(space, k.span(), v.span()).inserted, n);
  ASSERT_EQ(t.insert_or_apply(space, k.span(), v.span(), add_bytes{}).present, n);
  t.find(space, k.span(), out.span());
  EXPECT_EQ(std::memcmp(out.to_host().data(), twice.data(), n * sizeof(value)), 0);
  ASSERT_EQ(t.insert_or_assign(space, k.span(), v.span()).present, n);
  ASSERT_EQ(t.erase(space, k.first(n / 2)), n / 2);
  t.rehash(space, 0);
  ASSERT_EQ(t.size(), n - n / 2);
  t.find(space, k.span(), out.span());
  for (u64 i = 0; i < n / 2; ++i) values[i] = value{};
  EXPECT_EQ(std::memcmp(out.to_host().data(), values.data(), n * sizeof(value)), 0);
}

TEST(dynamic, keys_and_values_of_any_size) {
  dynamic_space space;
  expect_values_of_any_size<128, 128>(space);  // keys in records
#if !TILEHASH_ONLY_READ
  expect_values_of_any_size<4, 1>(space);
  expect_values_of_any_size<16, 128>(space);
#endif
#if !TILEHASH_FEW_TYPES
  expect_values_of_any_size<8, 3>(space);
  expect_values_of_any_size<17, 1>(space);
  expect_values_of_any_size<32, 8>(space);
  expect_values_of_any_size<1, 40, table<dynamic_cuckoo<block<1>, block<40>, 3, 2>, dynamic_space>>(space);
  expect_values_of_any_size<2, 2>(space);
  expect_values_of_any_size<12, 16>(space);
#endif
}

// Keys in records: the table of ids resizes by itself, the records only on request.
TEST(dynamic, wide_keys_give_memory_back) {
  dynamic_space space;
  using key = block<32>;
  const u64 n = scaled(6'000, 2'000);
  std::vector<key> keys;
  for (u64 i = 0; i < n; ++i) keys.push_back(block_of<32>(4 * i));
  const buffer<key, dynamic_space> k(space, keys);
  const buffer<u32, dynamic_space> v(space, numbered_keys(0, n)), out(space, n);
  dynamic_map<key, u32, dynamic_space> t(space, 4 * n);
  ASSERT_EQ(t.insert(space, k.span(), v.span()).inserted, n);
  const u64 bytes = t.bytes();
  t.shrink_to_fit(space);
  EXPECT_LT(t.bytes(), bytes / 2);
  ASSERT_EQ(t.erase(space, k.first(n - n / 8)), n - n / 8);
  EXPECT_TRUE(t.load_factor() >= t.options().alpha || t.capacity() <= 127 * 3 * 8) << t.load_factor();
  t.find(space, k.span(), out.span());
  const auto got = out.to_host(), given = v.to_host();
  for (u64 i = 0; i < n; ++i) ASSERT_EQ(got[i], i < n - n / 8 ? 0 : given[i]) << i;
  ASSERT_EQ(t.insert(space, k.span(), v.span()).inserted, n - n / 8);
  t.find(space, k.span(), out.span());
  EXPECT_EQ(out.to_host(), given);
}

TEST(dynamic, refuses_bounds_that_cannot_be_kept) {
  dynamic_space space;
  const auto made = [&](double alpha, double beta) {
    table<dynamic_cuckoo<u32, u32>, dynamic_space> t(space, 0, {.alpha = alpha, .beta = beta});
  };
  EXPECT_NO_THROW(made(0.4, 0.9));
  EXPECT_NO_THROW(made(0.67, 0.9));
  for (const auto& [alpha, beta] :
       {std::pair{0.675, 0.9}, std::pair{0.9, 0.9}, std::pair{0.0, 0.9}, std::pair{-0.1, 0.9},
        std::pair{1.0, 0.9}, std::pair{0.4, 1.0}, std::pair{0.4, 0.0}, std::pair{0.4, 1.5},
        std::pair{0.4, std::nan("")}, std::pair{std::nan(""), 0.9}}) {
    EXPECT_THROW(made(alpha, beta), invalid_argument) << alpha << " " << beta;
  }
}

// ---- filled region by region (designs/dynamic_cuckoo/region_build.hpp) ----

// Every eleventh item repeats the key of another, and the first key belongs in a sentinel cell. The call
// asks for no outcomes; the different keys fill 0.96 of the table's slots.
template <class Value, u32 Subtables, u32 Choices>
void expect_filled_by_regions(dynamic_space& space, u64 n, bool in_all_ways = true) {
  SCOPED_TRACE(std::to_string(n) + " items, values of " + std::to_string(sizeof(Value)) + " bytes, " +
               std::to_string(Subtables) + " subtables");
  const u64 different = n - n / 11;
  std::vector<u32> keys(n);
  std::vector<Value> values(n);
  std::vector<std::array<u64, 2>> given(different);  // numbers of the items that have the key
  for (u64 i = 0; i < n; ++i) {
    const u64 number = i < different ? i : (i - different) * 10;
    keys[i] = number == 0 ? ~0U : mix32(static_cast<u32>(number));
    std::memset(static_cast<void*>(&values[i]), static_cast<int>(mix32(static_cast<u32>(i)) & 0xff),
                sizeof(Value));
    given[number][i < different ? 0 : 1] = i;
    if (i < different) given[number][1] = i;
  }
  const buffer<u32, dynamic_space> k(space, keys);
  const buffer<Value, dynamic_space> v(space, values), out(space, different);
  for (const bool builds : {false, true}) {
    if (builds && !in_all_ways) break;
    table<dynamic_cuckoo<u32, Value, Subtables, Choices>, dynamic_space> t(
        space, different, {.load_factor = 0.96, .seed = run_seed(), .grow = builds});
    const insert_report report =
        builds ? t.build(space, k.span(), v.span()) : t.insert(space, k.span(), v.span());
    EXPECT_EQ(report, (insert_report{.inserted = different, .present = n - different}));
    const buffer<bool, dynamic_space> found(space, different);
    for (const bool moved : {false, true}) {  // by regions again
      if (moved && !in_all_ways) break;
      if (moved) t.rehash(space, different);
      ASSERT_EQ(t.size(), different);
      t.find(space, k.first(different), out.span(), found.span());
      const auto values_out = out.to_host();
      const auto there = found.to_host();
      for (u64 i = 0; i < different; ++i) {
        ASSERT_TRUE(there[i]) << i;
        ASSERT_TRUE(std::memcmp(&values_out[i], &values[given[i][0]], sizeof(Value)) == 0 ||
                    std::memcmp(&values_out[i], &values[given[i][1]], sizeof(Value)) == 0)
            << i;
      }
    }
    EXPECT_EQ(t.insert(space, k.span(), v.span()).inserted, 0U);
    EXPECT_EQ(t.erase(space, k.span()), different);
  }
}

TEST(dynamic, as_many_items_as_pay_on_a_gpu_go_by_regions) {
  if constexpr (dynamic_space::has_lanes) {
    dynamic_space space;
    expect_filled_by_regions<u32, 3, 3>(space, 4'000'000, !small_sizes());
  } else {
    GTEST_SKIP() << "on a CPU fewer pay";
  }
}
TEST(dynamic, many_items_go_by_regions) {
  if (dynamic_space::has_lanes && small_sizes()) GTEST_SKIP() << "minutes under compute-sanitizer";
  dynamic_space space;
  expect_filled_by_regions<u32, 3, 3>(space, 200'000);
#if !TILEHASH_ONLY_READ
  expect_filled_by_regions<block<24>, 2, 2>(space, 90'000);
#endif
#if !TILEHASH_FEW_TYPES
  expect_filled_by_regions<u8, 8, 2>(space, 60'000);
#endif
}

// These cases do not suit regions: NaNs are refused, and one key has more copies than a bin and the list of
// remaining items can hold.
TEST(dynamic, odd_items_go_by_regions) {
  dynamic_space space;
  const u64 n = 150'000;
  std::vector<float> keys(n);
  std::vector<u32> values(n, 7);
  for (u64 i = 0; i < n; ++i)
    keys[i] = i % 3 == 0 ? 1.5F : i % 3 == 1 ? std::nanf("") : static_cast<float>(i);
  const buffer<float, dynamic_space> k(space, keys);
  const buffer<u32, dynamic_space> v(space, values);
  for (const bool grows : {false, true}) {
    table<dynamic_cuckoo<float, u32>, dynamic_space> t(space, n, {.seed = run_seed(), .grow = grows});
    const insert_report report = t.insert(space, k.span(), v.span());
    EXPECT_EQ(report, (insert_report{.inserted = n / 3 + 1, .present = n / 3 - 1, .refused = n / 3}));
    EXPECT_EQ(t.size(), n / 3 + 1);
  }
}

// A table that grows leaves its new slots to the regions to write, also those of a region without items.
TEST(dynamic, a_region_without_items_is_empty) {
  if (dynamic_space::has_lanes && small_sizes()) GTEST_SKIP() << "minutes under compute-sanitizer";
  dynamic_space space;
  const u64 n = dynamic_space::has_lanes ? 4'000'000 : 400'000;
  const table_options options{.seed = run_seed()};
  const auto design = table<dynamic_cuckoo<u32, u32>, dynamic_space>(space, n, options).view().design;
  ASSERT_GE(design.regions(), 8U);
  std::vector<u32> keys, others;
  for (u32 number = 0; keys.size() < n; ++number) {
    const u32 key = mix32(number);
    (design.region_of(key) == 0 ? others : keys).push_back(key);
  }
  table<dynamic_cuckoo<u32, u32>, dynamic_space> t(space, 0, options);
  const buffer<u32, dynamic_space> k(space, keys);
  EXPECT_EQ(t.insert(space, k.span(), k.span()).inserted, n);
  ASSERT_EQ(t.view().design.regions(), design.regions());
  const buffer<u32, dynamic_space> all(space, t.capacity()), values(space, t.capacity());
  EXPECT_EQ(t.retrieve_all(space, all.span(), values.span()), n);
  expect_holds(t, space, keys, others);
}

// One key occurs `copies` times, which exceeds the capacity of its region's bin. The table is made for
// `room` items.
template <class Design>
void expect_that_filling_loses_nothing(u64 n, u64 copies, u64 capacity) {
  SCOPED_TRACE(std::string(Design::name) + ", " + std::to_string(n) + " items");
  const auto keys = numbered_keys(0, n), others = numbered_keys(n, 100);
  auto given = keys;
  given.insert(given.end(), copies, keys[0]);
  bool done = false;
  for (u64 allocations = scaled(0, run_seed() % 2); !done; allocations += scaled(1, 2)) {
    ASSERT_LT(allocations, 30U);
    dynamic_faulty ground;
    auto& space = ground.space;
    using space_type = std::remove_reference_t<decltype(space)>;
    table<Design, space_type> t(space, capacity, {.seed = run_seed()});
    {
      const buffer<u32, space_type> k(space, given);
      std::optional<u64> refused;
      ground.memory.refuse_after(allocations);
      ground.memory.guarded([&] {
        try {
          const insert_report report = t.insert(space, k.span(), k.span());
          EXPECT_EQ(report.inserted + report.present + report.refused, given.size());
          EXPECT_LE(report.inserted + report.refused, given.size());
          EXPECT_GE(report.inserted + report.refused, n);
          EXPECT_EQ(report.inserted, t.size());
          refused = report.refused;
          done = report.refused == 0 && !ground.memory.refused();
        } catch (const out_of_memory&) {
          EXPECT_EQ(t.size(), 0U);
        }
      });
      ground.memory.refuse_after(faulty::never);
      const buffer<bool, space_type> found(space, given.size());
      t.contains(space, k.span(), found.span());
      const auto there = found.to_host();
      EXPECT_TRUE(!refused || *refused == static_cast<u64>(std::ranges::count(there, u8(0))))
          << "items are refused whose keys are there, or others are not there";
      EXPECT_EQ(t.insert(space, k.span(), k.span()).refused, 0U);
    }
    expect_holds(t, space, keys, others);
    EXPECT_EQ(ground.memory.allocated(), t.bytes());
  }
}
TEST(dynamic, filling_by_regions_without_memory_loses_nothing) {
  using dynamic = dynamic_cuckoo<u32, u32>;
  expect_that_filling_loses_nothing<dynamic>(40'000, 0, 40'000);
  // More items remain than the list can hold. Then windows begin with all of them, and get no memory for
  // that.
  expect_that_filling_loses_nothing<dynamic>(60'000, 30'000, 90'000);
  expect_that_filling_loses_nothing<tiled<u32, u32>>(60'000, 30'000, 90'000);
  // The remaining items need pending bits of their own, and get no memory for them.
  if (!small_sizes()) expect_that_filling_loses_nothing<dynamic>(600'000, 20'500, 600'000);
}

TEST(dynamic, mixed_batches) {
  dynamic_space space;
  table<dynamic_cuckoo<u32, u32>, dynamic_space> t(space);
  const std::vector<u32> keys = {7, 7, 7, 8, 8, 9, 10}, values = {1, 2, 0, 5, 0, 6, 0};
  const std::vector<operation> ops = {operation::insert, operation::insert, operation::erase,
                                      operation::insert, operation::find,   operation::insert_or_assign,
                                      operation::erase};
  const buffer<u32, dynamic_space> k(space, keys), v(space, values), out(space, std::vector<u32>(7, 42));
  const buffer<operation, dynamic_space> o(space, ops);
  const buffer<bool, dynamic_space> found(space, 7);
  const auto run = [&] { return t.apply(space, o.span(), k.span(), v.span(), out.span(), found.span()); };
  // Into an empty table: 7 is absent for the erase and is inserted once; 8 is not found yet.
  apply_report r = run();
  EXPECT_EQ(
      r,
      (apply_report{
          .found = 0, .erased = 0, .inserted = {.inserted = 2, .present = 1}, .assigned = {.inserted = 1}}));
  EXPECT_EQ(out.to_host()[4], 0U);
  EXPECT_EQ(out.to_host()[0], 42U) << "only finds are answered";
  // Again: 7 is erased and inserted, 8 is found, 9 is assigned, 10 is absent.
  r = run();
  EXPECT_EQ(
      r,
      (apply_report{
          .found = 1, .erased = 1, .inserted = {.inserted = 1, .present = 2}, .assigned = {.present = 1}}));
  EXPECT_EQ(out.to_host()[4], 5U);
  EXPECT_EQ(t.size(), 3U);
  // Empty arrays, and arrays of wrong sizes.
  EXPECT_EQ(t.apply(space, {}, {}, {}, {}, {}), apply_report{});
  EXPECT_THROW(std::ignore = t.apply(space, o.span(), k.first(3), v.span(), out.span(), found.span()),
               invalid_argument);
  EXPECT_THROW(std::ignore = t.apply(space, o.span(), k.span(), v.first(3), out.span(), found.span()),
               invalid_argument);
  EXPECT_THROW(std::ignore = t.apply(space, o.span(), k.span(), {}, out.span(), found.span()),
               invalid_argument);
  EXPECT_THROW(std::ignore = t.apply(space, o.span(), k.span(), v.span(), {}, {}), invalid_argument);
  EXPECT_EQ(t.size(), 3U);
}

}  // namespace tilehash::contract
