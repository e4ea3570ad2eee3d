// SPDX-License-Identifier: Apache-2.0
// Other people's programs, run and timed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "spent.hpp"

namespace tilehash::bench {

// A folder of its own for what they write, gone with all that is in it at the end.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct command_outcome {
  app::spent seconds{};
  int code = 0;
  std::string said;  // on standard output and standard error
};

// Runs words[0], which is looked for in PATH, with the other words, and waits for it; nothing where there is
// no such program.
std::optional<command_outcome> run_command_line(const std::vector<std::string>& words,
                                                const scratch_folder& folder);

}  // namespace tilehash::bench
