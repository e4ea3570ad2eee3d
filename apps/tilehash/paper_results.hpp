// SPDX-License-Identifier: Apache-2.0
// Results of the tables and figures: a folder that `tilehash reproduce` writes, or bench/results with the project's.
#pragma once

#include <string>
#include <vector>

#include "paper_cells.hpp"
#include "papers.hpp"

namespace tilehash::app {

// The results of an entry on each machine in `folder`: the file named after the entry, in the folder, in a machine's folder in
// it or in that one's last release (h200/0.1.0). A machine without any has the files that the entry names as recorded
// (bench/results/h200/x.json as h200/x.json). These also come before a release's run of small sizes.
std::vector<paper_results> read_paper_results(const paper_entry& entry, const std::string& folder);

// The file that `tilehash reproduce` wrote for this entry, or null. A damaged file is an input_error.
nlohmann::ordered_json reproduced(const paper_entry& entry, const std::string& folder);

}  // namespace tilehash::app
