// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "alcantara/thesis_cuckoo_workload.hpp"
#include "alcantara/thesis_two_level_workload.hpp"

namespace tilehash::bench {

cuckoo_row cpu_cuckoo(const cuckoo_case& the_case, int threads) {
  cpu space(threads);
  return measure_cuckoo(space, "cpu", the_case);
}

two_level_row cpu_two_level(const two_level_case& the_case, int threads) {
  cpu space(threads);
  return measure_two_level(space, "cpu", the_case);
}

}  // namespace tilehash::bench
