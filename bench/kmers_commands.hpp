#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

// tilehash bench kmers
void add_kmers_commands(CLI::App& bench);

}  // namespace tilehash::app
