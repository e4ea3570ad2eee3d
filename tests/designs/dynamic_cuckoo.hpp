// Subtables that are resized one at a time: a key may stand in any.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/engine/subtables.hpp>

namespace tilehash::contract::of_dynamic_cuckoo {

template <class Key, class Value>
using design = dynamic_cuckoo<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = decltype(slot_pairs{} + big_key_pairs{} + pairs<pair_of<ivec4, u32>>{});
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, u32>, pair_of<u16, u8>,
                              pair_of<double, std::int64_t>, pair_of<ivec4, u32>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>, pair_of<u16, u8>, pair_of<double, std::int64_t>>;

}  // namespace tilehash::contract::of_dynamic_cuckoo
