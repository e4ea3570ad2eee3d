// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using indexing_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/index.hpp>
#include <contract/index_model.hpp>
