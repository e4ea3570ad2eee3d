#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

// tilehash bench coherent/...: the experiments of Garcia et al., Coherent Parallel Hashing.
void add_coherent_commands(CLI::App& bench);

}  // namespace tilehash::app
