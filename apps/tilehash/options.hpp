#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "registry.hpp"

namespace CLI {
class App;
}

namespace tilehash::app {

struct run_options {
  std::vector<std::string> designs{"all"};
  std::string space = "auto";
  std::string input = "random:n=1000003";
  std::uint64_t queries = 0;  // 0: as many as items
  double hit_rate = 0.5;
  unsigned key_bits = 0;  // 0: the narrowest that holds the input
  run_settings settings;
  std::string json;  // a file, "-" for standard output, or empty
};

struct list_options {
  bool json = false;
};

// Subcommands whose answers land in `options`.
CLI::App* add_run_command(CLI::App& app, run_options& options);
CLI::App* add_list_command(CLI::App& app, list_options& options);

}  // namespace tilehash::app
