// A toy: the next bucket of a key stands in the bucket.
#pragma once

#include <contract/types.hpp>
#include <toys/toy_signpost.hpp>

namespace tilehash::contract::of_toy_signpost {

template <class Key, class Value>
using design = toys::toy_signpost<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = pairs<pair_of<u32, u32>, pair_of<u64, u64>>;
using pairs_elsewhere = pairs<pair_of<u32, u32>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_toy_signpost
