// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "bench_commands.hpp"
#include "dataset.hpp"

namespace tilehash::app {

void add_bench_commands(CLI::App& bench) {
  bench.allow_extras();
  bench.callback(
      [] { throw input_error("bench: not in this build; configure it with -DTILEHASH_BUILD_BENCH=ON"); });
}

}  // namespace tilehash::app
