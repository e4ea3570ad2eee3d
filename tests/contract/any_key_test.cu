#include <gtest/gtest.h>

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
