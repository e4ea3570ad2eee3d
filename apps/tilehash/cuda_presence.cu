// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>
#include <tilehash/space/cuda.cuh>

#include "cuda_presence.hpp"

namespace tilehash::app {

std::string why_no_cuda() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return devices > 0 ? "" : "no GPU was found";
}

gpu_facts describe_gpu() {
  int driver = 0;
  detail::check_cuda(cudaDriverGetVersion(&driver), "reading the driver's version");
  return {.name = cuda().name(),
          .cuda_driver = std::to_string(driver / 1000) + '.' + std::to_string(driver % 1000 / 10),
          .compiler = "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + '.' +
                      std::to_string(__CUDACC_VER_MINOR__) + '.' + std::to_string(__CUDACC_VER_BUILD__)};
}

}  // namespace tilehash::app
