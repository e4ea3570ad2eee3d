// SPDX-License-Identifier: Apache-2.0
// Sequences of calls on a GPU, side by side in streams of their own: a small table keeps it waiting.
#pragma once

#include <contract/own_stream.cuh>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {

struct sequence_space : own_stream, cuda {
  sequence_space() : cuda(static_cast<cudaStream_t>(static_cast<const own_stream&>(*this))) {}
};
inline constexpr u64 sequences_at_once = 8, sequence_count = 104;
inline constexpr u32 sequence_keys = 1200;

}  // namespace tilehash::contract
