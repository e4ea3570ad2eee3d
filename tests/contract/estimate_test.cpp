// SPDX-License-Identifier: Apache-2.0
#include <contract/faulty.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct estimate_ground : ground<cpu, faulty_host> {
  estimate_ground() : ground(2) {}
};
}  // namespace tilehash::contract

#include <contract/estimate.hpp>
