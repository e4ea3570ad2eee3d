// Bucketed cuckoo hashing that balances its buckets.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>

namespace tilehash::contract::of_bucketed_cuckoo_balanced {

template <class Key, class Value>
using design = bucketed_cuckoo<Key, Value, placement::balanced>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = few_pairs;
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, void>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_bucketed_cuckoo_balanced
