// SPDX-License-Identifier: Apache-2.0
// The rows of the thesis' experiments as fields.
#pragma once

#include "alcantara/thesis_cuckoo.hpp"
#include "alcantara/thesis_multiplicity.hpp"
#include "alcantara/thesis_probes.hpp"
#include "alcantara/thesis_restarts.hpp"
#include "alcantara/thesis_two_level.hpp"
#include "fields.hpp"
#include "yardstick.hpp"

namespace tilehash::bench {

// A row of a sweep (figures 3.2 to 3.7, 4.4 to 4.10, 5.7 to 5.9, 6.3 to 6.12). A table's size is in slots of 8 bytes an
// item, as the thesis compares tables: N items in B chains are N + B / 2 slots.
struct sweep_row {
  double size = 0;  // asked for
  measurement what;

  double got() const { return what.bytes_per_pair / 8; }
};

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
