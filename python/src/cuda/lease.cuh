// SPDX-License-Identifier: Apache-2.0
// Spaces for calls: each call takes one of its device that no other call uses, and works on the caller's stream.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <tilehash/space/cuda.cuh>

#include "calls.hpp"

namespace tilehash::python {

inline cudaStream_t stream_of(std::uintptr_t stream) {
  return reinterpret_cast<cudaStream_t>(stream);  // NOLINT(performance-no-int-to-ptr)
}

// Spaces live as long as the process. Their pools keep memory for the next call.
struct idle_spaces {
  std::mutex lock;
  std::map<int, std::vector<std::unique_ptr<cuda>>> of_device;
};
idle_spaces& idle();

class leased_space {
 public:
  explicit leased_space(gpu_place at) {
    {
      const std::lock_guard guard(idle().lock);
      auto& spaces = idle().of_device[at.device];
      if (!spaces.empty()) {
        space_ = std::move(spaces.back());
        spaces.pop_back();
      }
    }
    if (!space_) space_ = std::make_unique<cuda>(nullptr, device_resource_ref{}, at.device);
    space_->exchange_stream(stream_of(at.stream));
  }
  leased_space(const leased_space&) = delete;
  leased_space& operator=(const leased_space&) = delete;
  ~leased_space() {
    const std::lock_guard guard(idle().lock);
    idle().of_device[space_->device()].push_back(std::move(space_));
  }
  cuda& operator*() const { return *space_; }

 private:
  std::unique_ptr<cuda> space_;
};

}  // namespace tilehash::python
