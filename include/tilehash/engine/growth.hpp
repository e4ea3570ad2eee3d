// SPDX-License-Identifier: Apache-2.0
// The interface of an insert call (engine/window_call.hpp) and its table for capacity and memory.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

// The role of the table that an insert changes. It decides what the insert does when memory runs out.
//   in_use       it throws while nothing has changed; later it refuses the items that need memory
//   goes_on      the call continues another one, so it always refuses them
//   fresh        no caller has seen the table: it throws, and the table is discarded
//   all_or_none  the same for all items of another table. It does not grow, and is discarded too unless all
//                items are placed
enum class insert_role { in_use, goes_on, fresh, all_or_none };
constexpr bool keeps_table(insert_role role) {
  return role == insert_role::in_use || role == insert_role::goes_on;
}

// A call's request to its table.
enum class growth {
  restart,  // another hash function for as many slots
  enlarge,  // more slots
  both,     // items are unplaced although slots are free, whatever the hash function
};

// More capacity helps keys that collide by chance. From this many slots to an item on it does not. Those keys
// collide under every seed (a user's hasher that returns a constant), and a table would grow until memory
// runs out.
inline constexpr u64 slots_without_growth = 64;
// Hash functions that a table tries before it gives up.
inline constexpr u32 max_rebuilds = 64;

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
