// map<Key, Value, Space>: the table to take when nothing special is needed.
#pragma once

#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/table.hpp>

namespace tilehash {

// What stands behind map and set: `tiled`, and for keys or values of more than 8 bytes `bucketed_cuckoo`.
template <class Key, class Value>
using default_design = std::conditional_t<sizeof(Key) <= 8 && detail::bytes_of<Value> <= 8, tiled<Key, Value>,
                                          bucketed_cuckoo<Key, Value>>;

// Unique keys with a value each. See table.hpp for the verbs.
template <class Key, class Value, class Space>
using map = table<default_design<Key, Value>, Space>;

}  // namespace tilehash
