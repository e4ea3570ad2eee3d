// Perfect spatial hashing: takes keys and values of any size, and points of three dimensions.
#pragma once

#include <contract/types.hpp>
#include <tilehash/papers/perfect_spatial.hpp>

namespace tilehash::contract::of_perfect_spatial {

template <class Key, class Value>
using design = papers::perfect_spatial<Key, Value>;
inline constexpr declared_abilities declared = {};
using pairs_on_cpu =
    pairs<pair_of<u32, u32>, pair_of<u64, void>, pair_of<double, std::int64_t>, pair_of<ivec3, u32>>;
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, void>, pair_of<ivec3, u32>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>, pair_of<ivec3, u32>>;

}  // namespace tilehash::contract::of_perfect_spatial
