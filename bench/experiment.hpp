// SPDX-License-Identifier: Apache-2.0
// An experiment of `tilehash bench`: its declaration, its options, and its rows while it runs.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fields.hpp"
#include "measure.hpp"
#include "results_file.hpp"
#include "yardstick.hpp"

namespace tilehash::app {

struct common_options {
  std::string space = "auto", json;
  unsigned repeat = 5;
  int threads = 0;        // that run
  int threads_asked = 0;  // as typed
};

struct declaration {
  std::string name, about;
  std::string above{};  // printed before the rows, below the machine
  const char* faults =
      "answers were wrong or items lost";  // said if a row has a fault; null: that is no error
  bool on_cpu_alone = false;               // has no options of a space, threads and repeats
};

// Prints each row as it comes, keeps it for --json (results_file.hpp), and remembers faults. Ctrl-C ends it after a line, with
// the rows so far in the file.
class experiment {
 public:
  experiment(const common_options& options, const declaration& of);
  experiment(const experiment&) = delete;
  experiment& operator=(const experiment&) = delete;

  const std::string& space() const { return space_; }
  bool on_gpu() const { return space_ == "cuda"; }
  std::string machine() const;

  void rename(const std::string& name) { name_ = name; }  // in the JSON file
  void say(const std::string& text);  // between rows, which get a heading of their own below
  // Prints the row's line, or lets it wait for rows that share it. `more`: printed below.
  void add(const bench::fields& row, const std::string& more = {});
  void keep(const bench::fields& row);  // for rows that the caller prints
  void keep_if_stopped(std::function<nlohmann::ordered_json()> rows) { so_far_ = std::move(rows); }
  void stop_if_asked();  // what say() does, too
  // Measures a design and adds a row of each measurement, unless there is no memory for it, or no such table.
  void measure(const bench::subject& design, const bench::yardstick_case& the_case,
               const std::function<bench::fields(const bench::measurement&)>& row_of);
  // Writes the file. The command fails if a row has a fault.
  void finish();

  bench::known_limits limits;  // that measure() has found

 private:
  void print(const std::string& text);

  std::string space_, command_, name_, above_;
  const char* faults_;
  results_file file_;
  nlohmann::ordered_json header_, rows_ = nlohmann::ordered_json::array();
  std::function<nlohmann::ordered_json()> so_far_ = [this] { return rows_; };
  bench::table_lines lines_;
  bool faulty_ = false;
};

// The options of a command. Each variable holds its default. Lists have commas. Sizes are typed as 2^20 and 1M, ratios as
// 0.8 and 1/1.25 (sizes.hpp).
class option_list {
 public:
  explicit option_list(CLI::App& command) : command_(command) {}

  // From `least` to `most`, or any if that is 0.
  CLI::Option* size(const char* names, std::uint64_t& value, const std::string& about, std::int64_t least = 0,
                    std::int64_t most = 0);
  CLI::Option* size(const char* names, std::optional<std::uint64_t>& value, const std::string& about);
  CLI::Option* sizes(const char* names, std::vector<std::uint64_t>& values, const std::string& about);
  CLI::Option* ratio(const char* names, double& value, const std::string& about, double least, double most);
  CLI::Option* ratios(const char* names, std::vector<double>& values, const std::string& about, double least,
                      double most);
  CLI::Option* number(const char* names, unsigned& value, const std::string& about, int least, int most);
  CLI::Option* numbers(const char* names, std::vector<unsigned>& values, const std::string& about,
                       const CLI::Validator& check);
  // `known`: the names that there are, unless the experiment checks them.
  CLI::Option* names(const char* names, std::vector<std::string>& values, const std::string& about,
                     const std::vector<std::string>& known = {});
  CLI::Option* designs(std::vector<std::string>& values, const std::string& about);
  void clock(bench::measured_clock& value);
  void on_cpu_only(common_options& options);  // --space refuses cuda
  // Some of several values that have names.
  template <class Value>
  CLI::Option* choices(const char* names, Value& value, const std::string& about, const auto& known,
                       const char* text_of_default) {
    return command_.add_option(names, value, about)
        ->delimiter(',')
        ->transform(CLI::CheckedTransformer(known))
        ->default_str(text_of_default);
  }
  CLI::App& command() { return command_; }

 private:
  CLI::App& command_;
};

CLI::App& add_command(CLI::App& bench, const declaration& what, common_options& options);

// Adds an experiment's command: run(experiment&, options) measures; add(option_list&, Options&) adds its own options.
template <class Options>
void declare(CLI::App& bench, const declaration& what, auto run, auto add) {
  const auto options = std::make_shared<Options>();
  option_list list(add_command(bench, what, *options));
  add(list, *options);
  list.command().callback([what, options, run] {
    experiment rows(*options, what);
    run(rows, *options);
    rows.finish();
  });
}

// The most items of a table with 32-bit numbers of items.
inline constexpr std::uint64_t most_items = (1ULL << 31) - 1;
// An input_error unless all of them are from `least` to `most`.
void check_sizes(const std::vector<std::uint64_t>& values, const char* option, std::uint64_t least,
                 std::uint64_t most);
// An input_error if the processor's time is asked of more than one thread.
void check_clock(bench::measured_clock clock, bool one_thread);

// Designs, and on request other libraries' maps, in a space of `space`.
std::vector<bench::subject> subjects_in(const std::string& space, bool peers);
// Those requested by name; an unknown name is an error. If none is requested, those of `defaults` that the program has.
std::vector<bench::subject> choose(const std::vector<bench::subject>& known,
                                   const std::vector<std::string>& names, const char* option,
                                   const std::vector<std::string>& defaults = {});

}  // namespace tilehash::app
