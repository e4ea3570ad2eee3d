// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "kolushev/hashgraph_join_workload.hpp"

namespace tilehash::bench {

void cuda_joins(const join_case& the_case, const std::vector<std::string>& designs, unsigned repeat,
                const tell_join& tell) {
  cuda space;
  measure_joins(space, "cuda", the_case, designs, repeat, tell);
}

}  // namespace tilehash::bench
