#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

// tilehash bench dynamic/...: the experiments of Li et al., Dynamic Hash Tables on GPUs.
void add_dynamic_commands(CLI::App& bench);

}  // namespace tilehash::app
