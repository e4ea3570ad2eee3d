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
std::string in_columns(const fields& row, bool across, Text text) {
  std::string line;
  for (const field& c : row) {
    if (c.width != 0 && c.across == across) line += column(text(c), c.width) + ' ';
  }
  return line;
}

std::string trimmed(const std::string& text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

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

bool is_faulty(const fields& row) {
  return std::ranges::any_of(row, [](const field& c) { return c.is_fault && c.value != 0; });
}

std::string table_lines::add(const fields& row) {
  const auto head = [](const field& c) { return c.head; };
  const std::string own = in_columns(row, false, text_of), across = in_columns(row, true, text_of);
  if (own.empty() && across.empty()) return {};
  std::string done;
  if (across.empty() || own != own_) {
    done = end();
    own_ = line_ = own;
    head_ = in_columns(row, false, head);
  }
  line_ += across;
  head_ += in_columns(row, true, head);
  for (const field& c : row) {
    if (c.is_fault && !c.head.empty()) faults_ += faults({{c.head.c_str(), c.value.get<std::uint64_t>()}});
  }
  return across.empty() ? done + end() : done;
}

std::string table_lines::end(const std::string& more) {
  std::string text;
  if (!line_.empty()) {
    if (head_ != heading_) text = trimmed(head_) + '\n';
    text += trimmed(line_) + faults_ + '\n';
    heading_ = head_;
  }
  own_.clear(), head_.clear(), line_.clear(), faults_.clear();
  return text + more;
}

}  // namespace tilehash::bench
