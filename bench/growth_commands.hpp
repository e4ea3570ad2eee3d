#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

// tilehash bench growth
void add_growth_commands(CLI::App& bench);

}  // namespace tilehash::app
