// SPDX-License-Identifier: Apache-2.0
// A thousand builds at a load factor of 0.95 on a GPU, and at the highest that the design takes: none refuses
// an item, and none needs another hash function. And tables of so many items that they are built slice by
// slice.
#include <gtest/gtest.h>

#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <vector>

#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/papers/horton/queued_lookup.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/table.hpp>

namespace tilehash {
namespace {

template <class Design>
class cuda_loads : public ::testing::Test {};
using maps = contract::all_or_read<::testing::Types<tiled<u32, u32>, tiled<u64, u32>, tiled<u64, void>,
                                                    bucketed_cuckoo<u64, u32>, horton<u32, u32>>,
                                   ::testing::Types<tiled<u64, void>, horton<u32, u32>>>;
TYPED_TEST_SUITE(cuda_loads, maps);

TYPED_TEST(cuda_loads, are_reached_by_a_thousand_builds) {
  using key = typename TypeParam::key_type;
  using table_type = table<TypeParam, tilehash::cuda>;
  const u64 n = contract::scaled(1'000'000, 10'000), builds = contract::scaled(1'000, 5);
  const u64 seed = contract::run_seed();
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(seed));
  tilehash::cuda space;
  std::vector<key> keys(n);
  const buffer<typename table_type::value_element, tilehash::cuda> values(space, n);
  space.fill(values.data(), n, typename table_type::value_element{});
  buffer<key, tilehash::cuda> k(space, n);
  u64 not_inserted = 0, restarts = 0, missing = 0;
  for (u64 b = 0; b < builds; ++b) {
    if (b % 50 == 0) {  // other keys; in between, only the hash function is another
      for (u64 i = 0; i < n; ++i) {
        keys[i] = contract::spread_key<key>(b * n + i);
      }
      k.copy_from(keys);
    }
    for (const double load : {0.95, TypeParam::max_load_factor}) {
      table_type t(space, 0, {.load_factor = load, .seed = seed + b});
      insert_report report;
      if constexpr (table_type::is_set)
        report = t.build(space, k.span());
      else
        report = t.build(space, k.span(), values.span());
      not_inserted += n - report.inserted;
      restarts += report.restarts;
      missing += n - t.size();
    }
  }
  EXPECT_EQ(not_inserted, 0U);
  EXPECT_EQ(restarts, 0U);
  EXPECT_EQ(missing, 0U);
}

// Half of the keys are absent. A sixth of the lookups of a nearly full table go on to a second bucket.
TEST(cuda_horton, answers_by_queues) {
  const u64 n = contract::scaled(1'000'000, 20'000), seed = contract::run_seed();
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(seed));
  tilehash::cuda space;
  std::vector<u32> numbers(2 * n);
  for (u64 i = 0; i < 2 * n; ++i) numbers[i] = contract::spread_key<u32>(i);
  buffer<u32, tilehash::cuda> keys(space, 2 * n), out(space, 2 * n);
  keys.copy_from(numbers);
  table<horton<u32, u32>, tilehash::cuda> t(space, n, {.load_factor = 0.95, .seed = seed, .grow = false});
  const u64 held = t.insert(space, keys.first(n), keys.first(n)).inserted;
  EXPECT_EQ(held, n);
  for (const u32 rounds : {1U, 4U, 16U}) {
    space.fill(out.data(), 2 * n, u32(0));
    papers::find_by_queues(space, t, keys.data(), 2 * n, out.data(), ~u32(0), rounds);
    const std::vector<u32> got = out.to_host();
    u64 wrong = 0;
    for (u64 i = 0; i < 2 * n; ++i) wrong += got[i] != (i < n ? numbers[i] : ~u32(0));
    EXPECT_EQ(wrong, 0U) << rounds << " rounds";
  }
}

// In each 64 items one has the first key of all, and 16 the key of an earlier one. A value is its key's
// complement.
template <class T>
struct make_many {
  T *keys, *values;
  __device__ void operator()(u64 i) const {
    const u64 number = i % 64 == 1 ? 0 : i % 4 == 2 ? i - 2 : i;
    keys[i] =
        sizeof(T) == 4 ? static_cast<T>(mix32(static_cast<u32>(number))) : static_cast<T>(mix64(number));
    values[i] = static_cast<T>(~keys[i]);
  }
};
template <class T>
struct count_wrong {
  const T *keys, *values;
  const bool* found;
  u64* wrong;
  __device__ void operator()(u64 i) const {
    if (!found[i] || values[i] != static_cast<T>(~keys[i])) detail::fetch_add(wrong, u64(1));
  }
};

template <class T>
void build_many(u64 n, double load_factor) {
  using table_type = table<tiled<T, T>, tilehash::cuda>;
  n = contract::scaled(n, 64 * 157);
  tilehash::cuda space;
  const buffer<T, tilehash::cuda> keys(space, n), values(space, n), out(space, n);
  const buffer<bool, tilehash::cuda> found(space, n);
  const buffer<u64, tilehash::cuda> wrong(space, 1);
  space.for_each(n, make_many<T>{keys.data(), values.data()});
  space.fill(wrong.data(), 1, u64(0));
  table_type t(space, 0, {.load_factor = load_factor, .seed = contract::run_seed()});
  const insert_report report = t.build(space, keys.span(), values.span());
  EXPECT_EQ(report.refused, 0U);
  EXPECT_EQ(report.inserted, n / 64 * 47);
  EXPECT_EQ(t.size(), report.inserted);
  EXPECT_EQ(report.inserted + report.present, n);
  t.find(space, keys.span(), out.span(), found.span());
  space.for_each(n, count_wrong<T>{keys.data(), out.data(), found.data(), wrong.data()});
  EXPECT_EQ(read_one(space, wrong.data()), 0U);
}

TEST(cuda_loads_of_many, are_built_slice_by_slice) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(contract::run_seed()));
  build_many<u32>(u64(64) * 3'125'000, 0.8);
  build_many<u64>(u64(64) * 1'400'000, 0.9);
}

}  // namespace
}  // namespace tilehash
