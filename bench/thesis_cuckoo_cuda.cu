// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "thesis_cuckoo_workload.hpp"

namespace tilehash::bench {

cuckoo_row cuda_cuckoo(const cuckoo_case& the_case) {
  cuda space;
  return measure_cuckoo(space, "cuda", the_case);
}

}  // namespace tilehash::bench
