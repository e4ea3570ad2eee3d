// SPDX-License-Identifier: Apache-2.0
// Other libraries' maps as the program sees its own tables: used as their users use them, reserved and then
// filled item by item.
//
// Lookups leave a map as it is, so all threads of the space make them. Changes run on all threads
// where the map allows that, else on one; the figures say which.
//
// An Adaptor has map_type, and
//
//   concurrent                    may threads change it side by side?
//   uses_malloc                   then what it takes from the heap is its memory; else that is not known
//   reserve(map, n), insert(map, key, value) -> new?, find(map, key, value&) -> found?,
//   contains(map, key)
//   count(map, key)               one more of it -> new?
//   erase(map, key) -> erased?    for_each(map, use): use(key, value) for all
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

#include <malloc.h>

#include <memory>
#include <string>

#include "any_table.hpp"
#include "registry.hpp"
#include "table_of.hpp"

namespace tilehash::app {

template <class Adaptor>
class peer_table final : public any_table<typename Adaptor::key_type, typename Adaptor::value_type, cpu> {
  using base = any_table<typename Adaptor::key_type, typename Adaptor::value_type, cpu>;
  using typename base::key_type;
  using typename base::keys_in;
  using typename base::value_type;
  using typename base::values_in;

 public:
  explicit peer_table(u64 items) {
    if (Adaptor::uses_malloc) bytes_ = heap_bytes() - bytes_;
    reserve(items);
  }

  bool inserts() const override { return true; }
  bool erases() const override { return true; }
  bool keeps_duplicates() const override { return false; }
  bool tallies() const override { return true; }
  bool one_writer() const override { return !Adaptor::concurrent; }
  bool counts_probes() const override { return false; }

  insert_report build(cpu& space, keys_in keys, values_in values) override {
    if (map_.size() != 0) clear(space);
    reserve(keys.size());
    return insert(space, keys, values);
  }
  insert_report insert(cpu& space, keys_in keys, values_in values) override {
    return report(keys,
                  changed(space, keys, [&](u64 i) { return Adaptor::insert(map_, keys[i], values[i]); }));
  }
  insert_report tally(cpu& space, keys_in keys) override {
    return report(keys, changed(space, keys, [&](u64 i) { return Adaptor::count(map_, keys[i]); }));
  }
  u64 erase(cpu& space, keys_in keys) override {
    return changed(space, keys, [&](u64 i) { return Adaptor::erase(map_, keys[i]); });
  }
  void clear(cpu& /*space*/) override {  // some give their memory back
    const u64 before = heap_bytes();
    map_.clear();
    if (Adaptor::uses_malloc) bytes_ += heap_bytes() - before;
  }

  void find(cpu& space, keys_in keys, std::span<value_type> out, std::span<bool> found) const override {
    space.for_each(keys.size(), [&](u64 i) { found[i] = Adaptor::find(map_, keys[i], out[i]); });
  }
  void find_or(cpu& space, keys_in keys, std::span<value_type> out, value_type missing) const override {
    space.for_each(keys.size(), [&](u64 i) {
      out[i] = missing;
      Adaptor::find(map_, keys[i], out[i]);
    });
  }
  void contains(cpu& space, keys_in keys, std::span<bool> out) const override {
    space.for_each(keys.size(), [&](u64 i) { out[i] = Adaptor::contains(map_, keys[i]); });
  }
  void count(cpu& space, keys_in keys, std::span<u32> out) const override {
    space.for_each(keys.size(), [&](u64 i) { out[i] = Adaptor::contains(map_, keys[i]) ? 1 : 0; });
  }
  void probe_counts(cpu& space, keys_in /*keys*/, std::span<u32> out) const override {
    space.fill(out.data(), out.size(), 0U);
  }
  u64 retrieve_all(cpu& /*space*/, std::span<key_type> keys, std::span<value_type> values) const override {
    u64 at = 0;
    Adaptor::for_each(map_, [&](key_type key, value_type value) {
      if (at < keys.size()) keys[at] = key, values[at] = value;
      ++at;
    });
    return at;
  }

  u64 size() const override { return map_.size(); }
  u64 bytes() const override { return bytes_; }
  double load_factor() const override { return 0; }  // not known

 private:
  void reserve(u64 items) {
    const u64 before = heap_bytes();
    if (items != 0) Adaptor::reserve(map_, items);
    if (Adaptor::uses_malloc) bytes_ += heap_bytes() - before;
  }

  static insert_report report(keys_in keys, u64 inserted) {
    insert_report its;
    its.inserted = inserted;
    its.present = keys.size() - inserted;
    return its;
  }

  template <class Change>
  u64 changed(cpu& space, keys_in keys, Change change) {
    const u64 before = heap_bytes();
    u64 sum = 0;
    const auto some = [&](u64 first, u64 last) {
      u64 here = 0;
      for (u64 i = first; i < last; ++i) here += change(i) ? 1 : 0;
      detail::fetch_add(&sum, here);
    };
    if constexpr (Adaptor::concurrent)
      space.for_each_share(keys.size(), some);
    else
      some(0, keys.size());
    if (Adaptor::uses_malloc) bytes_ += heap_bytes() - before;  // less where it gave back
    return sum;
  }
  static u64 heap_bytes() {
    const auto heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
  }

  u64 bytes_ = Adaptor::uses_malloc ? heap_bytes() : 0;  // before the map is made
  typename Adaptor::map_type map_;
};

// The interface of the standard's maps.
template <class Map>
struct standard_map {
  using map_type = Map;
  using key_type = typename Map::key_type;
  using value_type = typename Map::mapped_type;
  static constexpr bool concurrent = false;
  static constexpr bool uses_malloc = true;

  static void reserve(Map& map, u64 n) { map.reserve(n); }
  static bool insert(Map& map, key_type key, value_type value) { return map.emplace(key, value).second; }
  static bool count(Map& map, key_type key) { return ++map[key] == 1; }
  static bool find(const Map& map, key_type key, value_type& value) {
    const auto at = map.find(key);
    if (at == map.end()) return false;
    value = at->second;
    return true;
  }
  static bool contains(const Map& map, key_type key) { return map.find(key) != map.end(); }
  static bool erase(Map& map, key_type key) { return map.erase(key) != 0; }
  template <class Use>
  static void for_each(const Map& map, Use use) {
    for (const auto& [key, value] : map) use(key, value);
  }
};

// Adds Adaptor<Key, Value> of the pairs of types that the program has of most designs (table_of.hpp).
struct peer_entry {
  static constexpr bool needs_values = true, is_container = false, is_compared = false;
};
template <template <class, class> class Adaptor, class Key, class Value>
table_maker<Key, Value, cpu> peer_maker() {
  if constexpr (!has_pair<peer_entry, Key, Value>())
    return nullptr;
  else
    return [](cpu& /*space*/, u64 items,
              const table_options& /*options*/) -> std::unique_ptr<any_table<Key, Value, cpu>> {
      return std::make_unique<peer_table<Adaptor<Key, Value>>>(items);
    };
}
template <template <class, class> class Adaptor, class... Key, class... Value>
std::tuple<table_maker<Key, Value, cpu>...> peer_makers(
    std::tuple<table_maker<Key, Value, cpu>...> /*pairs*/) {
  return {peer_maker<Adaptor, Key, Value>()...};
}

template <template <class, class> class Adaptor>
void register_peer(registry& all, const std::string& name, const std::string& summary) {
  const auto makers = peer_makers<Adaptor>(table_makers<cpu>());
  all.add({.name = name,
           .paper = "-",
           .summary = summary,
           .abilities = {"insert", "erase"},
           .spaces = {{"cpu", run_with(makers, name)}},
           .cpu_tables = makers,
           .needs_values = true,
           .is_peer = true});
}

}  // namespace tilehash::app
