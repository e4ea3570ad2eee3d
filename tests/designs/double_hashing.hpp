// Double hashing: open addressing with another probe sequence.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/double_hashing.hpp>

namespace tilehash::contract::of_double_hashing {

template <class Key, class Value>
using design = double_hashing<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = few_pairs;
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, void>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_double_hashing
