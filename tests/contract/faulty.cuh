// SPDX-License-Identifier: Apache-2.0
// The same of a GPU, shaped as CCCL's resources are.
#pragma once

#include <cuda_runtime.h>

#include <contract/faulty.hpp>

namespace tilehash::contract {

class faulty_device : public faulty {
 public:
  void* allocate(cudaStream_t stream, std::size_t bytes, std::size_t /*alignment*/) {
    take(bytes);
    void* p = nullptr;
    if (cudaMallocAsync(&p, bytes, stream) != cudaSuccess) {
      give(bytes);
      throw std::bad_alloc();
    }
    cudaMemsetAsync(p, rubbish, bytes, stream);
    return p;
  }
  void deallocate(cudaStream_t stream, void* p, std::size_t bytes, std::size_t /*alignment*/) {
    give(bytes);
    cudaFreeAsync(p, stream);
  }
};

}  // namespace tilehash::contract
