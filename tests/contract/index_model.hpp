// SPDX-License-Identifier: Apache-2.0
// The ids of keys that are stored in the table of ids itself, against std::map: many items at once into empty
// tables and into others. `indexing_space` is the space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/index.hpp>

namespace tilehash::contract {

// The most items that the tests below insert at once. From 2^15 on a table of ids is filled by regions.
inline u64 many_indexed() { return (u64(1) << 15) + scaled(30'000, 500); }

template <class Key>
class index_against_model {
 public:
  using table_type = tilehash::index<Key, indexing_space>;

  explicit index_against_model(u64 items = 0, const table_options& options = {})
      : table_(space_, items, options) {}

  // Inserts keys, and compares all ids. Keys may be refused if the table `may_fill`.
  void insert(const std::vector<Key>& keys, bool may_fill = false) {
    buffer<Key, indexing_space> k(space_, std::span<const Key>(keys));
    const buffer<u32, indexing_space> out(space_, keys.size());
    const insert_report report = table_.insert_and_find(space_, k.span(), out.span());
    const auto ids = out.to_host();
    u64 refused = 0, inserted = 0;
    for (u64 i = 0; i < keys.size(); ++i) {
      if (ids[i] == table_.no_id) {
        ++refused;
        ASSERT_FALSE(ids_.contains(keys[i])) << "a key that is present was refused";
        continue;
      }
      const auto [at, is_new] = ids_.emplace(keys[i], ids[i]);
      ASSERT_EQ(at->second, ids[i]) << "item " << i;
      inserted += is_new;
    }
    if (!may_fill) {
      EXPECT_EQ(refused, 0U);
    }
    EXPECT_EQ(report.refused, refused);
    EXPECT_EQ(report.inserted, inserted);
    EXPECT_EQ(report.present, keys.size() - refused - inserted);
    compare(k.span(), ids);
  }
  void erase(const std::vector<Key>& keys) {
    buffer<Key, indexing_space> k(space_, std::span<const Key>(keys));
    u64 gone = 0;
    for (const Key& key : keys) gone += ids_.erase(key);
    EXPECT_EQ(table_.erase(space_, k.span()), gone);
  }
  void clear() {
    table_.clear(space_);
    ids_.clear();
  }
  u64 size() const { return ids_.size(); }
  // The ids of all keys are 0, 1, 2, ..., unless keys were `refused`; then they differ, and are below
  // id_limit().
  void expect_dense(bool refused = false) const {
    std::vector<u32> ids;
    ids.reserve(ids_.size());
    for (const auto& [key, id] : ids_) ids.push_back(id);
    std::ranges::sort(ids);
    EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
    EXPECT_LT(ids.empty() ? 0 : u64(ids.back()), std::max<u64>(table_.id_limit(), 1));
    if (!refused) {
      EXPECT_EQ(table_.id_limit(), ids_.size());
    }
  }
  table_type& table() { return table_; }
  indexing_space& space() { return space_; }

 private:
  void compare(std::span<const Key> keys, const std::vector<u32>& ids) {
    EXPECT_EQ(table_.size(), ids_.size());
    const buffer<u32, indexing_space> found(space_, ids.size());
    table_.find_ids(space_, keys, found.span());
    EXPECT_EQ(found.to_host(), ids);
    std::vector<u32> all;
    std::vector<Key> expected;
    for (const auto& [key, id] : ids_) all.push_back(id), expected.push_back(key);
    const buffer<u32, indexing_space> a(space_, std::span<const u32>(all));
    const buffer<Key, indexing_space> named(space_, all.size());
    const buffer<bool, indexing_space> there(space_, all.size());
    table_.keys_of(space_, a.span(), named.span(), there.span());
    EXPECT_EQ(named.to_host(), expected);
    const auto flags = there.to_host();
    EXPECT_EQ(std::ranges::count(flags, 0), 0);
  }

  indexing_space space_;
  table_type table_;
  std::map<Key, u32> ids_;
};

// So many items of so many keys, numbered from `first` on.
template <class Key>
std::vector<Key> indexed_keys(u64 n, u64 different, u64 first, u64 seed) {
  std::vector<Key> keys(n);
  for (u64 i = 0; i < n; ++i) {
    const u64 number = different >= n ? i : mix64(seed + i) % different;
    keys[i] = spread_key<Key>(first + number);
  }
  return keys;
}

template <class Key>
class indexing_model : public ::testing::Test {};
// A quick run of many lanes has one type of keys.
using indexed_key_types = std::conditional_t<TILEHASH_FEW_TYPES != 0 && indexing_space::has_lanes,
                                             ::testing::Types<u64>, ::testing::Types<u32, u64>>;
TYPED_TEST_SUITE(indexing_model, indexed_key_types);

TYPED_TEST(indexing_model, many_keys_at_once) {
  const u64 n = many_indexed();
  const u64 seed = run_seed();
  u64 number = 0;
  for (const u64 different : {n, n / 3, u64(1)}) {
    for (const bool grows : {true, false}) {
      if (!is_asked(number++, 3)) continue;
      SCOPED_TRACE(std::to_string(different) + (grows ? " keys, growing" : " keys, fixed"));
      index_against_model<TypeParam> model(grows ? 0 : different, {.grow = grows});
      model.insert(indexed_keys<TypeParam>(n, different, 0, seed));
      model.expect_dense();
      model.insert(indexed_keys<TypeParam>(n / 4, different, different / 2, seed), !grows);
      model.expect_dense(!grows);
    }
  }
}

TYPED_TEST(indexing_model, more_keys_than_a_fixed_table_takes) {
  if (!is_asked(0, 2)) GTEST_SKIP() << "every second run of small sizes has it: refused keys take long";
  const u64 n = many_indexed();
  const u64 seed = run_seed();
  index_against_model<TypeParam> model(n / 2, {.grow = false});
  model.insert(indexed_keys<TypeParam>(n, n, 0, seed), true);
  EXPECT_GE(model.size(), n / 2);
  EXPECT_LT(model.size(), n);
  model.expect_dense(true);
}

TYPED_TEST(indexing_model, an_empty_table_again) {
  const u64 n = many_indexed();
  const u64 seed = run_seed();
  for (const bool reused : {true, false}) {
    if (!is_asked(reused ? 1 : 0, 2)) continue;
    index_against_model<TypeParam> model(0, {.reuse_ids = reused});
    const auto keys = indexed_keys<TypeParam>(n, n, 0, seed);
    model.insert(keys);
    model.erase(keys);
    model.insert(indexed_keys<TypeParam>(n, n / 2, n, seed));
    model.clear();
    model.insert(indexed_keys<TypeParam>(n, n / 2, 2 * n, seed));
    model.expect_dense();
  }
}

}  // namespace tilehash::contract
