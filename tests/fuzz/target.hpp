// SPDX-License-Identifier: Apache-2.0
// A fuzz target: a function from bytes to nothing, which ends the program, or throws, when what it tries is
// wrong.
//
// Compiled with clang's -fsanitize=fuzzer it is run by libFuzzer; else replay_main.cpp runs it on the files
// of a corpus and on inputs from random numbers, so that tests need no fuzzing engine.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tilehash::fuzz {

// Inputs for replay_main.cpp: how many bytes at most, and how many values the first one may have.
extern const std::size_t longest_input;
extern const unsigned first_bytes;

}  // namespace tilehash::fuzz
