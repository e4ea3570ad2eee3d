// SPDX-License-Identifier: Apache-2.0
// Joins' measurements as fields.
#pragma once

#include "fields.hpp"
#include "kolushev/hashgraph_join.hpp"

namespace tilehash::bench {

const char* name_of(join_kind kind);
const char* name_of(join_skew skew);

fields fields_of(const join_measurement& m);

}  // namespace tilehash::bench
