// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"

namespace tilehash::contract {
using outcomes_space = emulated;
}  // namespace tilehash::contract

#include <contract/outcomes.hpp>
