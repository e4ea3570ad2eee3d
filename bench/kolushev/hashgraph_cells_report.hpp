// SPDX-License-Identifier: Apache-2.0
// How the measurements of sets of cells are printed.
#pragma once

#include <string>

#include "fields.hpp"
#include "kolushev/hashgraph_cells.hpp"

namespace tilehash::bench {

std::string cells_heading(const cells_case& the_case, int threads);  // threads: 0 on a GPU
// `standard`: std::unordered_set in the same case, or null.
std::string cells_line(const cells_measurement& m, const cells_measurement* standard);
fields fields_of(const cells_measurement& m);

}  // namespace tilehash::bench
