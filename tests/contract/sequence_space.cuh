// Sequences of calls on a GPU.
#pragma once

#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {

using sequence_space = ::tilehash::cuda;
inline constexpr u64 sequence_count = 100;

}  // namespace tilehash::contract
