// Horton tables, 64-byte buckets.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/horton.hpp>

namespace tilehash::contract::of_horton {

template <class Key, class Value>
using design = horton<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = decltype(slot_pairs{} + more_slot_pairs{});
using pairs_elsewhere = slot_pairs;
using pairs_under_sanitizers = word_pairs;

}  // namespace tilehash::contract::of_horton
