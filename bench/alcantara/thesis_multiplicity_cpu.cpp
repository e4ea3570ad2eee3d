// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "alcantara/thesis_multiplicity_workload.hpp"

namespace tilehash::bench {

multiplicity_row cpu_multiplicity(const multiplicity_case& the_case, unsigned repeat, int threads) {
  cpu space(threads);
  return measure_multiplicity(space, "cpu", the_case, repeat);
}

}  // namespace tilehash::bench
