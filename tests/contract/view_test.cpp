// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct view_space : cpu {
  view_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/view.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/engine/subtables.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, views, view_designs);

// Const verbs may be called at the same time: none of them moves the count that a view or a call without a
// wait has left in the table's memory.
TEST(const_verbs, count_at_the_same_time_what_views_have_changed) {
  constexpr u32 n = 100;
  for (const bool by_view : {true, false}) {
    view_space space;
    std::vector<u32> keys(n);
    std::iota(keys.begin(), keys.end(), 0U);
    table<tiled<u32, u32>, view_space> t(space, n, {.grow = false});
    insert_report report;
    if (by_view) {
      const auto view = t.mutable_view(space);
      for (const u32 key : keys) ASSERT_EQ(view.insert(key, key), outcome::inserted);
    } else {
      t.insert_async(space, keys, keys, &report);
    }
    std::atomic<u32> ready = 0, wrong = 0;
    const auto ask = [&] {
      std::vector<u32> k(n), v(n);
      for (++ready; ready < 2;) std::this_thread::yield();
      wrong += t.size() != n;
      wrong += t.empty();
      wrong += t.clone(space).size() != n;
      wrong += t.retrieve_all(space, k, v) != n;
      std::atomic<u32> met = 0;
      t.for_each(space, [&](u32, u32) { ++met; });
      wrong += met != n;
    };
    std::thread other(ask);
    ask();
    other.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(t.size(), n);
  }
}
// The writes of retrieve_all() are bounded by its arrays, and not by the size that it assumes: here a view
// puts keys in between the two.
TEST(retrieve_all, writes_nothing_behind_its_arrays) {
  struct late : view_space {
    std::function<void()> before_copy;
    void fill(u64* at, u64 n, u64 value) {
      if (auto change = std::exchange(before_copy, nullptr)) change();
      view_space::fill(at, n, value);
    }
    using view_space::fill;
  };
  late space;
  table<tiled<u32, u32>, late> t(space, 100);
  const auto view = t.mutable_view(space);
  for (u32 key = 0; key < 10; ++key) ASSERT_EQ(view.insert(key, key), outcome::inserted);
  std::vector<u32> keys(40, 777), values(40, 777);
  space.before_copy = [&] {
    for (u32 key = 10; key < 20; ++key) ASSERT_EQ(view.insert(key, key), outcome::inserted);
  };
  EXPECT_THROW(
      static_cast<void>(t.retrieve_all(space, std::span(keys).first(10), std::span(values).first(10))),
      invalid_argument);
  for (u64 i = 10; i < keys.size(); ++i) {
    ASSERT_EQ(keys[i], 777U);
    ASSERT_EQ(values[i], 777U);
  }
  EXPECT_EQ(t.size(), 20U);
  EXPECT_EQ(t.retrieve_all(space, keys, values), 20U);
}

// ---- ops that throw ----
template <class Design>
class throwing_through_a_view : public ::testing::Test {};
using thrown_through = ::testing::Types<tiled<u32, u32>, horton<u32, u32>, linear_probing<u32, u64>>;
TYPED_TEST_SUITE(throwing_through_a_view, thrown_through);

// The thread that threw has changed nothing with that item; what the others do stays.
TYPED_TEST(throwing_through_a_view, leaves_the_item_as_it_was) {
  using value = typename TypeParam::mapped_type;
  const u32 n = 2'000, threads = 3;
  cpu space(2);
  table<TypeParam, cpu> t(space, n,
                          {.load_factor = 0.1, .seed = 7, .grow = false});  // a view moves no other key
  auto view = t.mutable_view(space);
  std::atomic<u64> thrown = 0, applied = 0;
  std::vector<std::thread> all;
  for (u32 i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (u32 key = 0; key < n; ++key) {
        const auto op = [&](value a, value b) {
          if (key % 3 == 0) throw key;
          return a + b;
        };
        try {
          applied += view.insert_or_apply(~key, value(1), op) != outcome::refused;
        } catch (const u32) {
          ++thrown;
        }
      }
    });
  }
  for (auto& thread : all) thread.join();
  EXPECT_EQ(thrown, (threads - 1) * ((n + 2) / 3));
  EXPECT_EQ(t.size(), n);
  for (u32 key = 0; key < n; ++key) ASSERT_EQ(t.at(~key), value(key % 3 == 0 ? 1 : threads)) << key;
}

// A call that does not wait throws at once on a CPU, and writes no report.
template <class Table>
void throw_without_waiting() {
  const u32 n = 10'000, held = n / 2;
  cpu space(2);
  std::vector<u32> keys(n), out(n);
  for (u32 i = 0; i < n; ++i) keys[i] = mix32(i);
  const std::vector<u32> ones(n, 1);
  Table t(space, n, {.load_factor = 0.7, .grow = false});
  insert_report report, untouched;
  t.insert_async(space, std::span(keys).first(held), std::span(ones).first(held), &report);
  std::atomic<u32> calls = 0;
  const auto op = [&](u32 a, u32 b) {
    if (++calls == held / 2) throw calls.load();
    return a + b;
  };
  EXPECT_THROW(t.insert_or_apply_async(space, keys, ones, op, &untouched), u32);
  EXPECT_EQ(untouched, insert_report{});
  t.find_or(space, keys, out, 0);
  EXPECT_EQ(std::count(out.begin(), out.begin() + held, 0U), 0);
  EXPECT_EQ(t.size(), n - static_cast<u64>(std::ranges::count(out, 0U)));
  const u64 before = t.size();
  t.insert_or_apply_async(space, keys, ones, op, &report);
  EXPECT_EQ(report, (insert_report{.inserted = n - before, .present = before}));
  EXPECT_EQ(t.size(), n);
}
TEST(an_op_that_throws, in_a_call_that_does_not_wait) {
  throw_without_waiting<table<tiled<u32, u32>, cpu>>();
  throw_without_waiting<table<bucketed_cuckoo<u32, u32>, cpu>>();
  throw_without_waiting<table<dynamic_cuckoo<u32, u32>, cpu>>();
}
}  // namespace tilehash::contract
