// SPDX-License-Identifier: Apache-2.0
// The tables of one design in one space, made known to the program.
#pragma once

#include <tilehash/core/op.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/table.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "any_table.hpp"
#include "offered_pairs.hpp"
#include "registry.hpp"

namespace tilehash::app {

// Tallies: has it tally(), if its design can?
template <class Design, class Space, bool Tallies = true>
class table_of final : public any_table<typename Design::key_type, typename Design::mapped_type, Space> {
  using base = any_table<typename Design::key_type, typename Design::mapped_type, Space>;
  using typename base::key_type;
  using typename base::keys_in;
  using typename base::value_type;
  using typename base::values_in;
  using table_type = table<Design, Space>;

 public:
  static constexpr bool can_insert = requires(table_type t, Space s, keys_in k, values_in v) {
    t.insert(s, k, v);
  } || requires(table_type t, Space s, keys_in k) { t.insert(s, k); };
  static constexpr bool can_erase = requires(table_type t, Space s, keys_in k) { t.erase(s, k); };

  // Counts take 32 bits, so other values are spared the compiler.
  static constexpr bool can_tally =
      Tallies && std::is_same_v<typename Design::mapped_type, u32> &&
      requires(table_type t, Space s, keys_in k) { t.insert_or_apply(s, k, op::count{}); };

  table_of(Space& space, u64 items, const table_options& options) : table_(space, items, options) {}
  static std::unique_ptr<base> make(Space& space, u64 items, const table_options& options) {
    return std::make_unique<table_of>(space, items, options);
  }

  bool inserts() const override { return can_insert; }
  bool erases() const override { return can_erase; }
  bool keeps_duplicates() const override { return multivalue<Design>; }
  bool tallies() const override { return can_tally; }

  insert_report build(Space& space, keys_in keys, values_in values) override {
    if constexpr (base::is_set)
      return table_.build(space, keys);
    else
      return table_.build(space, keys, values);
  }
  insert_report insert(Space& space, keys_in keys, values_in values) override {
    if constexpr (!can_insert)
      return {};
    else if constexpr (base::is_set)
      return table_.insert(space, keys);
    else
      return table_.insert(space, keys, values);
  }
  insert_report tally(Space& space, keys_in keys) override {
    if constexpr (can_tally)
      return table_.insert_or_apply(space, keys, op::count{});
    else
      return {};
  }
  u64 erase(Space& space, keys_in keys) override {
    if constexpr (can_erase)
      return table_.erase(space, keys);
    else
      return 0;
  }
  void clear(Space& space) override { table_.clear(space); }

  void find(Space& space, keys_in keys, std::span<value_type> out, std::span<bool> found) const override {
    if constexpr (base::is_set)
      table_.contains(space, keys, found);
    else
      table_.find(space, keys, out, found);
  }
  void find_or(Space& space, keys_in keys, std::span<value_type> out, value_type missing) const override {
    if constexpr (!base::is_set) table_.find_or(space, keys, out, missing);
  }
  void contains(Space& space, keys_in keys, std::span<bool> out) const override {
    table_.contains(space, keys, out);
  }
  void count(Space& space, keys_in keys, std::span<u32> out) const override {
    table_.count(space, keys, out);
  }
  void probe_counts(Space& space, keys_in keys, std::span<u32> out) const override {
    table_.probe_counts(space, keys, out);
  }
  u64 retrieve_all(Space& space, std::span<key_type> keys, std::span<value_type> values) const override {
    if constexpr (base::is_set)
      return table_.retrieve_all(space, keys);
    else
      return table_.retrieve_all(space, keys, values);
  }

  u64 size() const override { return table_.size(); }
  u64 bytes() const override { return table_.bytes(); }
  double load_factor() const override { return table_.load_factor(); }

 private:
  table_type table_;
};

// Does the program have all tables of a design, and tally() of these? (designs.cmake: CONTAINER) A build that
// names its pairs has all of them.
template <class Entry>
inline constexpr bool has_all = !offers_all_pairs || Entry::is_container;

// Does the program have its tables of this pair? (designs.cmake: NEEDS_VALUES, CONTAINER, COMPARED)
template <class Entry, class Key, class Value>
constexpr bool has_pair() {
  if constexpr (!is_offered<Key, Value>)
    return false;
  else if constexpr (std::is_void_v<Value>)
    return has_all<Entry> && !Entry::needs_values;
  else
    return has_all<Entry> || (sizeof(Value) == sizeof(Key) && (!Entry::is_compared || sizeof(Key) == 4));
}

// Its makers, for the pairs of types of the argument; null where there is no such table, or none in this
// program.
template <class Entry, class Space, class Key, class Value>
table_maker<Key, Value, Space> maker_of() {
  if constexpr (!has_pair<Entry, Key, Value>())
    return nullptr;
  else
    return &table_of<typename Entry::template design<Key, Value>, Space, has_all<Entry>>::make;
}
template <class Entry, class Space, class... Key, class... Value>
std::tuple<table_maker<Key, Value, Space>...> makers_of(
    std::tuple<table_maker<Key, Value, Space>...> /*pairs*/) {
  return {maker_of<Entry, Space, Key, Value>()...};
}

template <class Design, class Space>
std::vector<std::string> abilities_of() {
  std::vector<std::string> abilities;
  if (table_of<Design, Space>::can_insert) abilities.emplace_back("insert");
  if (table_of<Design, Space>::can_erase) abilities.emplace_back("erase");
  if (rowed<Design> || !table_of<Design, Space>::can_insert) abilities.emplace_back("bulk build");
  if (multivalue<Design>) abilities.emplace_back("multivalue");
  return abilities;
}

// How full its tables of the pairs of the argument may be.
template <class Entry, class Space, class... Key, class... Value>
std::map<std::string, double> load_factor_limits_of(std::tuple<table_maker<Key, Value, Space>...> /*pairs*/) {
  std::map<std::string, double> limits;
  const auto add = [&]<class K, class V>() {
    unsigned value_bits = 0;
    if constexpr (!std::is_void_v<V>) value_bits = 8 * sizeof(V);
    if constexpr (has_pair<Entry, K, V>())
      limits[pair_name(8 * sizeof(K), value_bits)] =
          detail::highest_load_factor<typename Entry::template design<K, V>>();
  };
  (add.template operator()<Key, Value>(), ...);
  return limits;
}

template <class Entry, class Design>
u64 bytes_of(u64 items, double load_factor) {
  if constexpr (requires { Entry::bytes(items, load_factor); })
    return Entry::bytes(items, load_factor);
  else if constexpr (rowed<Design>)
    return Design::bytes(Design::rows_for(items, load_factor), items);
  else
    return Design::bytes(Design::capacity_for(items, load_factor));
}

// Adds what Entry describes, in the space whose tables these are.
template <class Entry, class Space>
TILEHASH_COLD void register_design(registry& all, const std::string& name, const std::string& space_name,
                                   std::optional<table_makers<Space>> design_entry::*tables) {
  using any_design = typename Entry::template design<u32, u32>;
  design_entry entry{.name = name,
                     .paper = std::string(Entry::paper),
                     .summary = std::string(Entry::summary),
                     .abilities = abilities_of<any_design, Space>(),
                     .spaces = {},
                     .max_load_factor = detail::highest_load_factor<any_design>(),
                     .max_load_factors = load_factor_limits_of<Entry, Space>(table_makers<Space>()),
                     .needs_values = Entry::needs_values,
                     .bytes = &bytes_of<Entry, any_design>};
  const auto makers = makers_of<Entry, Space>(table_makers<Space>());
  entry.*tables = makers;
  entry.spaces.emplace(space_name, run_with(makers, name));
  all.add(entry);
}

}  // namespace tilehash::app
