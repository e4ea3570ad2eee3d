// SPDX-License-Identifier: Apache-2.0
#include <libcuckoo/cuckoohash_map.hh>

#include "peer_table.hpp"

namespace tilehash::app {

template <class Key, class Value>
struct libcuckoo_cuckoohash_map {
  using map_type = libcuckoo::cuckoohash_map<Key, Value>;
  using key_type = Key;
  using value_type = Value;
  static constexpr bool concurrent = true;
  static constexpr bool uses_malloc = true;

  static void reserve(map_type& map, u64 n) { map.reserve(n); }
  static bool insert(map_type& map, Key key, Value value) { return map.insert(key, value); }
  static bool count(map_type& map, Key key) {
    return map.upsert(
        key, [](Value& times) { ++times; }, Value(1));
  }
  static bool find(const map_type& map, Key key, Value& value) { return map.find(key, value); }
  static bool contains(const map_type& map, Key key) { return map.contains(key); }
  static bool erase(map_type& map, Key key) { return map.erase(key); }
  template <class Use>
  static void for_each(const map_type& map, Use use) {
    // Only the thread that locked it can iterate it, and only a map that may be changed is locked.
    const auto locked = const_cast<map_type&>(map).lock_table();
    for (const auto& [key, value] : locked) use(key, value);
  }
};

void register_libcuckoo_cuckoohash_map(registry& all) {
  register_peer<libcuckoo_cuckoohash_map>(
      all, "libcuckoo::cuckoohash_map", "cuckoo hashing in buckets of 4, with a lock for some buckets each");
}

}  // namespace tilehash::app
