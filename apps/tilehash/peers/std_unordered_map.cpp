// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "peer_table.hpp"

namespace tilehash::app {

template <class Key, class Value>
using std_unordered_map = standard_map<std::unordered_map<Key, Value>>;

void register_std_unordered_map(registry& all) {
  register_peer<std_unordered_map>(all, "std::unordered_map", "a node on the heap for every item");
}

}  // namespace tilehash::app
