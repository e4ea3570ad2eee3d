// SPDX-License-Identifier: Apache-2.0
// Checked calls of the CUDA runtime, and the current GPU during a call.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

inline void check_cuda(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not report this one
  throw cuda_error(std::string("tilehash: ") + what + " failed: " + cudaGetErrorString(e));
}

// Makes a GPU the current one, and restores the previous one at the end. Cheap if it is already current. The
// call that follows reports failures of these calls.
class device_guard {
 public:
  explicit device_guard(int device) noexcept
      : moves_(cudaGetDevice(&before_) == cudaSuccess && before_ != device) {
    if (moves_) cudaSetDevice(device);
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard() {
    if (moves_) cudaSetDevice(before_);
  }

 private:
  int before_ = 0;
  bool moves_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
