// SPDX-License-Identifier: Apache-2.0
// A document's numbers next to ours: which field of our result rows is which cell, and a verdict.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "papers.hpp"

namespace tilehash::app {

// Result rows of one machine.
struct paper_results {
  std::string machine;  // a quick run says so
  std::string made_by;  // commit, date, and the full or quick parameters
  bool quick = false;
  std::vector<nlohmann::ordered_json> rows;
};

// Cells in the order series, first axis, second axis, and so on; null where there is none.
struct paper_cells {
  std::vector<std::vector<nlohmann::ordered_json>> axes;  // the document's values, then those of ours alone
  std::vector<nlohmann::ordered_json> theirs;
  std::vector<std::vector<nlohmann::ordered_json>> ours;  // for each of the results

  std::size_t columns() const { return axes.empty() ? 1 : axes.back().size(); }
  bool has_theirs() const;
  bool has_ours() const;
};

paper_cells paper_cells_of(const paper_entry& entry, const std::vector<paper_results>& results);
// The series and the values of all axes but the last, for the line of cells from `first` on.
std::string line_label(const paper_entry& entry, const paper_cells& cells, std::size_t first);

std::string cell_text(const nlohmann::ordered_json& cell);  // four digits; "-" for null

enum class verdict { agrees, differs, measured, not_measured, nothing_to_measure };

struct judgement {
  verdict is;
  std::string why;
};

// `has_results`: some rows exist, even if no cell is known in them.
judgement judge(const paper_entry& entry, const paper_cells& cells, bool has_results);
std::string_view name_of(verdict is);

}  // namespace tilehash::app
