// SPDX-License-Identifier: Apache-2.0
// The file that --json names: one form for `run` and for all of `bench`, {"header": {...}, "rows": [...]}, a
// row a line (bench/results.schema.json).
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "spread.hpp"

namespace tilehash::app {

// What was measured more than once: "min", "median" and "max" of its "runs".
nlohmann::ordered_json as_json(const spread& seconds);

std::string results_text(const nlohmann::ordered_json& header, const nlohmann::ordered_json& rows);

// Written aside and then given its name, so that whatever stood there stays until there is better. What is
// aside is opened before the work is done: a file that cannot be written costs nobody an hour. Throws
// input_error.
class results_file {
 public:
  explicit results_file(std::string path);  // "-" for standard output, or empty for none
  ~results_file();
  results_file(const results_file&) = delete;
  results_file& operator=(const results_file&) = delete;

  bool wanted() const { return !path_.empty(); }
  bool to_stdout() const { return path_ == "-"; }
  void write(const std::string& text);

 private:
  [[noreturn]] void fail() const;

  std::string path_, target_;
  std::string temporary_;  // empty where the target is no file but a pipe or a device
};

}  // namespace tilehash::app
