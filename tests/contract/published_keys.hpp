// SPDX-License-Identifier: Apache-2.0
// The thesis' sets and two-way indexes of keys that repeat, next to the standard's sets: random keys, and keys that
// its functions of buckets send to the same one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/papers/published/compacting.hpp>
#include <tilehash/papers/published/multi_value.hpp>

namespace tilehash::contract {

namespace published = papers::published;

struct repeated_keys {
  std::string name;
  std::vector<u32> keys;
};

// Without 0xffffffff, which no published table stores.
inline std::vector<repeated_keys> sets_of_repeated_keys(u64 n, u64 seed) {
  const auto make = [&](const char* name, const auto& key_at) {
    repeated_keys one{name, std::vector<u32>(n)};
    for (u64 i = 0; i < n; ++i) {
      const u32 key = key_at(i);
      one.keys[i] = key == ~u32(0) ? 0 : key;
    }
    return one;
  };
  constexpr u32 prime = published::two_level_view<published::tables::equal>::prime;
  const u32 first = static_cast<u32>(seed);
  return {make("different", [&](u64 i) { return mix32(first + static_cast<u32>(i)); }),
          make("three times", [&](u64 i) { return mix32(first + static_cast<u32>(i % (n / 3 + 1))); }),
          make("ten keys", [&](u64 i) { return mix32(first + static_cast<u32>(i % 10)); }),
          make("some often", [&](u64 i) { return static_cast<u32>(mix64(seed + i) % (mix64(i) % n + 1)); }),
          make("one key", [&](u64) { return first; }),
          make("every third", [](u64 i) { return static_cast<u32>(3 * i); }),  // one bucket of three
          make("equal by the prime", [](u64 i) { return static_cast<u32>(i % 2000) * prime + 5; })};
}

// Builds a table of the keys, and compares its ids with the standard's set.
template <class Table, class Space>
void expect_two_way(const Table& t, Space& space, const std::vector<u32>& keys) {
  const std::unordered_set<u32> model(keys.begin(), keys.end());
  std::vector<u32> asked = keys;
  for (const u32 key : keys) asked.push_back(key ^ 0x5a5a'0001);
  const buffer<u32, Space> there(space, std::span<const u32>(asked)), ids(space, asked.size());
  t.find_ids_async(space, there.span(), ids.span());
  const std::vector<u32> id = ids.to_host();
  ASSERT_EQ(t.size(), model.size());
  std::vector<u32> list(t.size());
  if (!list.empty()) space.copy_to_host(list.data(), t.keys().data(), list.size() * sizeof(u32));
  for (u64 i = 0; i < asked.size(); ++i) {
    if (!model.contains(asked[i])) {
      ASSERT_EQ(id[i], published::no_id) << asked[i];
      continue;
    }
    ASSERT_LT(id[i], list.size()) << asked[i];
    ASSERT_EQ(list[id[i]], asked[i]);
  }
}
template <class Space>
void expect_two_way_indexes(Space& space, u64 n) {
  const u64 seed = run_seed();
  for (const auto& [name, keys] : sets_of_repeated_keys(n, seed)) {
    SCOPED_TRACE(name);
    const buffer<u32, Space> there(space, std::span<const u32>(keys));
    published::compacting<Space> single(space, n);
    ASSERT_TRUE(single.build(space, there.span(), seed));
    expect_two_way(single, space, keys);
    published::two_level_compacting<Space> two(space, n);
    ASSERT_TRUE(two.build(space, there.span(), seed).complete);
    expect_two_way(two, space, keys);
    const auto few = there.span().first(n / 2);  // in the same table
    ASSERT_TRUE(two.build(space, few, seed + 1).complete);
    expect_two_way(two, space, {keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n / 2)});
    published::compacted_list<Space> list(space, n);
    list.build(space, there.span());
    expect_two_way(list, space, keys);
  }
}

// Builds a table of the pairs i -> values[i], and compares all values of a key with the standard's map.
template <class Table, class Space>
void expect_all_values(Table t, Space& space, const std::vector<u32>& keys) {
  std::unordered_map<u32, std::vector<u32>> model;
  std::vector<u32> asked = keys, numbers(keys.size());
  for (u32 i = 0; i < keys.size(); ++i) {
    numbers[i] = 7 * i + 1;
    model[keys[i]].push_back(numbers[i]);
    asked.push_back(keys[i] ^ 0x5a5a'0001);
  }
  const buffer<u32, Space> there(space, std::span<const u32>(asked)),
      values(space, std::span<const u32>(numbers));
  const buffer<u32, Space> begins(space, asked.size()), counts(space, asked.size());
  for (const u64 seed : {run_seed(), run_seed() + 1}) {  // in the same table
    ASSERT_TRUE(t.build(space, there.span().first(keys.size()), values.span(), seed));
    ASSERT_EQ(t.size(), model.size());
    t.find_async(space, there.span(), begins.span(), counts.span());
    const std::vector<u32> begin = begins.to_host(), count = counts.to_host();
    std::vector<u32> grouped(keys.size());
    space.copy_to_host(grouped.data(), t.values().data(), grouped.size() * sizeof(u32));
    std::unordered_set<u32> compared;
    for (u64 i = 0; i < asked.size(); ++i) {
      const auto its = model.find(asked[i]);
      ASSERT_EQ(count[i], its == model.end() ? 0 : its->second.size()) << asked[i];
      if (count[i] == 0) continue;
      ASSERT_LE(begin[i] + count[i], grouped.size());
      if (!compared.insert(asked[i]).second) continue;
      const auto first = grouped.begin() + begin[i];
      std::sort(first, first + count[i]);
      ASSERT_TRUE(std::equal(first, first + count[i], its->second.begin())) << asked[i];
    }
  }
}
template <class Space>
void expect_multi_value_tables(Space& space, u64 n) {
  for (const auto& [name, keys] : sets_of_repeated_keys(n, run_seed())) {
    SCOPED_TRACE(name);
    expect_all_values(published::multi_value_by_sort<Space>(space, n), space, keys);
    expect_all_values(published::multi_value_by_count<Space>(space, n), space, keys);
  }
}

// A key keeps one of its values, and an absent one is not found.
template <class Space>
void expect_sets(Space& space, u64 n) {
  const u64 seed = run_seed();
  for (const auto& [name, keys] : sets_of_repeated_keys(n, seed)) {
    SCOPED_TRACE(name);
    const std::unordered_set<u32> model(keys.begin(), keys.end());
    std::vector<u32> asked = keys, numbers(n);
    for (const u32 key : keys) asked.push_back(key ^ 0x5a5a'0001);
    for (u64 i = 0; i < n; ++i) numbers[i] = static_cast<u32>(i);
    const buffer<u32, Space> there(space, std::span<const u32>(asked)), out(space, asked.size());
    const buffer<u32, Space> values(space, std::span<const u32>(numbers));
    const buffer<bool, Space> found(space, asked.size());
    const auto given = there.span().first(n);

    published::two_level<Space, published::tables::equal, published::repeats::allowed> two(space, n);
    ASSERT_TRUE(two.build(space, given, values.span(), seed).complete);
    two.find_async(space, there.span(), out.span(), found.span());
    const auto has = found.to_host();
    const auto value = out.to_host();
    for (u64 i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(has[i] != 0, model.contains(asked[i])) << asked[i];
      if (has[i] == 0) continue;
      ASSERT_LT(value[i], n);
      ASSERT_EQ(keys[value[i]], asked[i]);
    }

    published::cuckoo_set<Space> single(space, n);
    ASSERT_TRUE(single.build(space, given, seed));
    single.contains_async(space, there.span(), found.span());
    const auto is_member = found.to_host();
    for (u64 i = 0; i < asked.size(); ++i) ASSERT_EQ(is_member[i] != 0, model.contains(asked[i])) << asked[i];
    std::vector<u32> places(single.places().size());
    space.copy_to_host(places.data(), single.places().data(), places.size() * sizeof(u32));
    std::erase(places, ~u32(0));
    EXPECT_EQ(places.size(), model.size());  // no copy is left
    EXPECT_EQ(std::unordered_set<u32>(places.begin(), places.end()), model);
  }
}

}  // namespace tilehash::contract
