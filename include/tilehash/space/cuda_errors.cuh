// SPDX-License-Identifier: Apache-2.0
// Checked calls of the CUDA runtime, and the current GPU during a call.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/hash.hpp>

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
      : moves_(!is_alone() && cudaGetDevice(&before_) == cudaSuccess && before_ != device) {
    if (moves_) cudaSetDevice(device);
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard() {
    if (moves_) cudaSetDevice(before_);
  }

 private:
  // Does the process see one GPU? It is then always the current one.
  static bool is_alone() noexcept {
    static const bool alone = [] {
      int n = 0;
      return cudaGetDeviceCount(&n) == cudaSuccess && n == 1;
    }();
    return alone;
  }

  int before_ = 0;
  bool moves_;
};

// Pointers to GPU memory, as the driver has answered. Small calls use the same arrays again and again, and the driver
// takes 0.1 us for each answer. Host threads may share the object. (The driver keeps its ranges of addresses, so an address
// of GPU memory does not become one of host memory.)
class checked_pointers {
 public:
  bool has(const void* p) const noexcept { return __atomic_load_n(last_ + place(p), __ATOMIC_RELAXED) == p; }
  void add(const void* p) noexcept { __atomic_store_n(last_ + place(p), p, __ATOMIC_RELAXED); }

 private:
  static constexpr u32 places_log2 = 6;
  static u64 place(const void* p) { return rehash(reinterpret_cast<u64>(p)) >> (64 - places_log2); }

  const void* last_[1U << places_log2] = {};
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
