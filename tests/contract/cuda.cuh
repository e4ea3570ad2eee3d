// SPDX-License-Identifier: Apache-2.0
// The cuda space under test.
#pragma once

#include <contract/faulty.cuh>
#include <contract/types.hpp>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {

template <>
struct under_test<cuda> {
  static constexpr u64 largest = 100'000;
  static int variants() { return 1; }
  static std::string name(int /*variant*/) { return "cuda"; }
  using ground_type = ground<cuda, faulty_device>;
  static std::unique_ptr<ground_type> make(int /*variant*/) {
    return std::make_unique<ground_type>(cudaStream_t());
  }
};

}  // namespace tilehash::contract
