// SPDX-License-Identifier: Apache-2.0
#include <tilehash/core/error.hpp>

#include "cuda_presence.hpp"

namespace tilehash::app {

std::string why_no_cuda() { return "this program was built without CUDA"; }

gpu_facts describe_gpu() { throw error("tilehash: " + why_no_cuda()); }

}  // namespace tilehash::app
