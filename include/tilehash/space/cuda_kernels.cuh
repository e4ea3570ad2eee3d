// SPDX-License-Identifier: Apache-2.0
// The device code of the space `cuda`: lanes, blocks, and the kernels that call a body on them.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/space/cuda_errors.cuh>
#include <tilehash/space/cuda_tile.cuh>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// One lane of the GPU, the argument of a lane's body: number index() of count() lanes.
struct cuda_lane {
  __device__ __forceinline__ u64 index() const {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
  }
  __device__ __forceinline__ u64 count() const { return static_cast<u64>(gridDim.x) * blockDim.x; }
  template <u32 Width>
  __device__ __forceinline__ cuda_tile<Width> tile() const {
    return {};
  }
  // Adds the number of lanes in which `yes` is true to *counter. For rare events; a collective of the warp.
  __device__ __forceinline__ void tally(u64* counter, bool yes) const {
    const u32 lanes = __ballot_sync(~0U, yes);
    if (lanes != 0 && threadIdx.x % 32 == lowest(lanes))
      fetch_add(counter, static_cast<u64>(count_ones(lanes)));
  }
  // Gives a position in a list, from *length on, to each lane in which `yes` is true, and adds their number
  // to *length. A collective of the warp.
  __device__ __forceinline__ u64 append(u64* length, bool yes) const {
    const u32 lanes = __ballot_sync(~0U, yes);
    if (lanes == 0) return 0;
    const u32 me = threadIdx.x % 32, leader = lowest(lanes);
    u64 base = 0;
    if (me == leader) base = fetch_add(length, static_cast<u64>(count_ones(lanes)));
    base = __shfl_sync(~0U, base, static_cast<int>(leader));
    return base + count_ones(lanes & ((1U << me) - 1));
  }
};

struct cuda_block {
  char* memory;
  __device__ __forceinline__ u64 index() const { return blockIdx.x; }
  __device__ __forceinline__ u64 count() const { return gridDim.x; }
  __device__ __forceinline__ u32 rank() const { return threadIdx.x; }
  __device__ __forceinline__ u32 size() const { return blockDim.x; }
  __device__ __forceinline__ void barrier() const { __syncthreads(); }
  __device__ __forceinline__ cuda_lane lane() const { return {}; }  // this thread's
  template <class T>
  __device__ __forceinline__ T* scratch(u64 at_byte = 0) const {
    return reinterpret_cast<T*>(memory + at_byte);
  }
  template <u32 Width>
  __device__ __forceinline__ cuda_tile<Width> tile() const {
    return {};
  }
};

inline constexpr u32 cuda_block_size = tuning::gpu::lanes_block;

// From sm_90 on a kernel of few blocks is launched early: before the kernel in front of it in the stream has
// ended. Its blocks take what the last blocks of that one leave free, and wait until it has ended. That hides
// most of a launch. A kernel of many blocks is not launched early, as each block would spend time on it; unless its body
// says that its blocks take long.
inline constexpr bool launches_early = tuning::oldest_target >= 900;
// A body may forbid it: a kernel of many items gains nothing, and the wait can cost it registers.
template <class Body>
constexpr bool may_launch_early() {
  if constexpr (requires { Body::launches_early; })
    return launches_early && Body::launches_early;
  else
    return launches_early;
}
template <class Body>
constexpr u32 early_blocks() {
  if constexpr (requires { Body::early_blocks; })
    return Body::early_blocks;
  else
    return tuning::gpu::early_blocks;
}
// Begins every kernel, before it reads or writes anything.
template <class Body>
__device__ __forceinline__ void begin_kernel([[maybe_unused]] bool early) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (may_launch_early<Body>()) {
    if (!early) return;
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
#endif
}

// The number of a body's blocks that should fit a multiprocessor; 1 leaves the registers to the compiler.
template <class Body>
constexpr u32 resident_blocks(u32 threads) {
  if constexpr (requires { Body::resident_blocks; }) {
    const u32 most = tuning::resident_threads(tuning::target) / threads;
    return Body::resident_blocks < most ? Body::resident_blocks : most;
  } else {
    return 1;
  }
}

template <class Body>
__global__ void __launch_bounds__(cuda_block_size, resident_blocks<Body>(cuda_block_size))
    run_lanes(bool early, Body body) {
  begin_kernel<Body>(early);
  body(cuda_lane{});
}

template <class Body>
__global__ void __launch_bounds__(cuda_block_size) run_each(bool early, Body body, u64 n) {
  begin_kernel<Body>(early);
  const u64 i = cuda_lane{}.index();
  if (i < n) body(i);
}

template <class Body>
constexpr u32 largest_block() {
  if constexpr (requires { Body::block_size; })
    return Body::block_size;
  else
    return 1024;  // the most that CUDA launches
}

template <class Body>
__global__ void __launch_bounds__(largest_block<Body>(), resident_blocks<Body>(largest_block<Body>()))
    run_blocks(bool early, Body body) {
  extern __shared__ __align__(16) char scratch[];
  begin_kernel<Body>(early);
  body(cuda_block{scratch});
}

// The kernels that a space has allowed as much scratch as a block can have. It asks the driver once for each, as that
// takes time.
class scratch_permits {
 public:
  // The space's device is the current one, and its blocks can have so many bytes.
  template <class Body>
  void add(u64 bytes) {
    const auto kernel = reinterpret_cast<const void*>(run_blocks<Body>);
    if (std::find(kernels_.begin(), kernels_.end(), kernel) != kernels_.end()) return;
    check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "asking for that much shared memory per block");
    kernels_.push_back(kernel);
  }

 private:
  std::vector<const void*> kernels_;
};

// Starts one of these kernels.
template <class... Parameters>
cudaError_t launch(cudaStream_t stream, void (*kernel)(bool, Parameters...), u32 blocks, u32 threads,
                   u64 scratch_bytes, const std::type_identity_t<Parameters>&... arguments) {
  const bool early = ((may_launch_early<Parameters>() && blocks <= early_blocks<Parameters>()) && ...);
  cudaLaunchAttribute allowed{};
  allowed.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  allowed.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = scratch_bytes;
  config.stream = stream;
  config.attrs = &allowed;
  config.numAttrs = early ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, early, arguments...);
}

template <class T>
struct fill_body {
  T* data;
  T value;
  __device__ void operator()(u64 i) const { data[i] = value; }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
