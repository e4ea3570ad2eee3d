// SPDX-License-Identifier: Apache-2.0
#include "paper_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "dataset.hpp"

namespace tilehash::app {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

// Sets the field that a path of names leads to, "seconds.median" the median of the seconds; of "a,b" both.
void put(json& row, const std::string& paths, const json& value) {
  std::istringstream all(paths);
  for (std::string path; std::getline(all, path, ',');) {
    std::istringstream names(path);
    json* at = &row;
    for (std::string name; std::getline(names, name, '.');) at = &(*at)[name];
    *at = value;
  }
}

// The rows of a packed file as objects (scripts/check_results.py).
json unpacked(const json& data) {
  json same = json::object(), rows = json::array();
  for (const auto& [name, value] : data.at("same").items()) put(same, name, value);
  std::map<std::size_t, std::vector<json>> last;  // of each list of columns
  for (const json& values : data.at("rows")) {
    const auto list = values.at(0).get<std::size_t>(), known = values.at(1).get<std::size_t>();
    const json& columns = data.at("columns").at(list);
    std::vector<json>& all = last[list];
    all.resize(columns.size());
    json row = same;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i >= known) all[i] = values.at(2 + i - known);
      put(row, columns[i].get<std::string>(), all[i]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

json parsed(const fs::path& path) {
  std::ifstream file(path);
  if (!file || path.extension() != ".json") return {};  // counters of a profiler are text
  json data = json::parse(file, nullptr, false);
  if (data.is_array()) data = {{"header", json::object()}, {"rows", data}};  // as older commits wrote it
  if (!data.is_object() || !data.contains("header") || !data.contains("rows"))
    throw input_error(fmt::format("{}: no results of tilehash; delete it", path.string()));
  if (data.contains("columns")) {
    try {
      data["rows"] = unpacked(data);
    } catch (const json::exception&) {
      throw input_error(fmt::format("{}: rows and columns do not fit; pack the file again", path.string()));
    }
  }
  return data;
}

// Many entries share a file.
const json& read(const fs::path& path) {
  static std::map<fs::path, json> files;
  const auto known = files.find(path);
  return known != files.end() ? known->second : files.emplace(path, parsed(path)).first->second;
}

std::string text_of(const json& header, const char* key) {
  return header.contains(key) && header[key].is_string() ? header[key].get<std::string>() : std::string();
}

bool is_quick(const fs::path& path) {
  const json& data = read(path);
  return !data.is_null() && data["header"].value("quick", false);
}

void add(std::map<std::string, paper_results>& all, const std::string& group, const fs::path& path) {
  const json& data = read(path);
  if (data.is_null()) return;
  const json& header = data["header"];
  paper_results& of = all[group];
  of.rows.insert(of.rows.end(), data["rows"].begin(), data["rows"].end());
  const std::string gpu = text_of(header, "gpu"), processor = text_of(header, "machine");
  if (of.machine.empty()) {
    of.quick = is_quick(path);
    of.machine = (gpu.empty() ? processor : gpu) + (of.quick ? ", quick" : "");
  }
  const std::string commit = text_of(header, "commit"), date = text_of(header, "date").substr(0, 10);
  const std::string quick = header.value("quick", false) ? ", quick" : "";
  const std::string made =
      fmt::format("{}{}{}", commit.empty() ? "unknown" : commit, date.empty() ? "" : " " + date, quick);
  if (of.made_by.find(made) == std::string::npos) of.made_by += (of.made_by.empty() ? "" : "; ") + made;
}

// Folders in a folder, in the order of their names, numbers by their size: 0.9.0 before 0.10.0.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> inner;
  std::error_code ignored;
  for (const auto& one : fs::directory_iterator(folder, ignored)) {
    if (one.is_directory(ignored)) inner.push_back(one.path());
  }
  std::ranges::sort(inner, [](const fs::path& a, const fs::path& b) {
    return strverscmp(a.filename().c_str(), b.filename().c_str()) < 0;
  });
  return inner;
}

}  // namespace

json reproduced(const paper_entry& entry, const std::string& folder) {
  return parsed(fs::path(folder) / entry.file_name());
}

std::vector<paper_results> read_paper_results(const paper_entry& entry, const std::string& folder) {
  std::map<std::string, std::vector<fs::path>> recorded;  // by machine
  if (!entry.data["recorded"].is_null()) {
    for (const json& name : entry.data["recorded"]) {
      const fs::path inside = fs::path(name.get<std::string>()).lexically_relative("bench/results");
      if (!read(folder / inside).is_null())
        recorded[inside.parent_path().string()].push_back(folder / inside);
    }
  }
  std::map<std::string, paper_results> all;
  add(all, "", fs::path(folder) / entry.file_name());
  for (const fs::path& machine : folders_in(folder)) {
    const std::string group = machine.filename().string();
    add(all, group, machine / entry.file_name());
    const auto releases = folders_in(machine);  // the last one that has the entry
    for (auto release = releases.rbegin(); release != releases.rend() && !all.contains(group); ++release) {
      const fs::path path = *release / entry.file_name();
      if (!is_quick(path) || !recorded.contains(group)) add(all, group, path);
    }
  }
  for (const auto& [group, paths] : recorded) {
    if (all.contains(group)) continue;
    for (const fs::path& path : paths) add(all, group, path);
  }
  std::vector<paper_results> results;
  results.reserve(all.size());
  for (auto& [group, of] : all) results.push_back(std::move(of));
  // A speedup of one space over another needs the rows of both.
  const json ratio = entry.data.value("ours", json::object()).value("ratio_of", json::object());
  if (ratio.contains("space") && results.size() > 1) {
    if (!std::ranges::all_of(results, &paper_results::quick))
      std::erase_if(results, std::mem_fn(&paper_results::quick));
    for (std::size_t i = 1; i < results.size(); ++i) {
      results[0].rows.insert(results[0].rows.end(), results[i].rows.begin(), results[i].rows.end());
      results[0].machine += " and " + results[i].machine;
      results[0].made_by += "; " + results[i].made_by;
    }
    results.resize(1);
  }
  return results;
}

}  // namespace tilehash::app
