// A thousand builds at a load factor of 0.95 on a GPU: none refuses an item, and none needs another hash
// function.
#include <gtest/gtest.h>

#include <contract/random.hpp>
#include <vector>

#include <tilehash/designs/tiled.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/table.hpp>

namespace tilehash {
namespace {

template <class Design>
class cuda_loads : public ::testing::Test {};
using maps = ::testing::Types<tiled<u32, u32>, tiled<u64, u32>, tiled<u64, void>>;
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
        keys[i] = sizeof(key) == 4 ? static_cast<key>(mix32(static_cast<u32>(b * n + i)))
                                   : static_cast<key>(mix64(b * n + i));
      }
      k.copy_from(keys);
    }
    table_type t(space, 0, {.load_factor = 0.95, .seed = seed + b});
    insert_report report;
    if constexpr (table_type::is_set)
      report = t.build(space, k.span());
    else
      report = t.build(space, k.span(), values.span());
    not_inserted += n - report.inserted;
    restarts += report.restarts;
    missing += n - t.size();
  }
  EXPECT_EQ(not_inserted, 0U);
  EXPECT_EQ(restarts, 0U);
  EXPECT_EQ(missing, 0U);
}

}  // namespace
}  // namespace tilehash
