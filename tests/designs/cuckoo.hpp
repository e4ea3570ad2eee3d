// Cuckoo hashing with four functions and a stash.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/cuckoo.hpp>

namespace tilehash::contract::of_cuckoo {

template <class Key, class Value>
using design = cuckoo<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = pairs<pair_of<u32, u32>, pair_of<u64, u64>, pair_of<u16, u8>, pair_of<u64, void>>;
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, u64>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_cuckoo
