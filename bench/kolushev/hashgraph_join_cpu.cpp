// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "kolushev/hashgraph_join_workload.hpp"

namespace tilehash::bench {

void cpu_joins(const join_case& the_case, const std::vector<std::string>& designs, unsigned repeat,
               int threads, const tell_join& tell) {
  cpu space(threads);
  measure_joins(space, "cpu", the_case, designs, repeat, tell);
}

}  // namespace tilehash::bench
