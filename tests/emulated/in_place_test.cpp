// SPDX-License-Identifier: Apache-2.0
// Growth in a table's own memory under the GPU's schedule.
#include <contract/crowded_regions.hpp>
#include <contract/in_place.hpp>
#include <tilehash/designs/tiled.hpp>

#include "emulated.hpp"

namespace tilehash {
namespace {

template <class Design>
class EmulatedInPlace : public ::testing::Test {};
#if TILEHASH_FEW_TYPES
using designs = ::testing::Types<tiled<u64, u64>>;
#else
using designs = ::testing::Types<tiled<u32, u32>, tiled<u64, u64>>;
#endif
TYPED_TEST_SUITE(EmulatedInPlace, designs);

TYPED_TEST(EmulatedInPlace, GrowsAndShrinks) {
  contract::counted<emulated> space({.seed = contract::run_seed()});
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(contract::run_seed()));
  constexpr u64 n = 4 * 2496 * TypeParam::bucket_slots;
  contract::modelled<TypeParam, contract::counted<emulated>> m(space, n, {.seed = contract::known_seed});
  ASSERT_EQ(m.insert(0, n).refused, 0U);
  const u64 bytes = m.tested.bytes();
  space.forget();
  m.tested.reserve(space, n + n / 2);
  EXPECT_LE(space.most(), m.tested.bytes() + bytes / 2) << "in its own memory";
  m.verify(n + n / 4);
  m.tested.shrink_to_fit(space);
  m.verify(n + n / 4);
}

// Otherwise a table that begins with small regions would have very many of them.
TYPED_TEST(EmulatedInPlace, GetsLargerRegions) {
  contract::counted<emulated> space({.seed = contract::run_seed()});
  table<TypeParam, contract::counted<emulated>> t(space, 20'000);
  const u64 before = t.view().design.region_buckets();
  t.reserve(space, 8200 * before * TypeParam::bucket_slots);
  EXPECT_GT(t.view().design.region_buckets(), before);
  EXPECT_LE(t.view().design.regions(), 8192U);
}

TYPED_TEST(EmulatedInPlace, ListsRegionsWithoutPlaces) {
  emulated space({.seed = contract::run_seed(), .lags = true});
  contract::compare_with_matching<TypeParam>(space, 8);
}

}  // namespace
}  // namespace tilehash
