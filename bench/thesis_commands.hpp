#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

// tilehash bench thesis/...: the experiments of Alcantara's thesis.
void add_thesis_commands(CLI::App& bench);

}  // namespace tilehash::app
