// SPDX-License-Identifier: Apache-2.0
// Runs the commands of tables and figures, each by this program, and writes a file of results for each entry.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "papers.hpp"

namespace tilehash::app {

struct run_outcome {
  std::string problem;    // why it did not run; else empty
  bool is_wrong = false;  // a command found a wrong answer or a lost item
};

class paper_runs {
 public:
  paper_runs(std::string folder, std::string space, bool quick);

  std::string file_of(const paper_entry& entry) const;
  // Did this commit record it, with the same parameters in the same space?
  bool is_recorded(const paper_entry& entry) const;
  run_outcome run(const paper_entry& entry);

 private:
  struct result {
    nlohmann::ordered_json data;  // header and rows
    int code = 0;
    std::string error;
  };
  // The words of each run, or why there are none.
  std::vector<std::vector<std::string>> commands_of(const paper_entry& entry, std::string& problem) const;
  const result& result_of(const std::vector<std::string>& words);

  std::string folder_, space_;
  bool quick_;
  std::map<std::vector<std::string>, result> done_;  // several entries share a command
};

}  // namespace tilehash::app
