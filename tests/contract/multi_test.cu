// SPDX-License-Identifier: Apache-2.0
#include <contract/faulty.cuh>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
struct multi_ground : ground<cuda, faulty_device> {
  multi_ground() : ground(cudaStream_t()) {}
};
}  // namespace tilehash::contract

#include <contract/multi.hpp>
