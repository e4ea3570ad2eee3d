// SPDX-License-Identifier: Apache-2.0
#include "papers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "dataset.hpp"

namespace tilehash::app {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

std::vector<std::string> nearest(const std::string& name) {
  std::vector<std::pair<std::size_t, std::string>> names;
  for (const paper_entry& entry : all_paper_entries())
    names.emplace_back(edit_distance(name, entry.name), entry.name);
  const std::size_t count = std::min<std::size_t>(3, names.size());
  std::ranges::partial_sort(names, names.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(names[i].second);
  return result;
}

}  // namespace

std::string paper_entry::file_name() const {
  std::string file = name + ".json";
  std::ranges::replace(file, ':', '_');
  return file;
}

const std::vector<paper_entry>& all_paper_entries() {
  static const std::vector<paper_entry> entries = [] {
    std::vector<paper_entry> all;
    for (const char* text : paper_texts()) {
      const auto paper = nlohmann::ordered_json::parse(text);
      const auto& document = paper["document"];
      for (const auto& entry : paper["entries"]) {
        all.push_back(
            {document["key"].get<std::string>() + ":" + entry["id"].get<std::string>(), document, entry});
      }
    }
    return all;
  }();
  return entries;
}

std::vector<paper_entry> find_paper_entries(const std::string& name) {
  std::vector<paper_entry> found;
  for (const paper_entry& entry : all_paper_entries()) {
    const bool of_group = (name == "all" && entry.has_command()) || entry.paper["key"] == name;
    if (of_group || entry.name == name) found.push_back(entry);
  }
  if (found.empty()) {
    throw input_error(fmt::format("'{}' is no table or figure; nearest are {}; tilehash bench list names all",
                                  name, fmt::join(nearest(name), ", ")));
  }
  return found;
}

}  // namespace tilehash::app
