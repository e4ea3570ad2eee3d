// SPDX-License-Identifier: Apache-2.0
// Shared by the reports: rows as JSON, and the end of a line that counts faults.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

namespace tilehash::bench {

// An array of as_json(row), for each row.
template <class Rows, class AsJson>
nlohmann::ordered_json rows_as_json(const Rows& rows, AsJson as_json) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& row : rows) all.push_back(as_json(row));
  return all;
}

// "  2 REFUSED  1 WRONG", for the end of a line; counts of 0 are left out.
inline std::string faults(std::initializer_list<std::pair<const char*, std::uint64_t>> counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    if (count != 0) text += "  " + std::to_string(count) + ' ' + name;
  return text;
}

}  // namespace tilehash::bench
