// SPDX-License-Identifier: Apache-2.0
#include <contract/faulty.cuh>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
struct estimate_ground : ground<tilehash::cuda, faulty_device> {
  estimate_ground() : ground(cudaStream_t()) {}
};
}  // namespace tilehash::contract

#include <contract/estimate.hpp>
