// SPDX-License-Identifier: Apache-2.0
// The measurements of sets of cells as fields.
#pragma once

#include "fields.hpp"
#include "kolushev/hashgraph_cells.hpp"

namespace tilehash::bench {

fields fields_of(const cells_measurement& m);

}  // namespace tilehash::bench
