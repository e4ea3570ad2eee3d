// SPDX-License-Identifier: Apache-2.0
// Measurements for people and for programs. All return text; printing it is the caller's business.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fields.hpp"
#include "measure.hpp"
#include "ours/aggregation.hpp"
#include "ours/ceilings.hpp"
#include "yardstick.hpp"

namespace tilehash::bench {

// A warning for the end of a line where the runs differ by more than a tenth; else nothing.
std::string noise_of(std::string_view op, const spread& seconds);

fields fields_of(const ceiling& row, const std::string& space);

fields fields_of(const aggregation& row);

std::string limits_lines(const known_limits& known);
// The last fields of a row: the items, the seconds, the rate, and how many were refused or wrong.
void add_rate(fields& row, const measurement& m);
fields fields_of(const measurement& m);

}  // namespace tilehash::bench
