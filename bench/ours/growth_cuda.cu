// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "ours/growth_workload.hpp"

namespace tilehash::bench {
namespace {

// A pool as the space has one, whose memory cannot be resized.
class fixed_pool {
 public:
  fixed_pool() {
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    detail::check_cuda(cudaGetDevice(&props.location.id), "finding a GPU");
    detail::check_cuda(cudaMemPoolCreate(&pool_, &props), "creating a memory pool");
    u64 keep = ~u64(0);
    cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
  }
  fixed_pool(const fixed_pool&) = delete;
  fixed_pool& operator=(const fixed_pool&) = delete;
  ~fixed_pool() { cudaMemPoolDestroy(pool_); }
  void* allocate(cudaStream_t stream, std::size_t bytes, std::size_t /*alignment*/) {
    void* p = nullptr;
    detail::check_cuda(cudaMallocFromPoolAsync(&p, bytes, pool_, stream), "allocating device memory");
    return p;
  }
  void deallocate(cudaStream_t stream, void* p, std::size_t /*bytes*/, std::size_t /*alignment*/) {
    cudaFreeAsync(p, stream);
  }
  // All that is free goes back to the driver: what comes next is new to it.
  void forget() {
    cudaDeviceSynchronize();
    cudaMemPoolTrimTo(pool_, 0);
  }

 private:
  cudaMemPool_t pool_ = nullptr;
};

}  // namespace

void cuda_growth(const growth_case& the_case, const tell_growth& tell) {
  using space_type = metered<cuda>;
  tell(measure_growth<space_type>({.space = "cuda", .growth = "in place", .what = the_case},
                                  [&] { return std::make_unique<space_type>(); }));
  fixed_pool pool;
  tell(measure_growth<space_type>({.space = "cuda", .growth = "second table", .what = the_case}, [&] {
    pool.forget();
    return std::make_unique<space_type>(nullptr, pool);
  }));
}

}  // namespace tilehash::bench
