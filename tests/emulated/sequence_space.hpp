// Sequences of calls under the GPU's schedule.
#pragma once

#include "emulated.hpp"

namespace tilehash::contract {

using sequence_space = emulated;
inline constexpr u64 sequences_at_once = 1, sequence_count = 20;

}  // namespace tilehash::contract
