// SPDX-License-Identifier: Apache-2.0
// The memory that growth takes, under the GPU's schedule.
#include <contract/growth_memory.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>

#include "emulated.hpp"

namespace tilehash {
namespace {

TEST(GrowthMemory, OldAndNewTableAndLittleBeside) {
  contract::counted<emulated> space;
  contract::expect_little_memory_of_growth<tiled<u32, u32>>(space, 34'000);  // so many go by regions
  contract::expect_little_memory_of_growth<linear_probing<u32, u32>>(space, 5'000);
}

}  // namespace
}  // namespace tilehash
