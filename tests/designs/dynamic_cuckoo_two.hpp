// Subtables that are resized one at a time: a key has two of them.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/engine/subtables.hpp>

namespace tilehash::contract::of_dynamic_cuckoo_two {

template <class Key, class Value>
using design = dynamic_cuckoo<Key, Value, 3, reach::two>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = few_pairs;
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<ivec4, void>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_dynamic_cuckoo_two
