// Cuckoo hashing of indices: takes keys and values of any size.
#pragma once

#include <contract/types.hpp>
#include <tilehash/papers/indexed_cuckoo.hpp>

namespace tilehash::contract::of_indexed_cuckoo {

template <class Key, class Value>
using design = papers::indexed_cuckoo<Key, Value>;
inline constexpr declared_abilities declared = {};
using pairs_on_cpu = pairs<pair_of<wide_key, wide_value>, pair_of<u64, void>, pair_of<double, std::int64_t>>;
using pairs_elsewhere = pairs<pair_of<wide_key, wide_value>, pair_of<u64, void>>;
using pairs_under_sanitizers = pairs<pair_of<wide_key, wide_value>>;

}  // namespace tilehash::contract::of_indexed_cuckoo
