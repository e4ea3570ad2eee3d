#include "session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "cuda_presence.hpp"
#include "dataset.hpp"
#include "environment.hpp"
#include "run_command.hpp"

namespace tilehash::app {

void add_json(CLI::App& command, common_options& options) {
  command.add_option("--json", options.json, "Write the rows to FILE, or to standard output with -")
      ->type_name("FILE|-");
}
void add_common(CLI::App& command, common_options& options) {
  command.add_option("--space", options.space, "Where: cpu, cuda, or auto for cuda where there is a GPU")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->capture_default_str();
  command.add_option("--repeat", options.repeat, "Times to measure; the median is shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "CPU threads (default: all)")->check(CLI::Range(1, 4096));
  add_json(command, options);
}

session::session(const common_options& options) : path_(options.json), space_(options.space) {
  const std::string obstacle = why_no_cuda();
  if (space_ == "auto") space_ = obstacle.empty() ? "cuda" : "cpu";
  if (space_ == "cuda" && !obstacle.empty())
    throw input_error(fmt::format("--space cuda: {}; use --space cpu", obstacle));
  if (!path_.empty() && path_ != "-") file_.open(path_);
  if (!file_) throw input_error(fmt::format("--json {}: cannot write it", path_));
  header_ = bench::environment(space_, options.threads);
}

std::string session::machine() const {
  if (space_ == "cuda") return header_["gpu"];
  return fmt::format("{}, threads: {}", std::string(header_["machine"]), int(header_["threads"]));
}

void session::say(const std::string& text) const {
  std::FILE* const out = path_ == "-" ? stderr : stdout;
  fmt::print(out, "{}", text);
  std::fflush(out);
}

void session::write(const nlohmann::ordered_json& rows, const std::string& experiment) {
  if (path_.empty()) return;
  if (!experiment.empty()) header_["experiment"] = experiment;
  std::vector<std::string> lines;
  for (const auto& row : rows) lines.push_back(row.dump());
  const std::string text =
      fmt::format("{{\"header\": {},\n\"rows\": [\n{}\n]}}\n", header_.dump(), fmt::join(lines, ",\n"));
  if (path_ == "-")
    fmt::print("{}", text);
  else if (!(file_ << text << std::flush))
    throw input_error(fmt::format("--json {}: cannot write it", path_));
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
