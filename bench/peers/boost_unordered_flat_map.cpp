#include <boost/unordered/unordered_flat_map.hpp>

#include "peer_subject.hpp"

namespace tilehash::bench {

template <class Key, class Value>
using boost_unordered_flat_map = standard_map<boost::unordered_flat_map<Key, Value>>;

void register_boost_unordered_flat_map_cpu(std::vector<subject>& all) {
  register_peer<boost_unordered_flat_map>(all, "boost::unordered_flat_map");
}

}  // namespace tilehash::bench
