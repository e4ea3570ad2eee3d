// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "alcantara/thesis_multiplicity_workload.hpp"

namespace tilehash::bench {

multiplicity_row cuda_multiplicity(const multiplicity_case& the_case, unsigned repeat) {
  cuda space;
  return measure_multiplicity(space, "cuda", the_case, repeat);
}

}  // namespace tilehash::bench
