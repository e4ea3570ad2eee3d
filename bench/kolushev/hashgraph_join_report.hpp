// SPDX-License-Identifier: Apache-2.0
// How joins' measurements are printed.
#pragma once

#include <string>

#include "fields.hpp"
#include "kolushev/hashgraph_join.hpp"

namespace tilehash::bench {

const char* name_of(join_kind kind);
const char* name_of(join_skew skew);

std::string join_heading(const join_case& the_case);
// `ours`: of `join` in the same case, or null.
std::string join_line(const join_measurement& m, const join_measurement* ours);
fields fields_of(const join_measurement& m);

}  // namespace tilehash::bench
