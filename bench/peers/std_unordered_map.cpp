#include <unordered_map>

#include "peer_subject.hpp"

namespace tilehash::bench {

template <class Key, class Value>
using std_unordered_map = standard_map<std::unordered_map<Key, Value>>;

void register_std_unordered_map_cpu(std::vector<subject>& all) {
  register_peer<std_unordered_map>(all, "std::unordered_map");
}

}  // namespace tilehash::bench
