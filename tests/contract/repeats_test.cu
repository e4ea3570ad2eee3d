// SPDX-License-Identifier: Apache-2.0
// Keys that repeat in one call, on a GPU.
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

}  // namespace
}  // namespace tilehash::contract
