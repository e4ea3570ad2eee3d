// SPDX-License-Identifier: Apache-2.0
// Tables of many items can be filled to a load factor of 0.95, and to the highest that their design takes,
// without growing, whatever the width of their words.
#include <gtest/gtest.h>

#include <algorithm>
#include <contract/random.hpp>
#include <vector>

#include <tilehash/designs/tiled.hpp>
#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>
#include <tilehash/tilehash.hpp>

namespace tilehash {
namespace {

template <class Design>
class loads : public ::testing::Test {};
#if TILEHASH_FEW_TYPES
using maps = ::testing::Types<bucketed_cuckoo<u32, u32>, tiled<u32, u32>, tiled<u64, u64>>;
#else
using maps = ::testing::Types<bucketed_cuckoo<u32, u32>, bucketed_cuckoo<u64, u32>, tiled<u32, u32>,
                              tiled<u64, u32>, tiled<u64, u64>>;
#endif
TYPED_TEST_SUITE(loads, maps);

TYPED_TEST(loads, are_reached_without_growth) {
  using key = typename TypeParam::key_type;
  using value = typename TypeParam::mapped_type;
  const u64 n = contract::scaled(1'000'000, 50'000), seed = contract::run_seed();
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(seed));
  std::vector<key> keys(n);
  std::vector<value> values(n), found(n);
  for (u64 i = 0; i < n; ++i) {  // all different: the mixers are bijections
    keys[i] = contract::spread_key<key>(i ^ seed);
    values[i] = static_cast<value>(i);
  }
  const std::span<const key> k = keys;
  const std::span<const value> v = values;
  cpu space(2);
  for (const double load : {0.95, TypeParam::max_load_factor}) {
    const table_options options{.load_factor = load, .seed = seed};
    const auto judge = [&](table<TypeParam, cpu>& t, const insert_report& report, u64 items) {
      EXPECT_EQ(report, (insert_report{.inserted = items}));  // none refused, no restart
      EXPECT_EQ(t.size(), n);
      EXPECT_GT(t.load_factor(), load - 0.01);
      t.find(space, k, found);
      EXPECT_TRUE(found == values);
    };
    table<TypeParam, cpu> built(space, 0, options);
    judge(built, built.build(space, k, v), n);
    table<TypeParam, cpu> filled(space, n, options);
    EXPECT_EQ(filled.insert(space, k.first(1), v.first(1)).inserted, 1U);  // what follows is a merge
    judge(filled, filled.insert(space, k.subspan(1), v.subspan(1)), n - 1);
    table<TypeParam, cpu> one_by_one(space, n, options);
    std::vector<outcome> outcomes(n);
    judge(one_by_one, one_by_one.insert(space, k, v, outcomes), n);
    EXPECT_EQ(static_cast<u64>(std::ranges::count(outcomes, outcome::inserted)), n);
  }
}

// Buckets of other sizes than 64 bytes.
template <class Design>
u64 refused_by_shape() {
  const u64 n = contract::scaled(200'000, 20'000), seed = contract::run_seed();
  std::vector<u32> keys(n), found(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(i ^ seed));
  const std::span<const u32> k = keys;
  cpu space(2);
  table<Design, cpu> t(space, n, {.load_factor = Design::max_load_factor, .seed = seed, .grow = false});
  const insert_report report = t.insert(space, k, k);
  EXPECT_EQ(report.present, 0U);
  EXPECT_EQ(t.size(), n - report.refused);
  if (report.refused == 0) {
    t.find(space, k, found);
    EXPECT_TRUE(found == keys);
  }
  return report.refused;
}
TEST(loads, of_all_shapes) {
  EXPECT_LT((refused_by_shape<bucketed_cuckoo<u32, u32, murmur, 1>>()), 200U);  // some ten are meant to be
  EXPECT_LT((refused_by_shape<papers::bucketed_cuckoo_balanced<u32, u32, murmur, 1>>()), 200U);
  EXPECT_EQ((refused_by_shape<bucketed_cuckoo<u32, u32, murmur, 2>>()), 0U);
  EXPECT_EQ((refused_by_shape<papers::bucketed_cuckoo_balanced<u32, u32, murmur, 2>>()), 0U);
  EXPECT_EQ((refused_by_shape<bucketed_cuckoo<u32, u32, murmur, 4>>()), 0U);
  EXPECT_EQ((refused_by_shape<papers::bucketed_cuckoo_balanced<u32, u32, murmur, 4>>()), 0U);
  EXPECT_EQ((refused_by_shape<bucketed_cuckoo<u32, u32, murmur, 16>>()), 0U);
  EXPECT_EQ((refused_by_shape<papers::bucketed_cuckoo_balanced<u32, u32, murmur, 16>>()), 0U);
}

// A load that a design does not support: a table that may grow is made for less, and one that may not refuses it.
TEST(loads, beyond_the_highest) {
  using narrow = tiled<u64, u64>;  // four slots a bucket
  const u64 n = 50'000;
  cpu space(2);
  std::vector<u64> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix64(i);
  const std::span<const u64> k = keys;
  table<narrow, cpu> t(space, n, {.load_factor = 0.98});
  EXPECT_EQ(t.capacity(), narrow::capacity_for(n, 0.96));
  EXPECT_EQ(t.insert(space, k, k).inserted, n);
  EXPECT_EQ(t.capacity(), narrow::capacity_for(n, 0.96));
  EXPECT_EQ(t.build(space, k, k).inserted, n);
  EXPECT_EQ(t.capacity(), narrow::capacity_for(n, 0.96));
  EXPECT_NO_THROW((table<narrow, cpu>(space, n, {.load_factor = 0.96, .grow = false})));
  EXPECT_THROW((table<narrow, cpu>(space, n, {.load_factor = 0.97, .grow = false})), invalid_argument);
  EXPECT_THROW((table<linear_probing<u32, u32>, cpu>(space, n, {.load_factor = 0.96, .grow = false})),
               invalid_argument);
}

// Whatever the hash function and the keys.
TYPED_TEST(loads, are_reached_by_many_builds) {
  using key = typename TypeParam::key_type;
  using value = typename TypeParam::mapped_type;
  const u64 n = contract::scaled(40'000, 10'000),
            builds = contract::large_sizes() ? 1'000 : contract::scaled(250, 60);
  const u64 seed = contract::run_seed();
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(seed));
  std::vector<key> keys(n);
  const std::vector<value> values(n);
  cpu space(2);
  u64 not_inserted = 0, restarts = 0;
  for (u64 b = 0; b < builds; ++b) {
    for (u64 i = 0; i < n; ++i) {
      keys[i] = contract::spread_key<key>(b * n + i);
    }
    table<TypeParam, cpu> t(space, 0, {.load_factor = 0.95, .seed = seed + b});
    const insert_report report = t.build(space, keys, values);
    not_inserted += n - report.inserted;
    restarts += report.restarts;
  }
  EXPECT_EQ(not_inserted, 0U);
  EXPECT_EQ(restarts, 0U);
}

}  // namespace
}  // namespace tilehash
