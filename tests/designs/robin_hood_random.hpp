// Robin Hood hashing with the random sequence.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/robin_hood.hpp>

namespace tilehash::contract::of_robin_hood_random {

template <class Key, class Value>
using design = robin_hood<Key, Value, probe::random>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = pairs<pair_of<u32, u32>, pair_of<u64, void>>;
using pairs_elsewhere = pairs<pair_of<u32, u32>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_robin_hood_random
