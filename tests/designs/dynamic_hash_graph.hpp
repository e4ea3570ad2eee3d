// A hash graph with room between its rows: adds items of keys and values of any size, and keeps duplicates.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/dynamic_hash_graph.hpp>

namespace tilehash::contract::of_dynamic_hash_graph {

template <class Key, class Value>
using design = dynamic_hash_graph<Key, Value>;
inline constexpr declared_abilities declared = {.erases = true, .keeps_duplicates = true, .adds = true};
using pairs_on_cpu = decltype(slot_pairs{} + big_key_pairs{} + wide_pairs{});
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, void>, pair_of<double, std::int64_t>,
                              pair_of<wide_key, wide_value>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>, pair_of<wide_key, wide_value>>;

}  // namespace tilehash::contract::of_dynamic_hash_graph
