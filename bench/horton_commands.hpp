#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

// tilehash bench horton/...: the experiments of Breslow et al., Horton Tables.
void add_horton_commands(CLI::App& bench);

}  // namespace tilehash::app
