// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "alcantara/thesis_cuckoo_workload.hpp"
#include "alcantara/thesis_two_level_workload.hpp"

namespace tilehash::bench {

cuckoo_row cuda_cuckoo(const cuckoo_case& the_case) {
  cuda space;
  return measure_cuckoo(space, "cuda", the_case);
}

two_level_row cuda_two_level(const two_level_case& the_case) {
  cuda space;
  return measure_two_level(space, "cuda", the_case);
}

}  // namespace tilehash::bench
