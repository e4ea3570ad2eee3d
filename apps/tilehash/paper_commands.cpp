// SPDX-License-Identifier: Apache-2.0
#include "paper_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cuda_presence.hpp"
#include "dataset.hpp"
#include "environment.hpp"
#include "interrupt.hpp"
#include "paper_cells.hpp"
#include "paper_report.hpp"
#include "paper_results.hpp"
#include "paper_runs.hpp"
#include "papers.hpp"
#include "progress.hpp"
#include "run_command.hpp"
#include "terminal.hpp"

namespace tilehash::app {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* default_folder = "tilehash-results";

struct list_request {
  std::string paper = "all", folder = default_folder;
};

struct reproduce_request {
  std::vector<std::string> names;
  std::string space = "auto", folder = default_folder;
  bool quick = false, again = false;
};

std::string state_of(const paper_entry& entry, const std::string& folder) {
  if (!entry.has_command()) return "no command";
  const json data = reproduced(entry, folder);
  if (data.is_null()) return entry.data["recorded"].is_null() ? "never run" : "stale";
  return data["header"].value("commit", "") == built_commit() ? "recorded" : "stale";
}

void list_entries(const list_request& request) {
  for (const paper_entry& entry : find_paper_entries(request.paper)) {
    const auto& data = entry.data;
    fmt::print("{:<22} {:<9} {:<9} {:<11} {}\n", entry.name, data["kind"].get<std::string>(),
               data["number"].get<std::string>(), state_of(entry, request.folder),
               data["title"].get<std::string>());
  }
}

// The document's numbers and ours, line below line.
void print_cells(const paper_entry& entry, const paper_cells& cells) {
  constexpr std::size_t most = 12;  // columns
  const std::size_t shown = std::min(cells.columns(), most);
  const auto line = [&](const std::string& label, const char* whose, const auto& text_at) {
    fmt::print("{:<36.36} {:<6}", label, whose);
    for (std::size_t i = 0; i < shown; ++i) fmt::print(" {:>10.10}", text_at(i));
    fmt::print("{}\n", cells.columns() > most ? " ..." : "");
  };
  if (!cells.axes.empty()) {
    const json& axis = entry.data["axes"].back();
    line(axis["name"].get<std::string>(), "", [&](std::size_t i) { return cell_text(cells.axes.back()[i]); });
  }
  const auto is_some = [&](const std::vector<json>& of, std::size_t first) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
    return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(cells.columns()),
                       [](const json& one) { return !one.is_null(); });
  };
  for (std::size_t first = 0; first < cells.theirs.size(); first += cells.columns()) {
    std::string label = line_label(entry, cells, first);
    if (is_some(cells.theirs, first)) {
      line(label, "theirs", [&](std::size_t i) { return cell_text(cells.theirs[first + i]); });
      label.clear();
    }
    for (const auto& ours : cells.ours) {
      if (is_some(ours, first))
        line(label, "ours", [&](std::size_t i) { return cell_text(ours[first + i]); });
    }
  }
}

std::string unit_of(const paper_entry& entry) {
  const json& measure = entry.data["measure"];
  if (measure.is_null()) return {};
  const std::string unit = measure["unit"].is_null() ? "" : ", " + measure["unit"].get<std::string>();
  return fmt::format(" ({}{})", measure["name"].get<std::string>(), unit);
}

judgement show(const paper_entry& entry, const std::string& folder, bool with_cells) {
  const json data = reproduced(entry, folder);
  std::vector<paper_results> results;
  if (!data.is_null()) {
    auto& of = results.emplace_back();
    of.rows.assign(data["rows"].begin(), data["rows"].end());
  }
  const paper_cells cells = paper_cells_of(entry, results);
  const judgement is = judge(entry, cells, !results.empty());
  if (with_cells) {
    fmt::print("{}  {}{}\n", entry.name, entry.data["title"].get<std::string>(), unit_of(entry));
    print_cells(entry, cells);
    fmt::print("{}: {}\n", name_of(is.is), wrap(is.why, style_of(stdout).width, 2));
  }
  return is;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<paper_entry> entries_of(const reproduce_request& request) {
  std::vector<paper_entry> entries;
  for (const std::string& name : request.names) {
    for (paper_entry& entry : find_paper_entries(name)) entries.push_back(std::move(entry));
  }
  if (entries.size() > 1) std::erase_if(entries, [](const paper_entry& one) { return !one.has_command(); });
  return entries;
}

// By the entries that were measured so far; nothing before the first.
std::string time_left(double seconds, std::size_t measured, std::size_t to_measure) {
  if (measured == 0) return {};
  return fmt::format("  about {:.0f} s left", seconds / double(measured) * double(to_measure));
}

void reproduce(const reproduce_request& request) {
  const std::string obstacle = why_no_cuda();
  if (request.space == "cuda" && !obstacle.empty())
    throw input_error(fmt::format("--space cuda: {}; use --space cpu", obstacle));
  const std::string space = request.space != "auto" ? request.space : obstacle.empty() ? "cuda" : "cpu";
  const auto entries = entries_of(request);
  const bool alone = entries.size() == 1;
  paper_runs runs(request.folder, space, request.quick);
  progress bar(std::vector<double>(entries.size(), 5));
  const auto start = std::chrono::steady_clock::now();
  std::vector<bool> recorded;
  recorded.reserve(entries.size());
  for (const paper_entry& entry : entries) recorded.push_back(!request.again && runs.is_recorded(entry));
  auto to_measure = static_cast<std::size_t>(std::ranges::count(recorded, false));
  std::size_t measured = 0, failed = 0, wrong = 0;
  keep_results();  // Ctrl-C ends the run that is under way, and then this
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const paper_entry& entry = entries[i];
    bar.begin(i, entry.name);
    const auto began = std::chrono::steady_clock::now();
    const run_outcome outcome = recorded[i] ? run_outcome{} : runs.run(entry);
    stop_if_asked();
    bar.clear();
    measured += recorded[i] ? 0 : 1;
    to_measure -= recorded[i] ? 0 : 1;
    failed += outcome.problem.empty() ? 0 : 1;
    wrong += outcome.is_wrong ? 1 : 0;
    if (alone) {
      if (!outcome.problem.empty()) throw input_error(fmt::format("{}: {}", entry.name, outcome.problem));
      show(entry, request.folder, true);
      fmt::print("{}\n", runs.file_of(entry));
      continue;
    }
    const std::string said = outcome.problem.empty()
                                 ? std::string(name_of(show(entry, request.folder, false).is))
                                 : outcome.problem;
    fmt::print("[{:>3} of {}] {:<22} {:>6.1f} s{}  {}{}\n", i + 1, entries.size(), entry.name,
               seconds_since(began), time_left(seconds_since(start), measured, to_measure), said,
               recorded[i] ? " (recorded before)" : "");
    std::fflush(stdout);
  }
  if (!alone) {
    fmt::print("{} entries in {:.0f} s: {} recorded before, {} not run; results in {}\n", entries.size(),
               seconds_since(start), entries.size() - measured, failed, request.folder);
  }
  if (wrong != 0) throw CLI::RuntimeError(wrong_or_lost);
}

void add_folder(CLI::App& command, std::string& folder) {
  command.add_option("--results", folder, "Folder of the results")->type_name("DIR")->capture_default_str();
}

}  // namespace

void add_paper_list(CLI::App& bench) {
  CLI::App* list =
      bench.add_subcommand("list", "The tables and figures of the documents, and which are recorded");
  const auto request = std::make_shared<list_request>();
  list->add_option("--paper", request->paper, "One document: alcantara, breslow, garcia, kolushev or li")
      ->capture_default_str();
  add_folder(*list, request->folder);
  list->footer(
      "States: recorded, by this commit; stale, by another one; never run; no command, where nothing is "
      "measured.");
  list->callback([request] { list_entries(*request); });
}

CLI::App* add_reproduce_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "reproduce", "Measure a document's table or figure: its numbers next to ours, and a verdict");
  const auto request = std::make_shared<reproduce_request>();
  command->add_option("ENTRY", request->names, "li:table7, all of a document as li, or all")->required();
  command->add_flag("--quick", request->quick, "Small sizes, for two cores and seconds");
  command->add_flag("--again", request->again, "Measure also what this commit has recorded");
  command->add_option("--space", request->space, "Where: cpu, cuda, or auto for cuda where there is a GPU")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->capture_default_str();
  add_folder(*command, request->folder);
  command->footer("tilehash bench list names the entries. Results are JSON files named after them.");
  command->callback([request] { reproduce(*request); });
  return command;
}

CLI::App* add_report_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("report", "One HTML page: the documents' tables and figures next to ours");
  struct request {
    std::string folder = default_folder, page = "report.html";
  };
  const auto wanted = std::make_shared<request>();
  command->add_option("DIR", wanted->folder, "Folder of the results, of tilehash reproduce or bench/results")
      ->capture_default_str();
  command->add_option("-o,--output", wanted->page, "The page")->type_name("FILE")->capture_default_str();
  command->callback([wanted] {
    const std::string text = paper_report(wanted->folder);
    std::ofstream file(wanted->page, std::ios::binary);
    if (!(file << text << std::flush))
      throw input_error(fmt::format("--output {}: cannot write it: {}", wanted->page, std::strerror(errno)));
    fmt::print("{}\n", wanted->page);
  });
  return command;
}

}  // namespace tilehash::app
