// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "data_sets.hpp"
#include "dataset.hpp"

namespace tilehash::app {

// Before anything is read or made: about how many items that will be; 0 if that is not known. Throws as
// load_input().
double expected_items(const std::string& spec);

// Makes or reads the keys that `spec` (see input_spec.hpp) asks for. key_bits is 32, 64, or 0 for the
// narrowest that holds this kind of input. Where it takes long, says how far it has come. Throws input_error.
dataset load_input(const std::string& spec, unsigned key_bits, std::uint64_t seed,
                   const tell_share& tell = {});

}  // namespace tilehash::app
