// Rows behind a table of ids: takes keys and values of any size.
#pragma once

#include <contract/types.hpp>
#include <tilehash/engine/records.hpp>

namespace tilehash::contract::of_indexed {

template <class Key, class Value>
using design = indexed<Key, Value>;
inline constexpr declared_abilities declared = {.inserts = true, .erases = true};
using pairs_on_cpu =
    decltype(wide_pairs{} + pairs<pair_of<u32, u32>, pair_of<u16, u8>, pair_of<double, std::int64_t>>{});
using pairs_elsewhere = wide_pairs;
using pairs_under_sanitizers = pairs<pair_of<wide_key, wide_value>>;

}  // namespace tilehash::contract::of_indexed
