// multimap<Key, Value, Space>: keys that may come more than once; all their values are kept. Built in bulk.
#pragma once

#include <tilehash/designs/hash_graph.hpp>
#include <tilehash/table.hpp>

namespace tilehash {

template <class Key, class Value, class Space>
using multimap = table<hash_graph<Key, Value>, Space>;

}  // namespace tilehash
