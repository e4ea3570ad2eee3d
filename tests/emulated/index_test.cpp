// SPDX-License-Identifier: Apache-2.0
// Ids of keys that are stored in the table of ids itself, under the GPU's schedule.
#include "emulated.hpp"

namespace tilehash::contract {
using indexing_space = emulated;
}  // namespace tilehash::contract

#include <contract/index_model.hpp>
