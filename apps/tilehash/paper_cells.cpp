// SPDX-License-Identifier: Apache-2.0
#include "paper_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace tilehash::app {
namespace {

using json = nlohmann::ordered_json;

const json nothing;

// A field by its path: "seconds.build.median", "ages.0".
const json& field(const json& row, std::string_view path) {
  const json* at = &row;
  while (!path.empty()) {
    const std::string name(path.substr(0, path.find('.')));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (at->is_object() && at->contains(name)) {
      at = &(*at)[name];
    } else if (at->is_array() && name.find_first_not_of("0123456789") == std::string::npos &&
               std::stoul(name) < at->size()) {
      at = &(*at)[std::stoul(name)];
    } else {
      return nothing;
    }
  }
  return *at;
}

bool is_same(const json& value, const json& wanted) {
  if (value.is_number() && wanted.is_number()) {  // rows have the load that was reached, 0.79997 for 0.8
    const double a = value, b = wanted;
    const bool whole = value.is_number_integer() && wanted.is_number_integer();
    return std::abs(a - b) <= (whole ? 0 : 1e-3) * std::max(std::abs(a), std::abs(b));
  }
  if (value.is_string() && wanted.is_string()) {  // "rand:n=100000" is rand
    const std::string text = value, start = wanted;
    return text == start || text.starts_with(start + ":n=");
  }
  return value == wanted;
}

bool meets(const json& row, const json& conditions) {
  return std::ranges::all_of(conditions.items(), [&](const auto& one) {
    const json& value = field(row, one.key());
    if (!one.value().is_array()) return is_same(value, one.value());
    return std::ranges::any_of(one.value(), [&](const json& wanted) { return is_same(value, wanted); });
  });
}

// The part of the entry's "ours" for one cell: conditions for the row, and the field.
struct recipe {
  json conditions = json::object(), value, ratio_of;

  void add(const json& of) {
    for (const auto& [key, item] : of.items()) {
      if (key == "value") {
        value = item;
      } else if (key == "ratio_of") {
        ratio_of = item;
      } else {
        conditions[key] = item;
      }
    }
  }
};

using rows_of = std::vector<const json*>;

rows_of rows_that_meet(const json& conditions, const rows_of& rows) {
  rows_of met;
  std::ranges::copy_if(rows, std::back_inserter(met),
                       [&](const json* row) { return meets(*row, conditions); });
  return met;
}

json value_of(const recipe& the, const rows_of& rows) {
  const json names = the.value.is_array() ? the.value : json::array({the.value});
  for (const json* row : rows) {
    if (!meets(*row, the.conditions)) continue;
    for (const json& name : names) {
      const json& value = name.is_string() ? field(*row, name.get<std::string>()) : nothing;
      if (!value.is_null()) return value;
    }
  }
  return nothing;
}

// The recipe of a series or of an axis at `index`; none where we have no such cell.
bool add_place(recipe& to, const json& axis, std::size_t index, const json& value) {
  if (axis.contains("field")) {
    to.conditions[axis["field"].get<std::string>()] = value;
    return !value.is_null();
  }
  if (axis["cells"].size() <= index || axis["cells"][index].is_null()) return false;
  to.add(axis["cells"][index]);
  return true;
}

// The cells of one series, of rows of one machine.
class our_series {
 public:
  our_series(const paper_entry& entry, const paper_cells& cells, std::size_t series, const rows_of& rows)
      : ours_(entry.data["ours"]), cells_(cells), all_rows_(rows) {
    static const json by_design{{"field", "design"}};
    the_.value = ours_.value("value", json());
    the_.ratio_of = ours_.value("ratio_of", json());
    the_.add(ours_.value("where", json::object()));
    const auto& names = entry.data["series"];
    is_known_ =
        names.empty() || add_place(the_, ours_.value("series", by_design), series, names[series]["design"]);
    rows_ = rows_that_meet(the_.conditions, rows);  // so that each cell looks at few
  }

  json at(const std::vector<std::size_t>& place) const {
    if (!is_known_ || rows_.empty()) return nothing;
    recipe cell = the_;
    cell.conditions = json::object();
    for (std::size_t i = 0; i < cells_.axes.size(); ++i) {
      if (!add_place(cell, ours_["axes"][i], place[i + 1], cells_.axes[i][place[i + 1]])) return nothing;
    }
    json value = value_of(cell, rows_);
    if (!value.is_number()) return value;
    if (!cell.ratio_of.is_null()) {
      recipe other = the_;
      other.add(cell.conditions);
      other.value = cell.value;
      other.add(cell.ratio_of);
      const json compared = value_of(other, all_rows_);
      return compared.is_number() && value != 0 ? json(compared.get<double>() / value.get<double>())
                                                : nothing;
    }
    return ours_.contains("scale") ? json(value.get<double>() * ours_["scale"].get<double>()) : value;
  }

 private:
  const json& ours_;
  const paper_cells& cells_;
  const rows_of& all_rows_;
  recipe the_;
  bool is_known_ = false;
  rows_of rows_;
};

std::size_t series_count(const paper_entry& entry) {
  return std::max<std::size_t>(1, entry.data["series"].size());
}

std::vector<std::size_t> place_of(const paper_cells& cells, std::size_t index) {
  std::vector<std::size_t> place(cells.axes.size() + 1);
  for (std::size_t i = cells.axes.size(); i > 0; --i) {
    place[i] = index % cells.axes[i - 1].size();
    index /= cells.axes[i - 1].size();
  }
  place[0] = index;
  return place;
}

// The document's values of an axis, then those that only our rows have.
std::vector<json> axis_values(const paper_entry& entry, std::size_t axis,
                              const std::vector<paper_results>& results) {
  std::vector<json> values, more;
  for (const json& value : entry.data["axes"][axis]["values"]) values.push_back(value);
  if (!entry.data.contains("ours") || !entry.data["ours"]["axes"][axis].contains("field")) return values;
  const json& ours = entry.data["ours"];
  recipe the;
  the.add(ours.value("where", json::object()));
  const std::string name = ours["axes"][axis]["field"];
  for (const paper_results& of : results) {
    for (const json& row : of.rows) {
      const json& value = field(row, name);
      const auto equal = [&](const json& one) { return is_same(one, value); };
      if (!value.is_null() && meets(row, the.conditions) && std::ranges::none_of(values, equal) &&
          std::ranges::none_of(more, equal))
        more.push_back(value);
    }
  }
  std::ranges::sort(more, [](const json& a, const json& b) { return a < b; });
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

json their_cell(const paper_entry& entry, const std::vector<std::size_t>& place) {
  const json* at = &entry.data["values"];
  if (at->is_null()) return nothing;
  for (const std::size_t i : place) {
    if (!at->is_array()) return *at;
    if (i >= at->size()) return nothing;
    at = &(*at)[i];
  }
  return *at;
}

struct count {
  std::size_t compared = 0, same = 0;
};

// Numbers that do not depend on the machine.
count count_equal(const paper_entry& entry, const paper_cells& cells, double tolerance) {
  count all;
  const json loose = entry.data.value("ours", json::object()).value("loose", json::array());
  for (const auto& ours : cells.ours) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (cells.theirs[i].is_null() || ours[i].is_null()) continue;
      const json column = cells.axes.empty() ? json() : cells.axes.back()[i % cells.columns()];
      if (std::ranges::find(loose, column) != loose.end()) continue;
      ++all.compared;
      if (!cells.theirs[i].is_number() || !ours[i].is_number()) {
        all.same += cells.theirs[i] == ours[i] ? 1 : 0;
        continue;
      }
      const double theirs = cells.theirs[i], got = ours[i];
      all.same += std::abs(theirs - got) <= tolerance * std::abs(theirs) + 1e-9 ? 1 : 0;
    }
  }
  return all;
}

// Numbers that depend on the machine: which of two series is ahead.
count count_order(const paper_entry& entry, const paper_cells& cells) {
  count all;
  const std::size_t of_series = cells.theirs.size() / series_count(entry);
  for (const auto& ours : cells.ours) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      for (std::size_t j = i + of_series; j < ours.size(); j += of_series) {
        if (!cells.theirs[i].is_number() || !cells.theirs[j].is_number() || !ours[i].is_number() ||
            !ours[j].is_number() || cells.theirs[i] == cells.theirs[j])
          continue;
        ++all.compared;
        all.same += (cells.theirs[i] < cells.theirs[j]) == (ours[i] < ours[j]) ? 1 : 0;
      }
    }
  }
  return all;
}

std::string reasons(const paper_entry& entry) {
  std::vector<std::string> all;
  for (const json& one : entry.data["differs"]) all.push_back(one);
  return fmt::format("{}", fmt::join(all, " "));
}

}  // namespace

bool paper_cells::has_theirs() const {
  return std::ranges::any_of(theirs, [](const json& one) { return !one.is_null(); });
}

bool paper_cells::has_ours() const {
  return std::ranges::any_of(ours, [](const auto& of) {
    return std::ranges::any_of(of, [](const json& one) { return !one.is_null(); });
  });
}

paper_cells paper_cells_of(const paper_entry& entry, const std::vector<paper_results>& results) {
  paper_cells cells;
  std::size_t total = series_count(entry);
  for (std::size_t i = 0; i < entry.data["axes"].size(); ++i) {
    cells.axes.push_back(axis_values(entry, i, results));
    total *= cells.axes.back().size();
  }
  for (std::size_t i = 0; i < total; ++i) cells.theirs.push_back(their_cell(entry, place_of(cells, i)));
  if (!entry.data.contains("ours")) return cells;
  for (const paper_results& of : results) {
    rows_of rows;
    for (const json& row : of.rows) rows.push_back(&row);
    auto& ours = cells.ours.emplace_back();
    const std::size_t of_series = total / series_count(entry);
    for (std::size_t s = 0; s < series_count(entry); ++s) {
      const our_series the(entry, cells, s, rows);
      for (std::size_t i = s * of_series; i < (s + 1) * of_series; ++i)
        ours.push_back(the.at(place_of(cells, i)));
    }
  }
  return cells;
}

std::string line_label(const paper_entry& entry, const paper_cells& cells, std::size_t first) {
  const auto place = place_of(cells, first);
  std::vector<std::string> words;
  if (!entry.data["series"].empty()) words.push_back(entry.data["series"][place[0]]["name"]);
  for (std::size_t i = 0; i + 1 < cells.axes.size(); ++i) {
    const json& value = cells.axes[i][place[i + 1]];
    const std::string name = value.is_number() ? entry.data["axes"][i]["name"].get<std::string>() + " " : "";
    words.push_back(name + cell_text(value));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string cell_text(const json& cell) {
  if (cell.is_null()) return "-";
  if (cell.is_string()) return cell;
  if (cell.is_boolean()) return cell.get<bool>() ? "yes" : "no";
  if (cell.is_array()) {
    std::vector<std::string> all;
    for (const json& one : cell) all.push_back(cell_text(one));
    return fmt::format("{}", fmt::join(all, ", "));
  }
  if (!cell.is_number()) return cell.dump();
  const double value = cell;
  const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
  if (whole) return fmt::format("{}", static_cast<long long>(value));
  return std::abs(value) >= 1e4 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

judgement judge(const paper_entry& entry, const paper_cells& cells, bool has_results) {
  if (!entry.has_command() && !cells.has_ours()) {
    const bool empty = entry.data.contains("background") || entry.data["measure"].is_null();
    return {empty ? verdict::nothing_to_measure : verdict::not_measured, entry.data["no_command"]};
  }
  if (!has_results) return {verdict::not_measured, "No results."};
  if (!cells.has_ours()) {
    if (!entry.data.contains("ours")) return {verdict::measured, "No field of the results is a cell of it."};
    return {verdict::not_measured, "The results lack its parameters. " + reasons(entry)};
  }
  if (!cells.has_theirs())
    return {verdict::measured, "The document has no numbers of these cells. " + reasons(entry)};
  const json& tolerance = entry.data["tolerance"]["value"];
  const count of = tolerance.is_null() ? count_order(entry, cells) : count_equal(entry, cells, tolerance);
  if (of.compared == 0) return {verdict::measured, "No cell has a number of both. " + reasons(entry)};
  const std::string how =
      tolerance.is_null()
          ? fmt::format("{} of {} pairs of series have the document's order.", of.same, of.compared)
          : fmt::format("{} of {} cells are within {:.4g} % of the document's.", of.same, of.compared,
                        100 * tolerance.get<double>());
  if (of.same == of.compared) return {verdict::agrees, how};
  return {verdict::differs, how + " " + reasons(entry)};
}

std::string_view name_of(verdict is) {
  switch (is) {
    case verdict::agrees:
      return "agrees";
    case verdict::differs:
      return "differs";
    case verdict::measured:
      return "measured";
    case verdict::not_measured:
      return "not measured";
    case verdict::nothing_to_measure:
      return "nothing to measure";
  }
  return {};
}

}  // namespace tilehash::app
