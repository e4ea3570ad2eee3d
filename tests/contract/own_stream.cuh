// SPDX-License-Identifier: Apache-2.0
// A stream that waits for no other.
#pragma once

#include <cuda_runtime.h>

namespace tilehash::contract {

class own_stream {
 public:
  own_stream() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
  ~own_stream() { cudaStreamDestroy(stream_); }
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace tilehash::contract
