// set<Key, Space>: unique keys. The same table as map, with slots that hold no value.
#pragma once

#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/table.hpp>

namespace tilehash {

template <class Key, class Space>
using set = table<bucketed_cuckoo<Key, void>, Space>;

}  // namespace tilehash
