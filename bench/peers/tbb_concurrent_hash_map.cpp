#include <tbb/concurrent_hash_map.h>

#include "peer_subject.hpp"

namespace tilehash::bench {

// On all threads of the space.
template <class Key, class Value>
struct tbb_concurrent_hash_map {
  using map_type = tbb::concurrent_hash_map<Key, Value>;
  static constexpr bool uses_malloc = false;

  template <class Body>
  static void for_all(cpu& space, u64 n, Body body) {
    space.for_each_chunk(n, body);
  }
  static void reserve(map_type& map, u64 n) { map.rehash(n); }
  static bool insert(map_type& map, Key key, Value value) { return map.emplace(key, value); }
  static Value find_or(const map_type& map, Key key, Value missing) {
    typename map_type::const_accessor at;
    return map.find(at, key) ? at->second : missing;
  }
  static bool erase(map_type& map, Key key) { return map.erase(key); }
};

void register_tbb_concurrent_hash_map_cpu(std::vector<subject>& all) {
  register_peer<tbb_concurrent_hash_map>(all, "tbb::concurrent_hash_map");
}

}  // namespace tilehash::bench
