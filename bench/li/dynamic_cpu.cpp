// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "li/dynamic_workload.hpp"

namespace tilehash::bench {

void cpu_dynamic(dynamic_experiment what, const dynamic_case& the_case, const tell_dynamic& tell) {
  cpu space(the_case.threads);
  run_dynamic(space, "cpu", what, the_case, tell);
}

}  // namespace tilehash::bench
