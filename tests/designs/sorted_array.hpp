// The sorted array: keeps duplicates, takes keys of up to 16 bytes and values of any size.
#pragma once

#include <contract/types.hpp>
#include <tilehash/papers/sorted_array.hpp>

namespace tilehash::contract::of_sorted_array {

template <class Key, class Value>
using design = papers::sorted_array<Key, Value>;
inline constexpr declared_abilities declared = {.keeps_duplicates = true};
using pairs_on_cpu = decltype(few_pairs{} + pairs<pair_of<double, std::int64_t>, pair_of<ivec4, u32>>{});
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u16, u8>, pair_of<double, std::int64_t>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>, pair_of<ivec4, u32>>;

}  // namespace tilehash::contract::of_sorted_array
