// Chaining by radix sort: keeps duplicates, takes keys and values of any size.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/chained.hpp>

namespace tilehash::contract::of_chained {

template <class Key, class Value>
using design = chained<Key, Value>;
inline constexpr declared_abilities declared = {.keeps_duplicates = true};
using pairs_on_cpu = decltype(few_pairs{} + wide_pairs{} + pairs<pair_of<double, std::int64_t>>{});
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, void>, pair_of<wide_key, wide_value>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_chained
