// Tables of many items can be filled to a load factor of 0.95 without growing, whatever the width of their
// words.
#include <gtest/gtest.h>

#include <algorithm>
#include <contract/random.hpp>
#include <vector>

#include <tilehash/designs/tiled.hpp>
#include <tilehash/tilehash.hpp>

namespace tilehash {
namespace {

template <class Design>
class loads : public ::testing::Test {};
using maps = ::testing::Types<bucketed_cuckoo<u32, u32>, tiled<u32, u32>, tiled<u64, u32>, tiled<u64, u64>>;
TYPED_TEST_SUITE(loads, maps);

TYPED_TEST(loads, are_reached_without_growth) {
  using key = typename TypeParam::key_type;
  using value = typename TypeParam::mapped_type;
  const u64 n = contract::scaled(1'000'000, 50'000), seed = contract::run_seed();
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(seed));
  std::vector<key> keys(n);
  std::vector<value> values(n), found(n);
  for (u64 i = 0; i < n; ++i) {  // all different: the mixers are bijections
    keys[i] = sizeof(key) == 4 ? static_cast<key>(mix32(static_cast<u32>(i ^ seed)))
                               : static_cast<key>(mix64(i ^ seed));
    values[i] = static_cast<value>(i);
  }
  const std::span<const key> k = keys;
  const std::span<const value> v = values;
  cpu space(2);
  const auto judge = [&](table<TypeParam, cpu>& t, const insert_report& report, u64 items) {
    EXPECT_EQ(report, (insert_report{.inserted = items}));  // none refused, no restart
    EXPECT_EQ(t.size(), n);
    EXPECT_GT(t.load_factor(), 0.94);
    t.find(space, k, found);
    EXPECT_TRUE(found == values);
  };
  table<TypeParam, cpu> built(space, 0, {.load_factor = 0.95, .seed = seed});
  judge(built, built.build(space, k, v), n);
  table<TypeParam, cpu> filled(space, n, {.load_factor = 0.95, .seed = seed});
  EXPECT_EQ(filled.insert(space, k.first(1), v.first(1)).inserted, 1U);  // what follows is a merge
  judge(filled, filled.insert(space, k.subspan(1), v.subspan(1)), n - 1);
  table<TypeParam, cpu> one_by_one(space, n, {.load_factor = 0.95, .seed = seed});
  std::vector<outcome> outcomes(n);
  judge(one_by_one, one_by_one.insert(space, k, v, outcomes), n);
  EXPECT_EQ(static_cast<u64>(std::ranges::count(outcomes, outcome::inserted)), n);
}

// Whatever the hash function and the keys.
TYPED_TEST(loads, are_reached_by_a_thousand_builds) {
  using key = typename TypeParam::key_type;
  using value = typename TypeParam::mapped_type;
  const u64 n = contract::scaled(40'000, 10'000), builds = contract::scaled(1'000, 10);
  const u64 seed = contract::run_seed();
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(seed));
  std::vector<key> keys(n);
  const std::vector<value> values(n);
  cpu space(2);
  u64 not_inserted = 0, restarts = 0;
  for (u64 b = 0; b < builds; ++b) {
    for (u64 i = 0; i < n; ++i) {
      keys[i] = sizeof(key) == 4 ? static_cast<key>(mix32(static_cast<u32>(b * n + i)))
                                 : static_cast<key>(mix64(b * n + i));
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
