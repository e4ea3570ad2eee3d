// What an insert call (engine/window_call.hpp) and its table say to each other about capacity and memory.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

// The table that an insert works on says what the insert does where memory ends.
//   in_use       it throws while nothing has changed; later it refuses the items that need memory
//   goes_on      the call continues another one, so it always refuses them
//   fresh        no caller has seen the table: it throws, and the table is given up
//   all_or_none  the same for all items of another table. It does not grow, and is given up too unless all
//                items find a place
enum class insert_role { in_use, goes_on, fresh, all_or_none };
constexpr bool keeps_table(insert_role role) {
  return role == insert_role::in_use || role == insert_role::goes_on;
}

// What a call asks its table for.
enum class growth {
  restart,  // another hash function for as many slots
  enlarge,  // more slots
  both,     // items found no place although slots are free, whatever the hash function
};

// More capacity helps keys that crowd by chance. With so many slots to an item it does not: those keys have
// one hash under every seed (a user's hasher that gives a constant), and a table would grow for them until
// memory ends.
inline constexpr u64 slots_without_growth = 64;
// Hash functions that a table tries before it gives up.
inline constexpr u32 max_rebuilds = 64;

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
