// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "dataset.hpp"

namespace tilehash::bench {

scratch_folder::scratch_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "tilehash_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw app::input_error(fmt::format("{}: cannot make a folder there: {}", name, std::strerror(errno)));
  path_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::optional<command_outcome> run_command_line(const std::vector<std::string>& words,
                                                const scratch_folder& folder) {
  const std::string output = folder / "output";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  std::vector<std::string> copies = words;  // which the system's call may change
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const auto start = std::chrono::steady_clock::now();
  pid_t process = 0;
  const int refused = posix_spawnp(&process, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (refused == ENOENT) return std::nullopt;
  if (refused != 0)
    throw app::input_error(fmt::format("{}: cannot run it: {}", words[0], std::strerror(refused)));
  int status = 0;
  rusage used{};
  while (wait4(process, &status, 0, &used) < 0 && errno == EINTR) {
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  command_outcome its;
  its.seconds = {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                 seconds(used.ru_utime) + seconds(used.ru_stime)};
  its.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ifstream text(output);
  its.said.assign(std::istreambuf_iterator<char>(text), {});
  return its;
}

}  // namespace tilehash::bench
