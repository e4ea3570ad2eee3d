// Robin Hood hashing, 64-byte buckets, coherent sequence.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/robin_hood.hpp>

namespace tilehash::contract::of_robin_hood {

template <class Key, class Value>
using design = robin_hood<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = decltype(slot_pairs{} + more_slot_pairs{});
using pairs_elsewhere = slot_pairs;
using pairs_under_sanitizers = word_pairs;

}  // namespace tilehash::contract::of_robin_hood
