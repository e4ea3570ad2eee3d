// SPDX-License-Identifier: Apache-2.0
// Where a round of the cuda space takes place: two streams, with the device's memory or with one that can be
// made to run out.
#pragma once

#include <optional>

#include <contract/faulty.cuh>
#include <contract/own_stream.cuh>
#include <contract/random.hpp>
#include <tilehash/space/cuda.cuh>

namespace tilehash::soak {

class test_space {
 public:
  using space_type = cuda;

  test_space(contract::random_numbers& /*dice*/, bool faulty) : faulty_(faulty) {
    for (u32 i = 0; i < 2; ++i) {
      const auto stream = static_cast<cudaStream_t>(streams_[i]);
      faulty ? spaces_[i].emplace(stream, memory) : spaces_[i].emplace(stream);
    }
  }
  cuda& home() { return *spaces_[0]; }
  // The history's own arrays are made on the home's stream, and faulty memory writes rubbish to them there. A
  // caller that hands arrays of one stream to a call on another orders the two.
  cuda& other() {
    if (faulty_) home().synchronize();
    return *spaces_[1];
  }

  contract::faulty_device memory;

 private:
  bool faulty_;
  contract::own_stream streams_[2];
  std::optional<cuda> spaces_[2];
};

}  // namespace tilehash::soak
