// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "kolushev/hashgraph_cells_workload.hpp"

namespace tilehash::bench {

void cuda_cells(const cells_case& the_case, const std::vector<std::string>& designs, const tell_cells& tell) {
  cuda space;
  cells_workload<cuda> work(space, the_case);
  work.measure(contenders_of(work, designs), "cuda", 0, tell);
}

}  // namespace tilehash::bench
