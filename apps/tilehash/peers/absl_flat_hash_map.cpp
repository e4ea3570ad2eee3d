// SPDX-License-Identifier: Apache-2.0
#include <absl/container/flat_hash_map.h>

#include "peer_table.hpp"

namespace tilehash::app {

template <class Key, class Value>
using absl_flat_hash_map = standard_map<absl::flat_hash_map<Key, Value>>;

void register_absl_flat_hash_map(registry& all) {
  register_peer<absl_flat_hash_map>(all, "absl::flat_hash_map",
                                    "groups of 16 slots, asked by SIMD for 7 bits of the hash");
}

}  // namespace tilehash::app
