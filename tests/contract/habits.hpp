// SPDX-License-Identifier: Apache-2.0
// Usage that C++ programmers expect: copies of a table, flags in bytes, the first of equal keys, and on a CPU
// one key at a time. Also tests verbs that are refused memory. `habits_space` is the space under test,
// `habits_memory` its memory resource (faulty.hpp).
// length: one space and its memory; a test for each usage.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <contract/faulty.hpp>
#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/papers/perfect_spatial.hpp>
#include <tilehash/papers/sorted_array.hpp>
#include <tilehash/papers/two_level_cuckoo.hpp>
#include <tilehash/tilehash.hpp>

namespace tilehash::contract {

template <class Design>
class copies : public ::testing::Test {
 protected:
  using space_type = habits_space;
  using table_type = table<Design, space_type>;
  using words = buffer<u32, space_type>;

  static std::vector<u32> numbers(u64 n, u32 from) {
    std::vector<u32> x(n);
    for (u64 i = 0; i < n; ++i) x[i] = mix32(from + static_cast<u32>(i));
    return x;
  }
  // Returns the sum of the found values; an absent key counts as 1.
  u64 sum(const table_type& t, const std::vector<u32>& keys) {
    const words k(space(), keys), out(space(), keys.size());
    t.find_or(space(), k.span(), out.span(), 1);
    u64 all = 0;
    for (const u32 x : out.to_host()) all += x;
    return all;
  }
  space_type& space() { return ground_.space; }
  faulty& memory() { return ground_.memory; }

 private:
  ground<habits_space, habits_memory> ground_;
};

using copied_designs =
    all_or_read<::testing::Types<tiled<u32, u32>, linear_probing<u32, u32>, indexed<u32, u32>,
                                 multi<u32, u32>, papers::two_level_cuckoo<u32, u32>, chained<u32, u32>,
                                 papers::sorted_array<u32, u32>, papers::perfect_spatial<u32, u32>>,
                ::testing::Types<tiled<u32, u32>, indexed<u32, u32>, chained<u32, u32>>>;
TYPED_TEST_SUITE(copies, copied_designs);

TYPED_TEST(copies, equal_and_apart) {
  auto& space = this->space();
  const u64 n = scaled(3'000, 300);
  const auto host = this->numbers(n, 1), others = this->numbers(n, 1u << 20);
  const typename TestFixture::words keys(space, host), other_keys(space, others);
  typename TestFixture::table_type t(space, n);
  ASSERT_EQ(t.build(space, keys.span(), keys.span()).inserted, n);

  auto copy = t.clone(space);
  EXPECT_EQ(copy.size(), n);
  EXPECT_EQ(copy.capacity(), t.capacity());
  EXPECT_EQ(copy.bytes(), t.bytes());
  EXPECT_EQ(copy.options().seed, t.options().seed);
  const u64 all = this->sum(t, host);
  EXPECT_EQ(this->sum(copy, host), all);
  // A change of one does not change the other.
  ASSERT_EQ(copy.build(space, other_keys.span(), other_keys.span()).inserted, n);
  EXPECT_EQ(this->sum(t, host), all);
  t.clear(space);
  EXPECT_EQ(this->sum(copy, host), n);
  EXPECT_NE(this->sum(copy, others), n);
}

TYPED_TEST(copies, of_nothing_and_of_what_was_moved_from) {
  auto& space = this->space();
  typename TestFixture::table_type t(space, 10);
  EXPECT_EQ(t.clone(space).size(), 0U);
  const auto moved = std::move(t);
  EXPECT_EQ(t.clone(space).size(), 0U);  // NOLINT(bugprone-use-after-move): this is what is asked
}

TYPED_TEST(copies, are_all_or_nothing) {
  auto& space = this->space();
  const u64 n = scaled(2'000, 200);
  const auto host = this->numbers(n, 1);
  const typename TestFixture::words keys(space, host);
  typename TestFixture::table_type t(space, n);
  ASSERT_EQ(t.build(space, keys.span(), keys.span()).inserted, n);
  const u64 all = this->sum(t, host), before = this->memory().allocated();
  for (u64 after = 0;; ++after) {
    ASSERT_LT(after, 20U);
    this->memory().refuse_after(after);
    try {
      const auto copy = this->memory().guarded([&] { return t.clone(space); });
      this->memory().refuse_after(faulty::never);
      EXPECT_EQ(this->sum(copy, host), all);
      break;
    } catch (const out_of_memory&) {
      this->memory().refuse_after(faulty::never);
      EXPECT_EQ(this->memory().allocated(), before);
      EXPECT_EQ(this->sum(t, host), all);
    }
  }
}

// After asynchronous calls only the memory of the space has the size.
TEST(copies_of_tables, after_calls_that_did_not_wait) {
  ground<habits_space, habits_memory> here;
  const std::vector<u32> host{3, 5, 7};
  const buffer<u32, habits_space> keys(here.space, host);
  const buffer<insert_report, habits_space> report(here.space, 1);
  table<tiled<u32, u32>, habits_space> t(here.space, 100, {.grow = false});
  t.insert_async(here.space, keys.span(), keys.span(), report.data());
  auto copy = t.clone(here.space);
  EXPECT_EQ(copy.size(), 3U);
  EXPECT_EQ(copy.erase(here.space, keys.span().first(2)), 2U);
  EXPECT_EQ(copy.size(), 1U);
  EXPECT_EQ(t.size(), 3U);
}

// The last kernel of an insert writes its report, even where no kernel had items.
TEST(calls_that_do_not_wait, write_their_report_of_no_items) {
  ground<habits_space, habits_memory> here;
  const insert_report unwritten{.inserted = 9, .present = 9, .refused = 9, .restarts = 9};
  const buffer<insert_report, habits_space> report(here.space, std::vector(3, unwritten));
  table<tiled<u32, u32>, habits_space> t(here.space, 100, {.grow = false});
  t.insert_async(here.space, {}, {}, report.data());
  t.insert_or_apply_async(here.space, {}, {}, op::sum{}, report.data() + 1);
  t.insert_or_assign_async(here.space, {}, {}, report.data() + 2);
  for (const auto& written : report.to_host()) EXPECT_EQ(written, insert_report{});
  EXPECT_EQ(t.size(), 0U);
}

// ---- arrays that are read and written ----
template <class Design>
class answers_over_keys : public copies<Design> {};
TYPED_TEST_SUITE(answers_over_keys, copied_designs);

TYPED_TEST(answers_over_keys, are_those_beside_them) {
  auto& space = this->space();
  const u64 n = scaled(10'000, 600);
  auto host = this->numbers(n, 1);
  const typename TestFixture::words keys(space, host);
  typename TestFixture::table_type t(space, n);
  ASSERT_EQ(t.build(space, keys.span(), keys.span()).inserted, n);
  for (u64 i = 0; i < n; i += 3) host[i] = static_cast<u32>(mix64(i));  // nearly all of these are absent
  const typename TestFixture::words asked(space, host), apart(space, n);
  t.find_or(space, asked.span(), apart.span(), 7);
  t.find_or(space, asked.span(), asked.span(), 7);
  EXPECT_EQ(asked.to_host(), apart.to_host());
  EXPECT_EQ(apart.to_host()[1], host[1]);
}

TEST(arrays_in_place, of_counts_and_flags) {
  ground<habits_space, habits_memory> here;
  auto& space = here.space;
  const std::vector<u32> there{3, 5, 7}, asked{5, 4, 3, 9};
  const buffer<u32, habits_space> keys(space, there), counts(space, asked), values(space, asked);
  const buffer<bool, habits_space> found(space, asked.size());
  map<u32, u32, habits_space> t(space, 3);
  ASSERT_EQ(t.build(space, keys.span(), keys.span()).inserted, 3U);
  t.count(space, counts.span(), counts.span());
  EXPECT_EQ(counts.to_host(), (std::vector<u32>{1, 0, 1, 0}));
  t.find(space, values.span(), values.span(), found.span());
  EXPECT_EQ(values.to_host(), (std::vector<u32>{5, 0, 3, 0}));
  EXPECT_EQ(found.to_host(), (std::vector<u8>{1, 0, 1, 0}));
}

// Ids replace their keys in place, as graph sampling relabels an edge list; or replace the values, or overlap
// in part.
TEST(arrays_in_place, of_ids) {
  ground<habits_space, habits_memory> here;
  auto& space = here.space;
  using table_type = table<indexed<u32, u32>, habits_space>;
  using words = buffer<u32, habits_space>;
  const u64 n = scaled(5'000, 500), different = n / 3;
  std::vector<u32> host(n + 1);
  for (u64 i = 0; i <= n; ++i) host[i] = mix32(static_cast<u32>(mix64(i) % different));
  const std::vector<u32> values_at_first(n, 11);
  for (const bool over_values : {false, true}) {
    for (const u64 later : {u64(0), u64(1)}) {
      SCOPED_TRACE(std::to_string(over_values) + " " + std::to_string(later));
      const words memory(space, host), values(space, values_at_first), known(space, host);
      table_type t(space);
      for (int twice = 0; twice < 2; ++twice) {  // new keys, and then present ones
        space.copy_from_host(memory.data(), host.data(), memory.bytes());
        const auto ids = memory.span().subspan(later, n);
        const auto report = over_values ? t.insert_and_find(space, known.first(n), memory.first(n), ids)
                                        : t.insert_and_find(space, memory.first(n), values.span(), ids);
        EXPECT_EQ(report.inserted, twice == 0 ? t.size() : 0);
        EXPECT_EQ(report.refused, 0U);
        const words beside(space, n);
        t.find_ids(space, known.first(n), beside.span());
        const auto expected = beside.to_host(), in_memory = memory.to_host();
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                               in_memory.begin() + static_cast<std::ptrdiff_t>(later)));
        EXPECT_LT(*std::ranges::max_element(expected), t.size());
      }
      if (over_values) {  // the values as they were before the ids replaced them
        const words out(space, n);
        t.find_or(space, known.first(n), out.span(), 0);
        const auto got = out.to_host();
        for (u64 i = 0; i < n; ++i) ASSERT_TRUE(std::ranges::find(host, got[i]) != host.end());
      }
      // From keys to ids in place, and back.
      const std::vector<u32> keys_at_first(host.begin(), host.end() - 1);
      const words there_and_back(space, keys_at_first);
      t.find_ids(space, there_and_back.span(), there_and_back.span());
      EXPECT_NE(there_and_back.to_host(), keys_at_first);
      t.keys_of(space, there_and_back.span(), there_and_back.span());
      EXPECT_EQ(there_and_back.to_host(), keys_at_first);
    }
  }
}

// A mixed call copies its inputs before it writes.
TEST(arrays_in_place, of_a_mixed_batch) {
  ground<habits_space, habits_memory> here;
  auto& space = here.space;
  using words = buffer<u32, habits_space>;
  const std::vector<operation> what{operation::find, operation::insert, operation::erase, operation::find,
                                    operation::insert_or_assign};
  const std::vector<u32> of{3, 4, 5, 6, 7}, given{0, 40, 0, 0, 70}, there{3, 5, 7};
  const buffer<operation, habits_space> ops(space, what);
  const words first(space, there);
  for (const bool over_keys : {false, true}) {
    const words keys(space, of), values(space, given);
    const buffer<bool, habits_space> found(space, what.size());
    map<u32, u32, habits_space> t(space, 10);
    ASSERT_EQ(t.insert(space, first.span(), first.span()).inserted, 3U);
    const words& out = over_keys ? keys : values;
    const auto report = t.apply(space, ops.span(), keys.span(), values.span(), out.span(), found.span());
    EXPECT_EQ(report.found, 1U);
    EXPECT_EQ(report.erased, 1U);
    EXPECT_EQ(report.inserted.inserted, 1U);
    EXPECT_EQ(report.assigned.present, 1U);
    const std::vector<u32> answers =
        over_keys ? std::vector<u32>{3, 4, 5, 0, 7} : std::vector<u32>{3, 40, 0, 0, 70};
    EXPECT_EQ(out.to_host(), answers);
    const words asked(space, of);
    t.find_or(space, asked.span(), asked.span(), 1);
    EXPECT_EQ(asked.to_host(), (std::vector<u32>{3, 40, 1, 1, 70}));
  }
}

// ---- no memory ----
// At each allocation of a verb: it throws and the table is unchanged, or it reports how many items it
// refused. Present keys stay present, and bytes() accounts for all memory that is kept.
template <class Table>
struct short_of_memory {
  using keys = std::span<const u32>;

  habits_space& space;
  Table& t;
  keys fresh, values;     // of equal length
  insert_report* report;  // in the memory of the space, for asynchronous calls
};
// verb(short_of_memory) returns a report, or nothing where that is in the memory of the space. `replaces`:
// the verb also removes the old items. Each key occurs `copies` times. Returns how often the verb was refused
// memory.
template <class Table, class Verb>
u64 ask_without_memory(const char* name, const Verb& verb, bool grows, bool replaces = false,
                       u64 copies = 1) {
  SCOPED_TRACE(name);
  const u64 fresh = habits_space::has_lanes && TILEHASH_FEW_TYPES ? 100 : copies == 1 ? 20'000 : 8'000;
  const u64 held = fresh / 4;
  const u64 present = replaces ? 0 : held / 2, n = present + fresh;  // keys of the call's items
  std::vector<u32> numbers(held + fresh), items;
  for (u64 i = 0; i < numbers.size(); ++i) numbers[i] = mix32(static_cast<u32>(i));
  for (u64 i = 0; i < n * copies; ++i) items.push_back(numbers[held - present + i % n]);
  for (u64 allocations = 0; allocations < 100; ++allocations) {
    SCOPED_TRACE(std::to_string(allocations) + " allocations");
    ground<habits_space, habits_memory> here;
    auto& space = here.space;
    const buffer<u32, habits_space> all(space, numbers), given(space, items);
    const buffer<insert_report, habits_space> async_report(space, 1);
    const buffer<bool, habits_space> flags(space, numbers.size());
    Table t(space, grows ? held : 2 * n, {.grow = grows});
    const std::span<const u32> k = all.span();
    EXPECT_EQ(t.insert(space, k.first(held), k.first(held)).inserted, held);
    const u64 capacity = t.capacity(), apart = here.memory.allocated() - t.bytes();
    std::optional<insert_report> report;
    bool threw = false;
    here.memory.refuse_after(allocations);
    here.memory.guarded([&] {
      try {
        report = verb(short_of_memory<Table>{space, t, given.span(), given.span(), async_report.data()});
      } catch (const out_of_memory&) {
        threw = true;
      }
    });
    here.memory.refuse_after(faulty::never);
    if (!threw && !report) report = async_report.to_host()[0];
    if (here.memory.allocated() != 0) {  // (the emulated machine has its own memory)
      EXPECT_EQ(here.memory.allocated() - t.bytes(), apart) << "memory is kept, or given back twice";
    }
    if (threw)
      EXPECT_EQ(t.capacity(), capacity);
    else
      EXPECT_EQ(report->inserted + report->present + report->refused, n * copies);
    if (!threw) {
      EXPECT_EQ(report->refused, copies * (fresh - report->inserted)) << "of keys that are there, none";
    }
    const u64 came = threw ? 0 : report->inserted, stayed = replaces && !threw ? 0 : held;
    EXPECT_EQ(t.size(), stayed + came);
    t.contains(space, k, flags.span());
    const auto there = flags.to_host();
    EXPECT_EQ(std::accumulate(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(held), u64(0)),
              stayed);
    EXPECT_EQ(std::accumulate(there.begin() + static_cast<std::ptrdiff_t>(held), there.end(), u64(0)), came);
    if (::testing::Test::HasFailure() || !here.memory.refused()) return allocations;
  }
  ADD_FAILURE() << "it never had memory enough";
  return 0;
}

TEST(without_memory, a_mixed_batch_throws_or_says_what_it_refused) {
  const u64 refused = ask_without_memory<map<u32, u32, habits_space>>(
      "a mixed batch",
      [](auto a) {
        const buffer<operation, habits_space> ops(a.space, a.fresh.size());
        a.space.fill(ops.data(), ops.size(), operation::insert);
        return a.t.apply(a.space, ops.span(), a.fresh, a.values, {}, {}).inserted;
      },
      true);
  EXPECT_GT(refused, 3U);
}

TEST(without_memory, verbs_throw_or_say_what_they_refused) {
  if (habits_space::has_lanes && TILEHASH_FEW_TYPES) GTEST_SKIP() << "takes seconds a verb, lane by lane";
  using table_type = map<u32, u32, habits_space>;
  u64 refused = 0;
  u64 number = 0;
  const auto ask = [&](const char* name, const auto& verb, bool grows, bool replaces = false) {
    if (!is_asked(number++, 3)) return;
    refused += ask_without_memory<table_type>(name, verb, grows, replaces);
  };
  ask(
      "insert", [](auto a) { return a.t.insert(a.space, a.fresh, a.values); }, true);
  ask(
      "insert, first", [](auto a) { return a.t.insert(a.space, a.fresh, a.values, keep::first); }, true);
  ask(
      "build, first", [](auto a) { return a.t.build(a.space, a.fresh, a.values, keep::first); }, true, true);
  ask(
      "assign", [](auto a) { return a.t.insert_or_assign(a.space, a.fresh, a.values); }, true);
  ask(
      "apply", [](auto a) { return a.t.insert_or_apply(a.space, a.fresh, a.values, op::sum{}); }, true);
  ask(
      "count", [](auto a) { return a.t.insert_or_apply(a.space, a.fresh, op::count{}); }, true);
  // The values of copies are combined first, in memory of their own.
  for (const bool grows : {true, false})
    refused += ask_without_memory<table_type>(
        "apply to copies", [](auto a) { return a.t.insert_or_apply(a.space, a.fresh, a.values, op::sum{}); },
        grows, false, 5);
  ask(
      "insert_async",
      [](auto a) {
        a.t.insert_async(a.space, a.fresh, a.values, a.report);
        return std::optional<insert_report>();
      },
      false);
  ask(
      "insert_or_assign_async",
      [](auto a) {
        a.t.insert_or_assign_async(a.space, a.fresh, a.values, a.report);
        return std::optional<insert_report>();
      },
      false);
  ask(
      "insert_or_apply_async",
      [](auto a) {
        a.t.insert_or_apply_async(a.space, a.fresh, a.values, op::sum{}, a.report);
        return std::optional<insert_report>();
      },
      false);
  EXPECT_GT(refused, scaled(20, 3));
  refused = ask_without_memory<table<indexed<u32, u32>, habits_space>>(
      "insert_and_find",
      [](auto a) {
        const buffer<u32, habits_space> ids(a.space, a.fresh.size());
        return a.t.insert_and_find(a.space, a.fresh, a.values, ids.span());
      },
      true);
  EXPECT_GT(refused, 2U);
}

// ---- flags ----
TEST(flags_of_lookups, are_bools_or_bytes) {
  ground<habits_space, habits_memory> here;
  auto& space = here.space;
  const std::vector<u32> host{3, 5}, asked{5, 4, 3};
  const buffer<u32, habits_space> keys(space, host), wanted(space, asked), out(space, 3);
  const buffer<u8, habits_space> bytes(space, 3);
  const buffer<bool, habits_space> bools(space, 3);
  map<u32, u32, habits_space> t(space, 2);
  ASSERT_EQ(t.insert(space, keys.span(), keys.span()).inserted, 2U);
  const std::vector<u8> right{1, 0, 1};
  t.find(space, wanted.span(), out.span(), bytes.span());
  EXPECT_EQ(bytes.to_host(), right);
  t.find(space, wanted.span(), out.span(), bools.span());
  EXPECT_EQ(bools.to_host(), right);
  space.fill(bytes.data(), 3, u8(9));
  t.contains(space, wanted.span(), bytes.span());
  EXPECT_EQ(bytes.to_host(), right);
  EXPECT_THROW(t.contains(space, wanted.span(), bytes.first(2)), invalid_argument);
}

// ---- the first of equal keys ----
template <class Design>
class firsts : public ::testing::Test {
 protected:
  using key = typename Design::key_type;
  using value = typename Design::mapped_type;

  // Keys from a given range; each item has a value of its own where the type has enough values.
  void ask(u64 n, u64 range, bool skewed) {
    SCOPED_TRACE(std::to_string(n) + " items of " + std::to_string(range) + " keys");
    SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
    random_numbers random("firsts");
    ground<habits_space, habits_memory> here;
    auto& space = here.space;
    table<Design, habits_space> inserted(space, 0, {.load_factor = 0.9}), built(space);
    std::unordered_map<key, value> model;
    for (u32 round = 0; round < (TILEHASH_FEW_TYPES ? 1 : 2); ++round) {
      std::vector<key> k(n);
      std::vector<value> v(n);
      for (u64 i = 0; i < n; ++i) {
        u64 which = random() % range;
        if (skewed && random() % 4 != 0) which = random() % (1 + which % 64);
        k[i] = static_cast<key>(which == 0 ? ~u64(0) : which * 0x9e3779b97f4a7c15ULL);
        v[i] = static_cast<value>(random());
      }
      const buffer<key, habits_space> keys(space, k), out_keys(space, n);
      const buffer<value, habits_space> values(space, v), out(space, n);
      const auto check = [&](const auto& t, const auto& expected, const insert_report& report, u64 fresh) {
        EXPECT_EQ(report.inserted, fresh);
        EXPECT_EQ(report.present, n - fresh);
        EXPECT_EQ(report.refused, 0U);
        t.find_or(space, keys.span(), out.span(), value{});
        const auto host = out.to_host();
        u64 wrong = 0;
        for (u64 i = 0; i < n; ++i) wrong += host[i] != expected.at(k[i]);
        EXPECT_EQ(wrong, 0U);
      };
      std::unordered_map<key, value> alone;
      const u64 before = model.size();
      for (u64 i = 0; i < n; ++i) alone.emplace(k[i], v[i]), model.emplace(k[i], v[i]);
      const auto report = inserted.insert(space, keys.span(), values.span(), keep::first);
      check(inserted, model, report, model.size() - before);
      const auto of_build = built.build(space, keys.span(), values.span(), keep::first);
      check(built, alone, of_build, alone.size());
    }
  }
};
#if TILEHASH_FEW_TYPES
using first_designs = ::testing::Types<tiled<u32, u32>>;
#else
using first_designs = ::testing::Types<tiled<u32, u32>, tiled<u64, u64>, linear_probing<u32, u16>>;
#endif
TYPED_TEST_SUITE(firsts, first_designs);

TYPED_TEST(firsts, win_whatever_the_keys) {
  if (habits_space::has_lanes && TILEHASH_FEW_TYPES)
    return this->ask(500, 50, true);  // seconds each, lane by lane
  const u64 large = scaled(60'000, 1'000);
  this->ask(1, 1, false);
  this->ask(2, 1, false);
  this->ask(large, 64 * large, false);  // few repeat: filled in any order, then corrected
  this->ask(large, 4 * large, false);
  this->ask(large, large / 10, true);
}

TEST(first_of_equal_keys, any_is_as_ever) {
  ground<habits_space, habits_memory> here;
  const std::vector<u32> k{7, 7, 7}, v{1, 2, 3};
  const buffer<u32, habits_space> keys(here.space, k), values(here.space, v);
  map<u32, u32, habits_space> t(here.space);
  EXPECT_EQ(t.insert(here.space, keys.span(), values.span(), keep::any).inserted, 1U);
  EXPECT_EQ(t.build(here.space, keys.span(), values.span(), keep::any).present, 2U);
}

}  // namespace tilehash::contract
