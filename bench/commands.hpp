// SPDX-License-Identifier: Apache-2.0
// The commands of `tilehash bench`: each function adds the children of one subject.
#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

void add_coherent_commands(CLI::App& bench);   // coherent/...: Garcia et al., Coherent Parallel Hashing
void add_dynamic_commands(CLI::App& bench);    // dynamic/...: Li et al., Dynamic Hash Tables on GPUs
void add_hashgraph_commands(CLI::App& bench);  // hashgraph/...: HashGraph and its joins
void add_cells_commands(CLI::App& bench);      // those with cells of meshes, for add_hashgraph_commands()
void add_horton_commands(CLI::App& bench);     // horton/...: Breslow et al., Horton Tables
void add_kmers_commands(CLI::App& bench);      // kmers
void add_shapes_commands(CLI::App& bench);     // shapes
void add_thesis_commands(CLI::App& bench);     // thesis/...: Alcantara's thesis
void add_update_commands(CLI::App& bench);     // single calls and nearly full tables

}  // namespace tilehash::app
