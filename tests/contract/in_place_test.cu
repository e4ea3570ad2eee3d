// SPDX-License-Identifier: Apache-2.0
// Growth in a table's own memory on a GPU: in a resource that resizes, and in the driver's virtual memory.
#include <cuda_runtime.h>

#include <contract/faulty.cuh>
#include <contract/in_place.hpp>
#include <contract/only_read.hpp>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
namespace {

// A resource that resizes, by a copy.
class resizing_device : public resizing<faulty_device> {
 public:
  void* resize(void* p, std::size_t bytes, std::size_t new_bytes, std::size_t alignment,
               cudaStream_t stream) {
    void* const q = allocate(stream, new_bytes, alignment);
    cudaMemcpyAsync(q, p, std::min(bytes, new_bytes), cudaMemcpyDeviceToDevice, stream);
    deallocate(stream, p, bytes, alignment);
    ++resizes;
    return q;
  }
  u64 resizes = 0;
};

template <class Design>
class in_place : public ::testing::Test {
 protected:
  static constexpr u64 items = 5 * 2496 * Design::bucket_slots;
  resizing_device memory;
  cuda space{nullptr, memory};
};
using designs = all_or_read<::testing::Types<tiled<u32, u32>, tiled<u64, u64>, tiled<u32, void>>,
                            ::testing::Types<tiled<u64, u64>>>;
TYPED_TEST_SUITE(in_place, designs);

TYPED_TEST(in_place, right_after_many_growths) {
  for (const u64 each : {u64(63), u64(10'000), 3 * this->items}) {
    const u64 n = each == 63 ? this->items : 20 * this->items;
    grow_from_nothing<TypeParam>(this->space, n, each, each == 10'000 ? 0.9 : 0.8);
  }
  EXPECT_GT(this->memory.resizes, 0U);
}
TYPED_TEST(in_place, calls_in_any_order) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  resize_at_random<TypeParam>(this->space, 2 * this->items, 25, 0.8);
  resize_at_random<TypeParam>(this->space, 10 * this->items, 25, 0.95);
}
TYPED_TEST(in_place, no_memory_leaves_the_table_as_it_was) {
  const u64 n = this->items;
  fail_at_every_allocation<TypeParam>(this->space, this->memory, n, n,
                                      [&](auto& m) { m.tested.reserve(this->space, 2 * n); });
  fail_at_every_allocation<TypeParam>(this->space, this->memory, 2 * n, n,
                                      [&](auto& m) { m.tested.shrink_to_fit(this->space); });
}

// The driver's virtual memory, from 64 MiB on; 0.5 GB here.
TEST(own_memory, grows_and_shrinks_in_place) {
  counted<cuda> space;
  size_t total = 0, large = 0, small = 0;
  for (int round = 0; round < 2; ++round) double_in_little_memory<tiled<u32, u32>>(space, space, 20'000'000);
  double_in_little_memory<tiled<u64, u64>>(space, space, 10'000'000);
  // And is the memory really back?
  modelled<tiled<u32, u32>, counted<cuda>> m(space, 10'000'000, {.seed = known_seed});
  ASSERT_EQ(m.insert(0, 10'000'000).refused, 0U);
  // Other processes take memory of the card meanwhile, so it may need several attempts.
  for (int attempt = 0; attempt < 8 && small <= large + (size_t(1) << 30); ++attempt) {
    m.tested.reserve(space, 200'000'000);
    cudaMemGetInfo(&large, &total);
    m.tested.shrink_to_fit(space);
    cudaMemGetInfo(&small, &total);
  }
  EXPECT_GT(small, large + (size_t(1) << 30));
  m.verify(11'000'000);
}
// Work through another stream finds the table where it is.
TEST(own_memory, is_the_same_for_foreign_streams) {
  cuda home;
  cudaStream_t stream{};
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  {
    cuda foreign(stream);
    modelled<tiled<u32, u32>, cuda> m(home, 10'000'000, {.seed = known_seed});
    ASSERT_EQ(m.insert(0, 10'000'000).refused, 0U);
    m.tested.reserve(foreign, 25'000'000);
    m.verify(12'000'000);
    m.tested.shrink_to_fit(foreign);
    m.verify(12'000'000);
  }
  cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace tilehash::contract
