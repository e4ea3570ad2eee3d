// SPDX-License-Identifier: Apache-2.0
// What the commands of `tilehash bench` begin and end with.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results_file.hpp"
#include "yardstick.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tilehash::app {

struct common_options {
  std::string space = "auto", json;
  unsigned repeat = 5;
  int threads = 0;        // that run
  int threads_asked = 0;  // as typed
  std::string command;    // whose these are
};

void add_common(CLI::App& command, common_options& options);
void add_json(CLI::App& command, common_options& options);
// Sizes as 2^20 and 1M, ratios as 0.8 and 1/1.25 (sizes.hpp). Lists have commas, and show what they hold as the default.
CLI::Option* add_size(CLI::App& command, const std::string& names, std::uint64_t& value,
                      const std::string& about);
CLI::Option* add_size(CLI::App& command, const std::string& names, std::optional<std::uint64_t>& value,
                      const std::string& about);
CLI::Option* add_sizes(CLI::App& command, const std::string& names, std::vector<std::uint64_t>& values,
                       const std::string& about);
CLI::Option* add_ratio(CLI::App& command, const std::string& names, double& value, const std::string& about);
CLI::Option* add_ratios(CLI::App& command, const std::string& names, std::vector<double>& values,
                        const std::string& about);

// The most items of a table with 32-bit numbers of items.
inline constexpr std::uint64_t most_items = (1ULL << 31) - 1;
// An input_error unless all of them are from `least` to `most`.
void check_sizes(const std::vector<std::uint64_t>& values, const char* option, std::uint64_t least,
                 std::uint64_t most);

// Where to measure, where to print, and the JSON (results_file.hpp).
class session {
 public:
  explicit session(const common_options& options);

  const std::string& space() const { return space_; }
  std::string machine() const;

  // Rows of what is done so far, for a user that stops the command by Ctrl-C: say() then writes them and ends it.
  void keep(std::function<nlohmann::ordered_json()> rows) { so_far_ = std::move(rows); }
  void say(const std::string& text);
  void stop_if_asked();  // what say() does then, where there is nothing to say yet
  void write(const nlohmann::ordered_json& rows, const std::string& experiment = {});
  // Exits with an error where this is so: say what to look for in the rows.
  static void fail_if(bool faulty, const char* what);

 private:
  std::string space_, command_;
  results_file file_;
  nlohmann::ordered_json header_;
  std::function<nlohmann::ordered_json()> so_far_;
};

// Those requested by name; an unknown name is an error.
std::vector<bench::subject> choose(const std::vector<bench::subject>& known,
                                   const std::vector<std::string>& names, const char* option);

}  // namespace tilehash::app
