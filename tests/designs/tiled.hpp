// The default table: keeps remainders, so keys and values of up to 8 bytes each.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/tiled.hpp>

namespace tilehash::contract::of_tiled {

template <class Key, class Value>
using design = tiled<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = decltype(slot_pairs{} + more_slot_pairs{});
using pairs_elsewhere = slot_pairs;
using pairs_under_sanitizers = word_pairs;

}  // namespace tilehash::contract::of_tiled
