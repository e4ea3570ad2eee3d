// SPDX-License-Identifier: Apache-2.0
// Where, when and with what something was measured: figures without it mean nothing.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace tilehash::app {

struct circumstances {
  std::string space = "cpu";
  int threads = 0;  // asked for; 0: all
  unsigned repeat = 0;
  std::optional<std::uint64_t> seed{};  // where there is one: the benchmarks' keys are numbered
  std::optional<double> hit_rate{};
};

// The header of every file of results (bench/results.schema.json). Its facts about the program are from the time of the
// build.
nlohmann::ordered_json environment(const circumstances& of);

std::string version_line();
std::string built_commit();  // for --version

// The words of the command line, for the header.
void remember_command(int argc, char** argv);

}  // namespace tilehash::app
