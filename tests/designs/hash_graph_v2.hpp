// HashGraph, version 2: on a CPU items so large that they take several bins.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/hash_graph.hpp>

namespace tilehash::contract::of_hash_graph_v2 {

template <class Key, class Value>
using design = hash_graph<Key, Value, murmur, u32, builders::binned<builders::count_and_scatter>>;
inline constexpr declared_abilities declared = {.keeps_duplicates = true};
using pairs_on_cpu = pairs<pair_of<wide_key, wide_value>>;
using pairs_elsewhere = pairs_on_cpu;
using pairs_under_sanitizers = pairs_on_cpu;

}  // namespace tilehash::contract::of_hash_graph_v2
