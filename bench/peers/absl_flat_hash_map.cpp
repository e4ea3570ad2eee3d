#include <absl/container/flat_hash_map.h>

#include "peer_subject.hpp"

namespace tilehash::bench {

template <class Key, class Value>
using absl_flat_hash_map = standard_map<absl::flat_hash_map<Key, Value>>;

void register_absl_flat_hash_map_cpu(std::vector<subject>& all) {
  register_peer<absl_flat_hash_map>(all, "absl::flat_hash_map");
}

}  // namespace tilehash::bench
