// SPDX-License-Identifier: Apache-2.0
// The fields of a result row. The same list of fields makes its JSON object, its line of the printed table and the
// heading above that.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "results_file.hpp"

namespace tilehash::bench {

using app::as_json;  // of a spread

struct field {
  std::string name;  // of the JSON object; empty: printed alone
  nlohmann::ordered_json value;
  std::string head = {};    // of the column; empty: not printed
  int width = 0;            // of the column; negative: aligned to the left
  std::string format = {};  // of a number, as ".1f"
  double scale = 1;         // of the printed number
  bool is_fault = false;    // counted at the line's end, unless it is 0, and makes the command fail
  bool across = false;      // rows that differ in such columns alone share a line
};
using fields = std::vector<field>;

inline field refused_items(std::uint64_t count, std::string name = "failed") {
  return {.name = std::move(name), .value = count, .head = "REFUSED", .is_fault = true};
}
inline field wrong_answers(std::uint64_t count) {
  return {.name = "wrong", .value = count, .head = "WRONG", .is_fault = true};
}
// Null for a number that the program does not know: 0.
inline nlohmann::ordered_json or_null(double number) {
  return number > 0 ? nlohmann::ordered_json(number) : nlohmann::ordered_json(nullptr);
}

// "  2 REFUSED  1 WRONG", for the end of a line; counts of 0 are left out.
std::string faults(std::initializer_list<std::pair<const char*, std::uint64_t>> counts);

nlohmann::ordered_json object_of(const fields& row);
bool is_faulty(const fields& row);

// The printed table. Each call returns what is complete: lines, and a heading above those whose columns differ from the last.
class table_lines {
 public:
  std::string add(const fields& row);
  std::string end(const std::string& more = {});  // the last line, and `more` below it
  void new_heading() { heading_.clear(); }

 private:
  std::string heading_;                     // printed last
  std::string own_, head_, line_, faults_;  // of the line that is not complete
};

}  // namespace tilehash::bench
