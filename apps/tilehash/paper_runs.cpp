// SPDX-License-Identifier: Apache-2.0
#include "paper_runs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "dataset.hpp"
#include "environment.hpp"
#include "paper_results.hpp"
#include "results_file.hpp"
#include "run_command.hpp"

namespace tilehash::app {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Runs this program. Its output is dropped; what it says of errors goes into the file `errors`.
int call_self(const std::vector<std::string>& words, const std::string& errors) {
  std::vector<std::string> kept{"tilehash"};
  kept.insert(kept.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(kept.size() + 1);
  for (std::string& word : kept) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw input_error(fmt::format("cannot start tilehash: {}", std::strerror(failed)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The last line that the program wrote about an error, without its name.
std::string last_error(const std::string& path) {
  std::ifstream file(path);
  std::string last = "no message";
  constexpr std::string_view name = "tilehash: ";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) last = line.substr(name.size());
  }
  return last;
}

}  // namespace

paper_runs::paper_runs(std::string folder, std::string space, bool quick)
    : folder_(std::move(folder)), space_(std::move(space)), quick_(quick) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw input_error(fmt::format("--results {}: cannot create it: {}", folder_, error.message()));
}

std::string paper_runs::file_of(const paper_entry& entry) const {
  return (fs::path(folder_) / entry.file_name()).string();
}

bool paper_runs::is_recorded(const paper_entry& entry) const {
  const json data = reproduced(entry, folder_);
  if (data.is_null()) return false;
  const json& header = data["header"];
  return header.value("commit", "") == built_commit() && header.value("quick", false) == quick_ &&
         header.value("space", "") == space_;
}

std::vector<std::vector<std::string>> paper_runs::commands_of(const paper_entry& entry,
                                                              std::string& problem) const {
  const json& data = entry.data;
  std::vector<std::vector<std::string>> commands;
  if (!entry.has_command()) {
    problem = "has no command: " + data["no_command"].get<std::string>();
    return commands;
  }
  const json& spaces = data["spaces"];
  if (!spaces.empty() && std::ranges::find(spaces, json(space_)) == spaces.end()) {
    problem = fmt::format("is not measured with --space {}", space_);
    return commands;
  }
  const std::string first = data["command"].get<std::string>().substr(std::strlen("tilehash "));
  for (const json& more : data[quick_ ? "quick" : "full"]) {
    std::vector<std::string> words = words_of(first + " " + more.get<std::string>());
    const auto at = std::ranges::find(words, "--space");
    const bool has_space = at != words.end() && at + 1 != words.end();
    if (has_space && *(at + 1) == "cuda" && space_ != "cuda") continue;  // needs a GPU
    if (!has_space && !spaces.empty()) words.insert(words.end(), {"--space", space_});
    for (const std::string& word : words) {
      if (!data.contains("prepare") || !word.starts_with("build/") || fs::exists(word)) continue;
      problem = fmt::format("needs {}; run {} first", word, data["prepare"].get<std::string>());
      return commands;
    }
    commands.push_back(std::move(words));
  }
  return commands;
}

const paper_runs::result& paper_runs::result_of(const std::vector<std::string>& words) {
  const auto known = done_.find(words);
  if (known != done_.end()) return known->second;
  const std::string stem = (fs::path(folder_) / fmt::format(".run{}", getpid())).string();
  const std::string rows = stem + ".json", errors = stem + ".txt";
  std::vector<std::string> with_json = words;
  with_json.insert(with_json.end(), {"--json", rows});
  result one;
  one.code = call_self(with_json, errors);
  std::ifstream file(rows);
  one.data = file ? json::parse(file, nullptr, false) : json();
  if (!one.data.is_object() || (one.code != all_right && one.code != wrong_or_lost))
    one.error = last_error(errors);
  fs::remove(rows);
  fs::remove(errors);
  return done_.emplace(words, std::move(one)).first->second;
}

run_outcome paper_runs::run(const paper_entry& entry) {
  run_outcome outcome;
  const auto commands = commands_of(entry, outcome.problem);
  if (!outcome.problem.empty()) return outcome;
  results_file file(file_of(entry));
  json header, rows = json::array(), lines = json::array();
  for (const auto& words : commands) {
    const result& one = result_of(words);
    if (!one.error.empty()) {
      outcome.problem = fmt::format("tilehash {}: {}", fmt::join(words, " "), one.error);
      return outcome;
    }
    outcome.is_wrong = outcome.is_wrong || one.code == wrong_or_lost;
    if (header.is_null()) header = one.data["header"];
    lines.push_back(fmt::format("tilehash {}", fmt::join(words, " ")));
    for (const json& row : one.data["rows"]) rows.push_back(row);
  }
  if (header.is_null()) {
    outcome.problem = fmt::format("has no run with --space {}", space_);
    return outcome;
  }
  header["entry"] = entry.name;
  header["quick"] = quick_;
  header["space"] = space_;
  header["command"] = fmt::format("tilehash reproduce {}{}", entry.name, quick_ ? " --quick" : "");
  header["runs"] = lines;
  file.write(results_text(header, rows));
  return outcome;
}

}  // namespace tilehash::app
