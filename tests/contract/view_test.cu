// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using view_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/own_stream.cuh>
#include <contract/view.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, views, view_designs);

// As on a CPU (view_test.cpp): const verbs read the count that a view, or a call without a wait, has left.
// Each thread has a space and a stream of its own; size() is asked through the table's.
TEST(const_verbs, count_at_the_same_time_what_views_have_changed) {
  using table_type = table<tiled<u32, u32>, view_space>;
  using view_type = decltype(std::declval<table_type&>().mutable_view(std::declval<view_space&>()));
  constexpr u32 n = 1000;
  std::vector<u32> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0U);
  for (const bool by_view : {true, false}) {
    view_space space;
    const buffer<u32, view_space> keys(space, numbers);
    const buffer<u64, view_space> effects(space, std::vector<u64>{0});
    const buffer<insert_report, view_space> report(space, 1);
    table_type t(space, 4 * n, {.grow = false});  // a view moves no key, so of a fuller table it refuses some
    if (by_view) {
      using change = inserts_by_view<view_type>;
      space.for_each(n, by_threads<change>{{{t.mutable_view(space), keys.data(), n, effects.data()}}});
    } else {
      t.insert_async(space, keys.span(), keys.span(), report.data());
    }
    std::atomic<u32> wrong = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        cudaStream_t stream = nullptr;
        if (cudaStreamCreate(&stream) != cudaSuccess) return void(++wrong);
        {
          view_space own(stream);
          const buffer<u32, view_space> k(own, n), v(own, n);
          for (int round = 0; round < 20; ++round) {
            wrong += t.size() != n;
            wrong += t.empty();
            wrong += t.retrieve_all(own, k.span(), v.span()) != n;
          }
          wrong += t.clone(own).size() != n;
        }
        cudaStreamDestroy(stream);
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(t.size(), n);
  }
}

// Threads insert each key twice. `parted`: a third of them in a branch of their own.
template <class View>
struct insert_twice {
  View view;
  const u64* keys;
  u64 *inserted, *parted_inserted;
  bool parted;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 key = keys[i / 2];
    if (parted && mix64(i) % 3 == 0) {
      if (view.insert(key, key + 1) == outcome::inserted) detail::fetch_add(parted_inserted, u64(1));
    } else if (view.insert(key, key + 1) == outcome::inserted) {
      detail::fetch_add(inserted, u64(1));
    }
  }
};
// Words of 16 bytes, up to a load of 0.95. In the order of their first buckets, all keys of a warp need the same few
// buckets.
TEST(views_of_wide_words, fill_a_table_nearly) {
  using table_type = table<tiled<u64, u64>, view_space>;
  using view_type = decltype(std::declval<table_type&>().mutable_view(std::declval<view_space&>()));
  SCOPED_TRACE(run_seed());
  for (const u32 way : {0U, 1U, 2U, 3U}) {
    const bool in_order = way % 2 != 0, parted = way / 2 != 0;
    view_space space;
    table_type t(space, 20'000, {.load_factor = 0.96, .seed = run_seed(), .grow = false});
    const auto& design = t.view().design;
    const u64 n = design.capacity() * 95 / 100;
    std::vector<u64> numbers(n);
    for (u64 i = 0; i < n; ++i) numbers[i] = spread_key<u64>(run_seed() + i);
    if (in_order) std::ranges::sort(numbers, {}, [&](u64 k) { return design.where(design.locate(k)); });
    const buffer<u64, view_space> keys(space, numbers), values(space, n);
    const buffer<u64, view_space> counts(space, std::vector<u64>(2));
    space.for_each(2 * n, insert_twice<view_type>{t.mutable_view(space), keys.data(), counts.data(),
                                                  counts.data() + 1, parted});
    const auto counted = counts.to_host();
    EXPECT_EQ(counted[0] + counted[1], n);
    EXPECT_EQ(t.size(), n);
    t.find_or(space, keys.span(), values.span(), u64(0));
    const auto found = values.to_host();
    for (u64 i = 0; i < n; ++i) ASSERT_EQ(found[i], numbers[i] + 1);
    EXPECT_EQ(t.erase(space, keys.span()), n);
    EXPECT_EQ(t.size(), 0U);
    t.find_or(space, keys.span(), values.span(), u64(0));
    for (const u64 value : values.to_host()) ASSERT_EQ(value, 0U) << "a key was present twice";
  }
}

template <class View>
struct count_present {
  View view;
  const u32* keys;
  u64* present;
  TILEHASH_FN void operator()(u64 i) const {
    if (view.find(keys[i]).found()) detail::fetch_add(present, u64(1));
  }
};
// A call of few items returns before its kernel has ended. Kernels of another stream, which waits for no other, then
// see what it has done.
TEST(small_calls, are_seen_by_other_streams_when_they_return) {
  using table_type = table<tiled<u32, u32>, view_space>;
  constexpr u32 n = 1000;
  std::vector<u32> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0U);
  view_space space;
  const own_stream stream;
  view_space other(stream);
  const buffer<u32, view_space> keys(space, numbers);
  const buffer<u64, view_space> present(other, 1);
  table_type t(space, n);
  const auto count = [&] {
    other.for_each(n, count_present<table_type::view_type>{t.view(), keys.data(), present.data()});
    return read_one(other, present.data());
  };
  for (int round = 0; round < 200; ++round) {
    other.fill(present.data(), 1, u64(0));
    other.synchronize();
    ASSERT_EQ(t.insert(space, keys.span(), keys.span()).inserted, n);
    ASSERT_EQ(count(), n);
    ASSERT_EQ(t.insert_or_assign(space, keys.span(), keys.span()).present, n);
    ASSERT_EQ(t.erase(space, keys.span()), n);
    ASSERT_EQ(count(), n) << "keys are present that were erased";
  }
}
}  // namespace tilehash::contract
