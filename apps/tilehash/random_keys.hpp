// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "input_spec.hpp"

namespace tilehash::app {

// The same spec, width and seed always give the same keys.
std::vector<std::uint64_t> random_keys(const random_spec& spec, unsigned key_bits, std::uint64_t seed);

}  // namespace tilehash::app
