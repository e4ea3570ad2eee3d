// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "runner.hpp"

namespace tilehash::app {

run_function run_with(const table_makers<cuda>& tables, const std::string& design) {
  return run_in("cuda", tables, design, [](const run_settings& /*settings*/) { return cuda{}; });
}

}  // namespace tilehash::app
