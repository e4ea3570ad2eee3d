// A toy: inserts take other keys out, and a pass is due when they are done.
#pragma once

#include <contract/types.hpp>
#include <toys/toy_swapper.hpp>

namespace tilehash::contract::of_toy_swapper {

template <class Key, class Value>
using design = toys::toy_swapper<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = pairs<pair_of<u32, u32>, pair_of<u64, u64>>;
using pairs_elsewhere = pairs<pair_of<u32, u32>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_toy_swapper
