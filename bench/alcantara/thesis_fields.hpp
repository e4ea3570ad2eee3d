// SPDX-License-Identifier: Apache-2.0
// The rows of the thesis' experiments as fields.
#pragma once

#include "alcantara/sweep.hpp"
#include "alcantara/thesis_cuckoo.hpp"
#include "alcantara/thesis_multiplicity.hpp"
#include "alcantara/thesis_probes.hpp"
#include "alcantara/thesis_restarts.hpp"
#include "alcantara/thesis_two_level.hpp"
#include "fields.hpp"

namespace tilehash::bench {

fields fields_of(const cuckoo_row& row);
fields fields_of(const two_level_row& row);
fields fields_of(const multiplicity_row& row);
fields fields_of(const probe_statistics& row);
fields fields_of(const restart_counts& row);
fields fields_of(const partition_counts& row);
fields fields_of(const sweep_row& row);

// The row of the thesis' Table 3.2 for such a table with its jumps, as a line; else nothing.
std::string line_of_table_3_2(const probe_statistics& row);

}  // namespace tilehash::bench
