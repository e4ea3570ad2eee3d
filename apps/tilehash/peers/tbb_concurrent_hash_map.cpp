// SPDX-License-Identifier: Apache-2.0
#include <tbb/concurrent_hash_map.h>

#include "peer_table.hpp"

namespace tilehash::app {

template <class Key, class Value>
struct tbb_concurrent_hash_map {
  using map_type = tbb::concurrent_hash_map<Key, Value>;
  using key_type = Key;
  using value_type = Value;
  static constexpr bool concurrent = true;
  static constexpr bool uses_malloc = false;

  static void reserve(map_type& map, u64 n) { map.rehash(n); }
  static bool insert(map_type& map, Key key, Value value) { return map.emplace(key, value); }
  static bool count(map_type& map, Key key) {
    typename map_type::accessor at;
    const bool is_new = map.insert(at, key);
    ++at->second;
    return is_new;
  }
  static bool find(const map_type& map, Key key, Value& value) {
    typename map_type::const_accessor at;
    if (!map.find(at, key)) return false;
    value = at->second;
    return true;
  }
  static bool contains(const map_type& map, Key key) { return map.count(key) != 0; }
  static bool erase(map_type& map, Key key) { return map.erase(key); }
  template <class Use>
  static void for_each(const map_type& map, Use use) {
    for (const auto& [key, value] : map) use(key, value);
  }
};

void register_tbb_concurrent_hash_map(registry& all) {
  register_peer<tbb_concurrent_hash_map>(all, "tbb::concurrent_hash_map",
                                         "lists of nodes, with a lock for every node");
}

}  // namespace tilehash::app
