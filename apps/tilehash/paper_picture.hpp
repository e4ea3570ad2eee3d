// SPDX-License-Identifier: Apache-2.0
// Cells as pictures: SVG with a line for each series, ours solid and the document's dashed.
#pragma once

#include <string>

#include "paper_cells.hpp"

namespace tilehash::app {

std::string html_text(std::string_view text);  // with & < > " escaped

// A picture for each machine and each value of the other axes; empty where no axis has two numbers.
std::string pictures_of(const paper_entry& entry, const paper_cells& cells,
                        const std::vector<paper_results>& results);

}  // namespace tilehash::app
