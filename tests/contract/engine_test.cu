// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using engine_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/engine.hpp>
