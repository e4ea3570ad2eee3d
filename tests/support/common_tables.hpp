// SPDX-License-Identifier: Apache-2.0
// Tables of common types and their usual verbs. This is one of the precompiled headers, so that clang instantiates
// and compiles them once for all units (cmake/TilehashFlags.cmake: tilehash_compile_precompiled). No unit calls it.
#pragma once

#include <cstdint>
#include <vector>

#include <tilehash/map.hpp>
#include <tilehash/multimap.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::common_tables {

template <class Key, class Value>
void use_map() {
  cpu space;
  std::vector<Key> keys;
  std::vector<Value> values;
  std::vector<unsigned char> found;
  map<Key, Value, cpu> table(space, 1);
  (void)table.insert(space, keys, values);
  (void)table.insert_or_assign(space, keys, values);
  (void)table.find(space, keys, values, found);
  table.find_or(space, keys, values, Value());
  table.contains(space, keys, found);
  (void)table.erase(space, keys);
  table.reserve(space, 1);
  table.clear(space);
}

template <class Key>
void use_set() {
  cpu space;
  std::vector<Key> keys;
  std::vector<unsigned char> found;
  set<Key, cpu> table(space, 1);
  (void)table.insert(space, keys);
  table.contains(space, keys, found);
  (void)table.erase(space, keys);
}

inline void use() {
  use_map<std::uint32_t, std::uint32_t>();
  use_map<std::uint64_t, std::uint32_t>();
  use_map<std::uint64_t, std::uint64_t>();
  use_set<std::uint32_t>();
  use_set<std::uint64_t>();
}

}  // namespace tilehash::common_tables
