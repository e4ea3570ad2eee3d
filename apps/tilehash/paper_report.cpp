// SPDX-License-Identifier: Apache-2.0
// tilehash report: one page with every table and figure of the documents, theirs next to ours.
#include "paper_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "environment.hpp"
#include "paper_cells.hpp"
#include "paper_picture.hpp"
#include "paper_report_style.hpp"
#include "paper_results.hpp"
#include "papers.hpp"

namespace tilehash::app {
namespace {

using json = nlohmann::ordered_json;

constexpr std::array all_verdicts{verdict::agrees, verdict::differs, verdict::measured, verdict::not_measured,
                                  verdict::nothing_to_measure};
constexpr std::size_t most_columns = 24;

// A class of the style: the verdict's first word.
std::string style_of(verdict is) {
  const std::string_view name = name_of(is);
  return std::string(name.substr(0, name.find(' ')));
}

void write_line(std::string& page, const std::string& label, const std::string& whose,
                const std::vector<json>& of, std::size_t first, std::size_t columns) {
  const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(columns);
  if (std::all_of(begin, end, [](const json& one) { return one.is_null(); })) return;
  page += fmt::format("<tr class=\"{}\"><td>{}</td><td>{}</td>", whose == "theirs" ? "theirs" : "ours",
                      html_text(label), html_text(whose));
  for (auto at = begin; at != end; ++at) page += fmt::format("<td>{}</td>", html_text(cell_text(*at)));
  page += "</tr>\n";
}

std::string table_of(const paper_entry& entry, const paper_cells& cells,
                     const std::vector<paper_results>& results) {
  if (cells.theirs.empty() || (!cells.has_theirs() && !cells.has_ours())) return {};
  const std::size_t columns = std::min(cells.columns(), most_columns);
  std::string lines;
  for (std::size_t first = 0; first < cells.theirs.size(); first += cells.columns()) {
    const std::string label = line_label(entry, cells, first);
    write_line(lines, label, "theirs", cells.theirs, first, columns);
    for (std::size_t r = 0; r < cells.ours.size(); ++r)
      write_line(lines, label, results[r].machine, cells.ours[r], first, columns);
  }
  if (lines.empty()) return {};
  std::string head = "<tr><th></th><th></th>";
  if (!cells.axes.empty()) {
    head = fmt::format("<tr><th>{}</th><th></th>",
                       html_text(entry.data["axes"].back()["name"].get<std::string>()));
    for (std::size_t i = 0; i < columns; ++i)
      head += fmt::format("<th>{}</th>", html_text(cell_text(cells.axes.back()[i])));
  }
  const std::string more =
      cells.columns() > columns
          ? fmt::format("<p class=\"small\">The first {} of {} columns.</p>\n", columns, cells.columns())
          : "";
  return fmt::format("<div class=\"scroll\"><table>{}</tr>\n{}</table></div>\n{}", head, lines, more);
}

std::string stated_numbers(const paper_entry& entry) {
  std::vector<std::string> all;
  for (const json& one : entry.data["stated"]) {
    const std::string unit = one["unit"].is_string() ? " " + one["unit"].get<std::string>() : "";
    all.push_back(html_text(one["what"].get<std::string>() + ": " + cell_text(one["value"]) + unit));
  }
  if (all.empty()) return {};
  return fmt::format("<p class=\"small\">The text states {}.</p>\n", fmt::join(all, "; "));
}

// The cells: numbers, pictures, and where they were measured.
std::string measured_part(const paper_entry& entry, const paper_cells& cells,
                          const std::vector<paper_results>& results) {
  std::string part = table_of(entry, cells, results) + pictures_of(entry, cells, results);
  for (const paper_results& of : results) {
    part +=
        fmt::format("<p class=\"small\">Ours: {}, commit {}.</p>\n",
                    html_text(of.machine.empty() ? "unknown machine" : of.machine), html_text(of.made_by));
  }
  if (!entry.has_command() && cells.has_ours())
    part +=
        fmt::format("<p class=\"small\">{}</p>\n", html_text(entry.data["no_command"].get<std::string>()));
  if (entry.has_command())
    part += fmt::format("<pre><code>tilehash reproduce {}</code><button>copy</button></pre>\n",
                        html_text(entry.name));
  return part;
}

std::string section_of(const paper_entry& entry, const paper_cells& cells,
                       const std::vector<paper_results>& results, const judgement& judged) {
  const auto& data = entry.data;
  const json& measure = data["measure"];
  std::string unit;
  if (!measure.is_null()) {
    unit = measure["name"].get<std::string>();
    if (measure["unit"].is_string()) unit += ", " + measure["unit"].get<std::string>();
    unit = html_text(" (" + unit + ")");
  }
  std::string kind = data["kind"];
  kind[0] = static_cast<char>(kind[0] - 'a' + 'A');
  const std::string machine =
      data["machine"].is_string() ? "<br>Theirs: " + html_text(data["machine"].get<std::string>()) : "";
  return fmt::format(
      "<section id=\"{}\"><h3>{} {}: {}</h3>\n<p><span class=\"verdict {}\">{}</span> {}</p>\n"
      "<p class=\"small\">{}{}{}</p>\n{}{}</section>\n",
      html_text(entry.name), kind, html_text(data["number"].get<std::string>()),
      html_text(data["title"].get<std::string>()), style_of(judged.is), name_of(judged.is),
      html_text(judged.why), html_text(data["about"].get<std::string>()), unit, machine,
      stated_numbers(entry), measured_part(entry, cells, results));
}

// The cells that the verdict counts: those of quick runs only where no other run exists. (`ours` is empty for an entry without
// cells.)
paper_cells counted_cells(paper_cells cells, const std::vector<paper_results>& results) {
  if (std::ranges::all_of(results, &paper_results::quick)) return cells;
  for (std::size_t r = cells.ours.size(); r-- > 0;) {
    if (results[r].quick) cells.ours.erase(cells.ours.begin() + static_cast<std::ptrdiff_t>(r));
  }
  return cells;
}

using counts = std::map<verdict, std::size_t>;

std::string counts_table(const std::vector<std::pair<std::string, counts>>& documents) {
  std::string table = "<div class=\"scroll\"><table><tr><th>document</th><th></th>";
  for (const verdict is : all_verdicts)
    table += fmt::format("<th class=\"{}\">{}</th>", style_of(is), name_of(is));
  table += "<th>all</th></tr>\n";
  counts total;
  const auto line = [&](const std::string& name, const counts& of) {
    std::size_t all = 0;
    table += fmt::format("<tr><td>{}</td><td></td>", name);
    for (const verdict is : all_verdicts) {
      const std::size_t n = of.contains(is) ? of.at(is) : 0;
      table += fmt::format("<td>{}</td>", n);
      all += n;
    }
    table += fmt::format("<td>{}</td></tr>\n", all);
  };
  for (const auto& [key, of] : documents) {
    line(fmt::format("<a href=\"#{}\">{}</a>", key, key), of);
    for (const auto& [is, n] : of) total[is] += n;
  }
  line("all", total);
  return table + "</table></div>\n";
}

}  // namespace

std::string paper_report(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    throw input_error(
        fmt::format("{}: no folder; tilehash reproduce writes one, bench/results is another", folder));
  std::string body;
  std::vector<std::pair<std::string, counts>> documents;
  for (const paper_entry& entry : all_paper_entries()) {
    const std::string key = entry.paper["key"];
    if (documents.empty() || documents.back().first != key) {
      documents.push_back({key, {}});
      body += fmt::format("<h2 id=\"{}\">{}: {}, {}</h2>\n", key,
                          html_text(entry.paper["authors"].get<std::string>()),
                          html_text(entry.paper["title"].get<std::string>()), entry.paper["year"].get<int>());
    }
    const auto results = read_paper_results(entry, folder);
    const paper_cells cells = paper_cells_of(entry, results);
    const judgement judged = judge(entry, counted_cells(cells, results), !results.empty());
    ++documents.back().second[judged.is];
    body += section_of(entry, cells, results, judged);
  }
  return fmt::format(
      "{}<h1>The documents' tables and figures, theirs next to ours</h1>\n{}"
      "<p class=\"small\">Agrees: numbers that do not depend on the machine are within the entry's "
      "tolerance, and "
      "rates have the document's order of series. Measured: the document has no number to compare with. "
      "Quick: small sizes, which the verdict counts only if no other run exists. "
      "Written by {}.</p>\n{}{}",
      report_head, counts_table(documents), html_text(version_line()), body, report_foot);
}

}  // namespace tilehash::app
