// Quadratic probing: open addressing with another probe sequence.
#pragma once

#include <contract/types.hpp>
#include <tilehash/papers/quadratic_probing.hpp>

namespace tilehash::contract::of_quadratic_probing {

template <class Key, class Value>
using design = papers::quadratic_probing<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = few_pairs;
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, void>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_quadratic_probing
