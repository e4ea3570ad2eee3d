// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

// The children of `tilehash bench`. The target tilehash_bench defines it; where that is not built,
// no_bench.cpp does. Each child runs from its CLI11 callback and throws input_error for what the user must
// mend.
void add_bench_commands(CLI::App& bench);

}  // namespace tilehash::app
