// Linear probing, and with it all that open addressing does with slots.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/linear_probing.hpp>

namespace tilehash::contract::of_linear_probing {

template <class Key, class Value>
using design = linear_probing<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = decltype(slot_pairs{} + big_key_pairs{});
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, u64>, pair_of<u16, u8>, pair_of<ivec4, void>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>, pair_of<u16, u8>>;

}  // namespace tilehash::contract::of_linear_probing
