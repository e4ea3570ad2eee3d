// SPDX-License-Identifier: Apache-2.0
#include "fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tilehash::bench {
namespace {

std::string text_of(const field& c) {
  const auto spec = fmt::format("{{:{}}}", c.format);
  if (c.value.is_string()) return c.value.get<std::string>();
  if (c.value.is_boolean()) return c.value.get<bool>() ? "yes" : "no";
  if (c.value.is_null()) return {};
  if (c.format.empty() && c.value.is_number_integer()) return std::to_string(c.value.get<std::int64_t>());
  return fmt::format(fmt::runtime(spec), c.value.get<double>() * c.scale);
}

std::string column(const std::string& text, int width) {
  const auto letters = static_cast<unsigned>(std::abs(width));
  return width < 0 ? fmt::format("{:<{}}", text, letters) : fmt::format("{:>{}}", text, letters);
}

// The printed fields' `text`, each in its column.
template <class Text>
std::string in_columns(const fields& row, Text text) {
  std::string line;
  for (const field& c : row) {
    if (c.width == 0) continue;
    if (!line.empty()) line += ' ';
    line += column(text(c), c.width);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string faults(std::initializer_list<std::pair<const char*, std::uint64_t>> counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    if (count != 0) text += "  " + std::to_string(count) + ' ' + name;
  return text;
}

nlohmann::ordered_json object_of(const fields& row) {
  auto object = nlohmann::ordered_json::object();
  for (const field& c : row) {
    if (!c.name.empty()) object[c.name] = c.value;
  }
  return object;
}

std::string heading_of(const fields& row) {
  const std::string line = in_columns(row, [](const field& c) { return c.head; });
  return line.empty() ? line : line + '\n';
}

std::string line_of(const fields& row) {
  std::string line = in_columns(row, text_of);
  if (line.empty()) return line;
  for (const field& c : row) {
    if (c.is_fault) line += faults({{c.head.c_str(), c.value.get<std::uint64_t>()}});
  }
  return line + '\n';
}

bool is_faulty(const fields& row) {
  return std::ranges::any_of(row, [](const field& c) { return c.is_fault && c.value != 0; });
}

}  // namespace tilehash::bench
