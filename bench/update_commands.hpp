#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

// The children of `tilehash bench` about single calls and nearly full tables.
void add_update_commands(CLI::App& bench);

}  // namespace tilehash::app
