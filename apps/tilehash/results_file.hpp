// SPDX-License-Identifier: Apache-2.0
// The file that --json names: one form for `run` and for all of `bench`, {"header": {...}, "rows": [...]}, a
// row a line (bench/results.schema.json).
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "spread.hpp"

namespace tilehash::app {

// Repeated measurements: "min", "median" and "max" of its "runs".
nlohmann::ordered_json as_json(const spread& seconds);

std::string results_text(const nlohmann::ordered_json& header, const nlohmann::ordered_json& rows);

// Written under another name and then renamed, so that an older file stays until the new one is complete. The
// file is opened before the work begins: a path that cannot be written fails at once. Throws
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
