// SPDX-License-Identifier: Apache-2.0
// Keys that repeat in one call, on a GPU.
#include <algorithm>
#include <vector>

#include <contract/repeats.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
namespace {

template <class Design, class Op>
struct repeats_of {
  using design = Design;
  using op_type = Op;
};
template <class Asked>
class CudaRepeats : public ::testing::Test {};
using repeats_asked =
    ::testing::Types<repeats_of<tiled<u32, u32>, op::sum>, repeats_of<tiled<u64, u64>, op::assign>,
                     repeats_of<bucketed_cuckoo<float, double>, op::maximum>>;
TYPED_TEST_SUITE(CudaRepeats, repeats_asked);

TYPED_TEST(CudaRepeats, EveryItemCounts) {
  cuda space;
  for (const u64 n : {u64(140'000), u64(300'001)})  // of one key: not combined, these take seconds
    insert_all_repeats<typename TypeParam::design, typename TypeParam::op_type>(space, n);
}

// So many keys that an empty table combines them while its regions are built (engine/combined_regions.hpp).
TEST(CudaManyKeys, HaveTheSumsOfTheirItems) {
  constexpr u64 n = 16'000'000, keys = 8'000'000;
  cuda space;
  std::vector<u32> all(keys), given(n), values(n), sums(keys);
  for (u64 i = 0; i < keys; ++i) all[i] = static_cast<u32>(i);
  std::vector<bool> came(keys);
  for (u64 i = 0; i < n; ++i) {
    given[i] = i % 100 == 0 ? 7 : static_cast<u32>(mix64(i) % keys);
    values[i] = static_cast<u32>(mix64(i) >> 32) % 64 + 1;
    sums[given[i]] += values[i];
    came[given[i]] = true;
  }
  const u64 different = static_cast<u64>(std::count(came.begin(), came.end(), true));
  const buffer<u32, cuda> a(space, all), k(space, given), v(space, values), out(space, keys);
  for (const u64 made_for : {keys, u64(0)}) {
    SCOPED_TRACE(made_for);
    table<tiled<u32, u32>, cuda> t(space, made_for, {.load_factor = 0.8});
    insert_report report = t.insert_or_apply(space, k.span(), v.span(), op::sum{});
    report.restarts = 0;
    EXPECT_EQ(report, (insert_report{.inserted = different, .present = n - different}));
    t.find_or(space, a.span(), out.span(), 0U);
    EXPECT_TRUE(out.to_host() == sums);
  }
}

}  // namespace
}  // namespace tilehash::contract
