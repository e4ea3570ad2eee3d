// SPDX-License-Identifier: Apache-2.0
#include <boost/unordered/concurrent_flat_map.hpp>

#include "peer_table.hpp"

namespace tilehash::app {

template <class Key, class Value>
struct boost_concurrent_flat_map {
  using map_type = boost::concurrent_flat_map<Key, Value>;
  using key_type = Key;
  using value_type = Value;
  static constexpr bool concurrent = true;
  static constexpr bool uses_malloc = true;

  static void reserve(map_type& map, u64 n) { map.reserve(n); }
  static bool insert(map_type& map, Key key, Value value) { return map.emplace(key, value); }
  static bool count(map_type& map, Key key) {
    return map.emplace_or_visit(key, Value(1), [](auto& item) { ++item.second; });
  }
  static bool find(const map_type& map, Key key, Value& value) {
    return map.cvisit(key, [&](const auto& item) { value = item.second; }) != 0;
  }
  static bool contains(const map_type& map, Key key) { return map.contains(key); }
  static bool erase(map_type& map, Key key) { return map.erase(key) != 0; }
  template <class Use>
  static void for_each(const map_type& map, Use use) {
    map.cvisit_all([&](const auto& item) { use(item.first, item.second); });
  }
};

void register_boost_concurrent_flat_map(registry& all) {
  register_peer<boost_concurrent_flat_map>(all, "boost::concurrent_flat_map",
                                           "boost::unordered_flat_map with a lock for every group");
}

}  // namespace tilehash::app
