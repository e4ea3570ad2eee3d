// SPDX-License-Identifier: Apache-2.0
// Sequences of calls under the GPU's schedule. Each lane is a fiber, so a thousand keys would take four times
// as long, in tables that are resized as often.
#pragma once

#include "emulated.hpp"

namespace tilehash::contract {

using sequence_space = emulated;
inline constexpr u64 sequences_at_once = 1, sequence_count = 20;
inline constexpr u32 sequence_keys = 300;

}  // namespace tilehash::contract
