// SPDX-License-Identifier: Apache-2.0
// The cells of a tetrahedral mesh in a file.
#pragma once

#include <string>
#include <vector>

#include "kolushev/hashgraph_cells.hpp"

namespace tilehash::bench {

// NAME.ele as TetGen writes it: the number of cells, of corners and of attributes, and then a line a cell:
// its number, its corners, its attributes. Any other: a line a cell, its four corners. Text after a # is
// a comment; .gz is unpacked. O(bytes), and the bytes of the file in addition to the cells'. Throws input_error: no
// such file, no cells, cells of any but four corners, what is no corner.
std::vector<cell> read_cells(const std::string& path);

}  // namespace tilehash::bench
