// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda/std/array>
#include <cuda/std/functional>
#include <cuda/std/span>

#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using key_space = tilehash::cuda;

template <class Body>
__global__ void own_kernel(u64 n, Body body) {
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) body(i);
}
template <class Body>
void in_own_loop(key_space& space, u64 n, const Body& body) {
  own_kernel<<<static_cast<unsigned>((n + 127) / 128), 128, 0, space.stream()>>>(n, body);
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
}
}  // namespace tilehash::contract

#include <contract/any_key.hpp>

namespace tilehash::contract {
// CUDA's own types: numbers of 16 bits compare by value as others do, and what refers elsewhere is refused.
static_assert(key_like<__half> && detail::has_nan<__half> && detail::packed_bytes<__half> == 2);
static_assert(key_like<__nv_bfloat16> && detail::has_nan<__nv_bfloat16>);
static_assert(key_like<::cuda::std::array<char, 16>> && !key_like<::cuda::std::span<int>>);
static_assert(!key_like<::cuda::std::reference_wrapper<int>>);
}  // namespace tilehash::contract
