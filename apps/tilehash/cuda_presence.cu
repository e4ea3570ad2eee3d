#include <cuda_runtime.h>

#include "cuda_presence.hpp"

namespace tilehash::app {

std::string why_no_cuda() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return devices > 0 ? "" : "no GPU was found";
}

}  // namespace tilehash::app
