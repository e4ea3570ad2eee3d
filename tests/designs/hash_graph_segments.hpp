// HashGraph on segments.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/hash_graph.hpp>

namespace tilehash::contract::of_hash_graph_segments {

template <class Key, class Value>
using design = hash_graph<Key, Value, murmur, u32, builders::segments>;
inline constexpr declared_abilities declared = {.keeps_duplicates = true};
using pairs_on_cpu = pairs<pair_of<u32, u32>>;
using pairs_elsewhere = pairs_on_cpu;
using pairs_under_sanitizers = pairs_on_cpu;

}  // namespace tilehash::contract::of_hash_graph_segments
