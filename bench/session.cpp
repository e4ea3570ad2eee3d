// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "cuda_presence.hpp"
#include "dataset.hpp"
#include "environment.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "parallel.hpp"
#include "run_command.hpp"
#include "sizes.hpp"

namespace tilehash::app {
namespace {

template <class Number>
CLI::Option* add_list(CLI::App& command, const std::string& names, std::vector<Number>& values,
                      const std::string& about, std::string (*read)(std::string&)) {
  CLI::Option* const option =
      command.add_option(names, values, about)->delimiter(',')->transform(CLI::Validator(read, ""));
  return values.empty() ? option : option->default_str(fmt::format("{}", fmt::join(values, ",")));
}

}  // namespace

CLI::Option* add_size(CLI::App& command, const std::string& names, std::uint64_t& value,
                      const std::string& about) {
  return command.add_option(names, value, about)->transform(CLI::Validator(read_size, ""));
}
CLI::Option* add_size(CLI::App& command, const std::string& names, std::optional<std::uint64_t>& value,
                      const std::string& about) {
  return command.add_option(names, value, about)->transform(CLI::Validator(read_size, ""));
}
CLI::Option* add_sizes(CLI::App& command, const std::string& names, std::vector<std::uint64_t>& values,
                       const std::string& about) {
  return add_list(command, names, values, about, read_size);
}
CLI::Option* add_ratio(CLI::App& command, const std::string& names, double& value, const std::string& about) {
  return command.add_option(names, value, about)->transform(CLI::Validator(read_ratio, ""));
}
CLI::Option* add_ratios(CLI::App& command, const std::string& names, std::vector<double>& values,
                        const std::string& about) {
  return add_list(command, names, values, about, read_ratio);
}

void add_json(CLI::App& command, common_options& options) {
  command.add_option(option::json, options.json, "Write the figures to FILE, or to standard output with -")
      ->type_name("FILE|-");
  command.footer("Sizes: 1000003, 2^20, 1e6, 1M (k, M, G: steps of 1024). Load factors: 0.8 or 1/1.25.");
}
void add_common(CLI::App& command, common_options& options) {
  options.command = command.get_name();
  command.add_option("--space", options.space, "Where: cpu, cuda, or auto for cuda where there is a GPU")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->capture_default_str();
  command.add_option("--repeat", options.repeat, "Times to measure; the median is shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_threads_option(command, options.threads_asked, options.threads);
  add_json(command, options);
}

void check_sizes(const std::vector<std::uint64_t>& values, const char* option, std::uint64_t least,
                 std::uint64_t most) {
  for (const std::uint64_t n : values) {
    if (n < least || n > most)
      throw input_error(fmt::format("{} {}: must be from {} to {}", option, n, least, most));
  }
}

session::session(const common_options& options)
    : space_(options.space), command_(options.command), file_(options.json) {
  const std::string obstacle = why_no_cuda();
  if (space_ == "auto") space_ = obstacle.empty() ? "cuda" : "cpu";
  if (space_ == "cuda" && !obstacle.empty())
    throw input_error(fmt::format("--space cuda: {}; use --space cpu", obstacle));
  header_ = environment({.space = space_, .threads = options.threads_asked, .repeat = options.repeat});
  if (const int runs = threads_that_run(options.threads_asked); options.threads_asked > runs)
    say(fmt::format("--threads {}: this machine runs {} at once, and so does the program\n",
                    options.threads_asked, runs));
}

std::string session::machine() const {
  if (space_ == "cuda") return header_["gpu"];
  return fmt::format("{}, threads: {}", std::string(header_["machine"]), int(header_["threads"]));
}

void session::say(const std::string& text) {
  std::FILE* const out = file_.to_stdout() ? stderr : stdout;
  fmt::print(out, "{}", text);
  std::fflush(out);
  if (so_far_) keep_results();
  stop_if_asked();
}

void session::stop_if_asked() {
  if (!asked_to_stop()) return;
  if (so_far_) {
    header_["experiment"] = command_;  // so that what was done can be drawn
    header_["stopped"] = true;
    file_.write(results_text(header_, so_far_()));
  }
  fmt::print(stderr, "tilehash: stopped; what was done until then is above{}\n",
             so_far_ && file_.wanted() ? " and written" : "");
  throw CLI::RuntimeError(stopped);
}

void session::write(const nlohmann::ordered_json& rows, const std::string& experiment) {
  if (!experiment.empty()) header_["experiment"] = experiment;
  file_.write(results_text(header_, rows));
}

void session::fail_if(bool faulty, const char* what) {
  if (!faulty) return;
  fmt::print(stderr, "tilehash: some {}; see the rows above\n", what);
  throw CLI::RuntimeError(wrong_or_lost);
}

std::vector<bench::subject> choose(const std::vector<bench::subject>& known,
                                   const std::vector<std::string>& names, const char* option) {
  using bench::subject;
  if (names == std::vector<std::string>{"all"}) return known;
  if (names == std::vector<std::string>{"none"}) return {};
  std::vector<subject> chosen;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(known, name, &subject::name);
    if (at == known.end()) {
      std::vector<std::string> all;
      for (const subject& s : known) all.push_back(s.name);
      throw input_error(fmt::format("{} '{}' is unknown here; use all, none or some of {}", option, name,
                                    fmt::join(all, ",")));
    }
    chosen.push_back(*at);
  }
  return chosen;
}

}  // namespace tilehash::app
