// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "ours/calls_workload.hpp"

namespace tilehash::bench {

void cpu_calls(const calls_case& the_case, const tell_call& tell) {
  cpu space(the_case.threads);
  measure_calls(space, "cpu", the_case, tell);
}

}  // namespace tilehash::bench
