// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "ours/tail_workload.hpp"

namespace tilehash::bench {

std::optional<tail_row> cpu_tail(const std::string& design, const tail_case& the_case, known_limits& known,
                                 unsigned repeat, int threads) {
  cpu space(threads);
  return measure_tail(space, *app::all_designs().at(design).cpu_tables, the_case, known, repeat);
}

}  // namespace tilehash::bench
