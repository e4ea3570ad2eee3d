// SPDX-License-Identifier: Apache-2.0
// The cpu space under test, with one thread and with two; under the slow sanitizers with two only.
#pragma once

#include <contract/faulty.hpp>
#include <contract/random.hpp>
#include <contract/types.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {

template <>
struct under_test<cpu> {
  static constexpr u64 largest = 100'000;
  static int variants() { return small_sizes() ? 1 : 2; }
  static std::string name(int variant) { return variant == 0 ? "cpu_2_threads" : "cpu_1_thread"; }
  using ground_type = ground<cpu, faulty_host>;
  static std::unique_ptr<ground_type> make(int variant) { return std::make_unique<ground_type>(2 - variant); }
};

}  // namespace tilehash::contract
