// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "li/dynamic_workload.hpp"

namespace tilehash::bench {

void cuda_dynamic(dynamic_experiment what, const dynamic_case& the_case, const tell_dynamic& tell) {
  cuda space;
  run_dynamic(space, "cuda", what, the_case, tell);
}

}  // namespace tilehash::bench
