// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "runner.hpp"

namespace tilehash::app {

run_function run_with(const table_makers<cpu>& tables, const std::string& design) {
  return run_in("cpu", tables, design, [](const run_settings& settings) { return cpu{settings.threads}; });
}

}  // namespace tilehash::app
