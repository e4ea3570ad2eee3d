// SPDX-License-Identifier: Apache-2.0
#include <contract/faulty.cuh>
#include <contract/growth_memory.hpp>
#include <contract/own_stream.cuh>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using dynamic_space = counted<cuda>;
struct dynamic_beside {
  own_stream stream;
  dynamic_space space{stream};
};
struct dynamic_faulty : ground<cuda, faulty_device> {
  dynamic_faulty() : ground(cudaStream_t()) {}
};
}  // namespace tilehash::contract

#include <contract/dynamic.hpp>
