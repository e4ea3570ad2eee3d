// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "ours/tail_workload.hpp"

namespace tilehash::bench {

std::optional<tail_row> cuda_tail(const std::string& design, const tail_case& the_case, known_limits& known,
                                  unsigned repeat) {
  cuda space;
  return measure_tail(space, *app::all_designs().at(design).cuda_tables, the_case, known, repeat);
}

}  // namespace tilehash::bench
