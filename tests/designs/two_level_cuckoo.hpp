// Two-level cuckoo hashing: built in bulk, one item a key.
#pragma once

#include <contract/types.hpp>
#include <tilehash/papers/two_level_cuckoo.hpp>

namespace tilehash::contract::of_two_level_cuckoo {

template <class Key, class Value>
using design = papers::two_level_cuckoo<Key, Value>;
inline constexpr declared_abilities declared = {};
using pairs_on_cpu =
    pairs<pair_of<u32, u32>, pair_of<u64, void>, pair_of<u16, u8>, pair_of<double, std::int64_t>>;
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, void>, pair_of<double, std::int64_t>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>, pair_of<double, std::int64_t>>;

}  // namespace tilehash::contract::of_two_level_cuckoo
