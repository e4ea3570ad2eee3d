// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "kolushev/hashgraph_updates_workload.hpp"

namespace tilehash::bench {

void cpu_updates(const std::vector<updates_case>& cases, unsigned repeat, int threads,
                 const tell_updates& tell) {
  cpu space(threads);
  measure_updates(space, "cpu", cases, repeat, tell);
}

}  // namespace tilehash::bench
