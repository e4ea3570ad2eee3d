#include <atomic>
#include <functional>
#include <numeric>
#include <thread>

#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct view_space : cpu {
  view_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/view.hpp>

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
// What retrieve_all() writes is bounded by its arrays and not by what it believes the size to be: here a view
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
}  // namespace tilehash::contract
