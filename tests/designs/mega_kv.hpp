// Two buckets a key, keys exchanged for each other.
#pragma once

#include <contract/types.hpp>
#include <tilehash/papers/mega_kv.hpp>

namespace tilehash::contract::of_mega_kv {

template <class Key, class Value>
using design = papers::mega_kv<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu = decltype(slot_pairs{} + big_key_pairs{});
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<u64, u32>, pair_of<double, std::int64_t>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>, pair_of<double, std::int64_t>>;
using emulated_pairs = pairs<pair_of<u32, u32>>;

}  // namespace tilehash::contract::of_mega_kv
