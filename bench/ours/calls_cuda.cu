// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "ours/calls_workload.hpp"

namespace tilehash::bench {

void cuda_calls(const calls_case& the_case, const tell_call& tell) {
  cuda space;
  measure_calls(space, "cuda", the_case, tell);
}

}  // namespace tilehash::bench
