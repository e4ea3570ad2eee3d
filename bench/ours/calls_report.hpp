// SPDX-License-Identifier: Apache-2.0
// Calls' costs as fields.
#pragma once

#include "fields.hpp"
#include "ours/calls.hpp"

namespace tilehash::bench {

fields fields_of(const call_row& row);

}  // namespace tilehash::bench
