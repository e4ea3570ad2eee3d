// map<Key, Value, Space>: the table to take when nothing special is needed.
#pragma once

#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/table.hpp>

namespace tilehash {

// Unique keys with a value each. See table.hpp for the verbs.
template <class Key, class Value, class Space>
using map = table<bucketed_cuckoo<Key, Value>, Space>;

}  // namespace tilehash
