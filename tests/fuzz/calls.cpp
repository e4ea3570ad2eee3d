// SPDX-License-Identifier: Apache-2.0
// The fuzz target of calls: one table an input.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include <fuzz/calls.hpp>
#include <fuzz/target.hpp>

namespace tilehash::fuzz {

const std::size_t longest_input = 400;
const unsigned first_bytes = designs;

}  // namespace tilehash::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilehash;
  // A failed assertion throws, which libFuzzer takes for a crash.
  [[maybe_unused]] static const bool throws = [] {
    int argc = 1;
    char name[] = "fuzz_calls";
    char* argv[] = {name, nullptr};
    ::testing::InitGoogleTest(&argc, argv);
    GTEST_FLAG_SET(throw_on_failure, true);
    return true;
  }();
  fuzz::random_numbers bytes(std::span<const unsigned char>(data, size));
  const u64 design = bytes.below(256), pair = bytes.below(fuzz::most_pairs);
  if (design >= fuzz::designs || fuzz::players()[design][0] == nullptr) return -1;  // not in this build
  const auto offered = fuzz::players()[design];
  (offered[pair] != nullptr ? offered[pair] : offered[0])(bytes);
  return 0;
}
