// SPDX-License-Identifier: Apache-2.0
#include <boost/unordered/unordered_flat_map.hpp>

#include "peer_table.hpp"

namespace tilehash::app {

template <class Key, class Value>
using boost_unordered_flat_map = standard_map<boost::unordered_flat_map<Key, Value>>;

void register_boost_unordered_flat_map(registry& all) {
  register_peer<boost_unordered_flat_map>(all, "boost::unordered_flat_map",
                                          "groups of 15 slots, asked by SIMD for 8 bits of the hash");
}

}  // namespace tilehash::app
