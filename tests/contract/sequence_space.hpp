// Sequences of calls in a cpu of two threads.
#pragma once

#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {

struct sequence_space : cpu {
  sequence_space() : cpu(2) {}
};
inline constexpr u64 sequence_count = 60;

}  // namespace tilehash::contract
