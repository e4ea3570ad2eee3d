// SPDX-License-Identifier: Apache-2.0
// The rates of the last inserts, of erases and of skewed lookups as fields.
#pragma once

#include "fields.hpp"
#include "ours/tail.hpp"

namespace tilehash::bench {

fields fields_of(const tail_row& row);

}  // namespace tilehash::bench
