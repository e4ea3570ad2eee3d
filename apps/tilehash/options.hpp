// SPDX-License-Identifier: Apache-2.0
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
  int threads_asked = 0;  // as typed; settings.threads is what runs
  std::vector<std::string> peers{"none"};
  std::string json;  // a file, "-" for standard output, or empty
};

struct list_options {
  bool json = false;
};

// The names that `run` and all of `bench` share; one name is the other's synonym.
namespace option {
inline constexpr const char *design = "--design,--designs", *load_factor = "--load-factor,--load",
                            *key_bits = "--key-bits,--bits", *json = "--json";
}

// --threads: how many are asked for, and how many really run.
void add_threads_option(CLI::App& command, int& asked, int& threads);

// Help that fits the terminal, and a version.
void add_manners(CLI::App& app);

// Subcommands whose answers land in `options`.
CLI::App* add_run_command(CLI::App& app, run_options& options);
CLI::App* add_list_command(CLI::App& app, list_options& options);

}  // namespace tilehash::app
