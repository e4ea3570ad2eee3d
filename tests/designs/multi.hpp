// Values side by side behind a table of ids: takes keys and values of any size, and keeps every item.
#pragma once

#include <contract/types.hpp>
#include <tilehash/engine/multi.hpp>

namespace tilehash::contract::of_multi {

template <class Key, class Value>
using design = multi<Key, Value>;
inline constexpr declared_abilities declared = {.keeps_duplicates = true, .adds = true};
using pairs_on_cpu =
    pairs<pair_of<u32, u32>, pair_of<u16, u8>, pair_of<double, std::int64_t>, pair_of<wide_key, wide_value>>;
using pairs_elsewhere = pairs<pair_of<u32, u32>, pair_of<double, std::int64_t>>;
using pairs_under_sanitizers = pairs<pair_of<u32, u32>, pair_of<wide_key, wide_value>>;

}  // namespace tilehash::contract::of_multi
