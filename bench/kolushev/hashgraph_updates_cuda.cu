// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "kolushev/hashgraph_updates_workload.hpp"

namespace tilehash::bench {

void cuda_updates(const std::vector<updates_case>& cases, unsigned repeat, const tell_updates& tell) {
  cuda space;
  measure_updates(space, "cuda", cases, repeat, tell);
}

}  // namespace tilehash::bench
