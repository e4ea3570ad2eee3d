// SPDX-License-Identifier: Apache-2.0
// The tables of the experiments of dynamic.hpp, of any design. An experiment makes calls of many items, so its
// own code is compiled once for all designs, and the tables alone for each.
#pragma once

#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/instances/map.hpp>
#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>
#include <tilehash/papers/mega_kv.hpp>
#include <tilehash/table.hpp>

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "li/dynamic_published.hpp"

namespace tilehash::bench {

// The keys of a subtable.
template <class Part, class Slot>
struct take_keys {
  Part part;
  u32* out;  // may be null
  u64* count;
  TILEHASH_FN void operator()(u64 i) const {
    const auto word = part.keys[i];
    if (word == Slot::empty_word) return;
    const u64 at = detail::fetch_add(count, u64(1));
    if (out != nullptr) out[at] = static_cast<u32>(Slot::key_of(word));
  }
};

// A verb that the design has not got does nothing.
template <class Space>
class dynamic_table {
 public:
  using keys_in = std::span<const u32>;

  virtual ~dynamic_table() = default;
  virtual insert_report insert(Space&, keys_in keys, keys_in values) = 0;
  virtual void find(Space&, keys_in keys, std::span<u32> values, std::span<bool> found) const = 0;
  virtual void find_async(Space&, keys_in keys, std::span<u32> values, std::span<bool> found) const = 0;
  virtual u64 erase(Space&, keys_in keys) = 0;
  virtual void clear(Space&) = 0;
  virtual void rehash(Space&, u64 items) = 0;
  virtual u64 size() const = 0;
  virtual u64 capacity() const = 0;
  virtual u64 bytes() const = 0;
  virtual double load_factor() const = 0;

  // Locks that were tried and not taken, when all pairs are inserted; of a published table with locks.
  virtual u64 count_waits(Space&, keys_in keys, keys_in values) = 0;

  // ---- of a table in subtables ----
  virtual void double_subtable(Space&) = 0;
  virtual bool halve_subtable(Space&) = 0;
  virtual std::vector<u64> buckets() const = 0;  // of each subtable
  // Writes the keys of a subtable to `out`, unless that is null, and adds their number to *count.
  virtual void take_keys(Space&, u32 subtable, u32* out, u64* count) const = 0;
};

template <class Design, class Space>
class dynamic_table_of final : public dynamic_table<Space> {
  using table_type = typename table_to_fill<Design, Space>::type;
  using typename dynamic_table<Space>::keys_in;

 public:
  static constexpr bool in_subtables = requires(table_type t, Space& s) { t.double_subtable(s); };
  static constexpr bool counts_waits =
      requires(table_type t, Space& s, keys_in keys) { t.count_waits(s, keys, keys); };

  dynamic_table_of(Space& space, u64 items, const table_options& options) : table_(space, items, options) {}

  insert_report insert(Space& space, keys_in keys, keys_in values) override {
    return table_.insert(space, keys, values);
  }
  void find(Space& space, keys_in keys, std::span<u32> values, std::span<bool> found) const override {
    if constexpr (!is_published<Design>) table_.find(space, keys, values, found);
  }
  void find_async(Space& space, keys_in keys, std::span<u32> values, std::span<bool> found) const override {
    table_.find_async(space, keys, values, found);
  }
  u64 erase(Space& space, keys_in keys) override {
    if constexpr (is_published<Design>)
      return 0;
    else
      return table_.erase(space, keys);
  }
  void clear(Space& space) override { table_.clear(space); }
  void rehash(Space& space, u64 items) override {
    if constexpr (!is_published<Design>) table_.rehash(space, items);
  }
  u64 size() const override {
    if constexpr (is_published<Design>)
      return 0;
    else
      return table_.size();
  }
  u64 capacity() const override { return table_.capacity(); }
  u64 bytes() const override { return table_.bytes(); }
  double load_factor() const override {
    if constexpr (is_published<Design>)
      return 0;
    else
      return table_.load_factor();
  }

  u64 count_waits(Space& space, keys_in keys, keys_in values) override {
    if constexpr (counts_waits)
      return table_.count_waits(space, keys, values);
    else
      return 0;
  }

  void double_subtable(Space& space) override {
    if constexpr (in_subtables) table_.double_subtable(space);
  }
  bool halve_subtable(Space& space) override {
    if constexpr (in_subtables)
      return table_.halve_subtable(space);
    else
      return false;
  }
  std::vector<u64> buckets() const override {
    std::vector<u64> each;
    if constexpr (in_subtables) {
      for (u32 part = 0; part < Design::subtables; ++part)
        each.push_back(table_.view().design.at(part).buckets);
    }
    return each;
  }
  void take_keys(Space& space, u32 subtable, u32* out, u64* count) const override {
    if constexpr (in_subtables) {
      const auto part = table_.view().design.at(subtable);
      using take = bench::take_keys<std::remove_const_t<decltype(part)>, typename Design::slot_type>;
      space.for_each(part.slots(), take{part, out, count});
    }
  }

 private:
  table_type table_;
};

// A design of the experiments, and how its tables are made.
template <class Space>
struct dynamic_design {
  bool in_subtables = false, is_published = false, stores_copies = false, counts_waits = false;
  double highest_load = 0;
  std::unique_ptr<dynamic_table<Space>> (*make)(Space&, u64 items, const table_options&) = nullptr;
};
template <class Design, class Space>
dynamic_design<Space> dynamic_design_for() {
  using table_type = dynamic_table_of<Design, Space>;
  return {table_type::in_subtables,
          is_published<Design>,
          stores_copies<Design>,
          table_type::counts_waits,
          detail::highest_load_factor<Design>(),
          [](Space& space, u64 items, const table_options& options) -> std::unique_ptr<dynamic_table<Space>> {
            return std::make_unique<table_type>(space, items, options);
          }};
}
// The one of that name (dynamic_designs, published_designs); with a null `make` if there is none.
template <class Space>
dynamic_design<Space> dynamic_design_of(const std::string& name) {
  namespace published = papers::published;
  if (name == "dynamic_cuckoo_2") return dynamic_design_for<dynamic_cuckoo<u32, u32, 2>, Space>();
  if (name == "dynamic_cuckoo") return dynamic_design_for<dynamic_cuckoo<u32, u32>, Space>();
  if (name == "dynamic_cuckoo_4") return dynamic_design_for<dynamic_cuckoo<u32, u32, 4>, Space>();
  if (name == "dynamic_cuckoo_8") return dynamic_design_for<dynamic_cuckoo<u32, u32, 8>, Space>();
  if (name == "dynamic_cuckoo_two") return dynamic_design_for<dynamic_cuckoo<u32, u32, 3, 2>, Space>();
  if (name == "mega_kv") return dynamic_design_for<papers::mega_kv<u32, u32>, Space>();
  if (name == "bucketed_cuckoo_balanced")
    return dynamic_design_for<papers::bucketed_cuckoo_balanced<u32, u32>, Space>();
  if (name == "linear_probing") return dynamic_design_for<linear_probing<u32, u32>, Space>();
  if (name == "tiled") return dynamic_design_for<tiled<u32, u32>, Space>();
  if (name == "published_mega_kv") return dynamic_design_for<published::mega_kv<>, Space>();
  if (name == "published_linear_probing") return dynamic_design_for<published::linear_probing<>, Space>();
  if (name == "published_cuckoo") return dynamic_design_for<published::cuckoo<>, Space>();
  if (name == "published_dyhash") return dynamic_design_for<published::dyhash<>, Space>();
  if (name == "published_dyhash_spin")
    return dynamic_design_for<published::dyhash<published::lock_by::spin>, Space>();
  using published::pairs_in;
  if (name == "published_probing")
    return dynamic_design_for<published::quadratic_probing<pairs_in::one_slot>, Space>();
  if (name == "published_probing_arrays")
    return dynamic_design_for<published::quadratic_probing<pairs_in::two_arrays>, Space>();
  if constexpr (!Space::has_lanes) {
    if (name == "dense_hash_map") return dynamic_design_for<published::dense_hash_map, Space>();
  }
  return {};
}

}  // namespace tilehash::bench
