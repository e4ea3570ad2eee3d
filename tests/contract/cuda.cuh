// The cuda space under test.
#pragma once

#include <contract/types.hpp>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {

template <>
struct under_test<cuda> {
  static constexpr u64 largest = 100'000;
  static int variants() { return 1; }
  static std::string name(int /*variant*/) { return "cuda"; }
  static std::unique_ptr<faulty<cuda>> make(int /*variant*/) { return std::make_unique<faulty<cuda>>(); }
};

}  // namespace tilehash::contract
