#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

// tilehash bench hashgraph/...: the experiments on HashGraph and its joins.
void add_hashgraph_commands(CLI::App& bench);
void add_updates_command(CLI::App& bench);  // ... that on updates, as it does
void add_cells_commands(CLI::App& bench);   // ... those with cells of meshes, as it does

}  // namespace tilehash::app
