// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "thesis_cuckoo_workload.hpp"

namespace tilehash::bench {

cuckoo_row cpu_cuckoo(const cuckoo_case& the_case, int threads) {
  cpu space(threads);
  return measure_cuckoo(space, "cpu", the_case);
}

}  // namespace tilehash::bench
