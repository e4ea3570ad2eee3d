// SPDX-License-Identifier: Apache-2.0
// An experiment under way: prints each row as it comes, keeps it for --json, and remembers faults.
#pragma once

#include <string>

#include "fields.hpp"
#include "session.hpp"

namespace tilehash::app {

class experiment {
 public:
  // `name`: of the experiment in the JSON file. `above`: printed first.
  experiment(session& session, std::string name, const std::string& above = {});
  experiment(const experiment&) = delete;
  experiment& operator=(const experiment&) = delete;

  // Prints the line of a row, below its heading if that differs from the last. `more`: printed behind it.
  void add(const bench::fields& row, const std::string& more = {});
  // Printed above the rows that follow, which get a heading of their own.
  void section(const std::string& text);
  // For rows that share a line, which the caller prints.
  void keep(const bench::fields& row);

  // Writes the file. If a row has a fault, the command fails with "some `faults`"; not if that is null.
  void finish(const char* faults = "answers were wrong or items lost");

 private:
  session& session_;
  std::string name_, heading_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
  bool faulty_ = false;
};

}  // namespace tilehash::app
