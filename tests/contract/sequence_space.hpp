// SPDX-License-Identifier: Apache-2.0
// Sequences of calls in a cpu of two threads.
#pragma once

#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {

struct sequence_space : cpu {
  sequence_space() : cpu(2) {}
};
inline constexpr u64 sequences_at_once = 1, sequence_count = 60;
inline constexpr u32 sequence_keys = 1200;

}  // namespace tilehash::contract
