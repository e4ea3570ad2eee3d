// Bucketed cuckoo hashing, first fit.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>

namespace tilehash::contract::of_bucketed_cuckoo {

template <class Key, class Value>
using design = bucketed_cuckoo<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = decltype(slot_pairs{} + big_key_pairs{});
using pairs_elsewhere =
    pairs<pair_of<u32, u32>, pair_of<u64, u32>, pair_of<double, std::int64_t>, pair_of<ivec4, void>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>, pair_of<double, std::int64_t>>;

}  // namespace tilehash::contract::of_bucketed_cuckoo
