// SPDX-License-Identifier: Apache-2.0
// The verbs of an indexed table beyond the contract of all tables: ids, colliding fingerprints, values that
// change under a lock.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/index.hpp>
#include <tilehash/map.hpp>

namespace tilehash::contract {

using word_key = std::array<u64, 3>;
using nine_words = std::array<u32, 9>;

inline word_key key_of(u64 i) { return {mix64(i), i, ~i}; }
inline std::vector<word_key> keys_from(u64 first, u64 n) {
  std::vector<word_key> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = key_of(first + i);
  return keys;
}

// Gives all keys one of 256 fingerprints, up to the third seed.
struct clashing {
  u64 seed = 0;
  clashing() = default;
  TILEHASH_FN explicit clashing(u64 s) : seed(s) {}
  template <class Bits>
  TILEHASH_FN u64 operator()(Bits key) const noexcept {
    const u64 h = murmur(seed)(key);
    return seed < 3 ? h & 255 : h;
  }
};
// The same under every seed.
struct constant {
  constant() = default;
  TILEHASH_FN explicit constant(u64) {}
  template <class Bits>
  TILEHASH_FN u64 operator()(Bits) const noexcept {
    return 7;
  }
};

struct add_blocks {
  TILEHASH_FN nine_words operator()(const nine_words& a, const nine_words& b) const {
    nine_words c{};
    for (u32 i = 0; i < 9; ++i) c[i] = a[i] + b[i];
    return c;
  }
};

// Values that may be combined before they are applied.
struct add_blocks_first : add_blocks {
  static constexpr bool is_associative = true;
};
// Counts its calls, so each item must be applied by itself.
struct add_and_count {
  TILEHASH_FN nine_words operator()(const nine_words& a, const nine_words& b) const {
    nine_words c = add_blocks{}(a, b);
    c[8] = a[8] + 1;
    return c;
  }
};

class indexing : public ::testing::Test {
 protected:
  using space_type = indexing_space;
  template <class T>
  buffer<T, space_type> there(const std::vector<T>& host) {
    return buffer<T, space_type>(space, std::span<const T>(host));
  }
  template <class Table>
  std::vector<u32> ids_of(const Table& t, const std::vector<word_key>& keys) {
    const auto k = there(keys);
    const buffer<u32, space_type> ids(space, keys.size());
    t.find_ids(space, k.span(), ids.span());
    return ids.to_host();
  }
  // Inserts, and checks that the returned ids are those found.
  template <class Table>
  std::vector<u32> insert(Table& t, const std::vector<word_key>& keys) {
    const auto k = there(keys);
    const buffer<u32, space_type> ids(space, keys.size());
    const auto report = t.insert_and_find(space, k.span(), ids.span());
    EXPECT_EQ(report.inserted + report.present, keys.size());
    EXPECT_EQ(ids.to_host(), ids_of(t, keys));
    return ids.to_host();
  }
  template <class Table>
  void expect_keys(const Table& t, const std::vector<u32>& ids, const std::vector<word_key>& keys) {
    const auto i = there(ids);
    const buffer<word_key, space_type> out(space, ids.size());
    const buffer<bool, space_type> found(space, ids.size());
    t.keys_of(space, i.span(), out.span(), found.span());
    EXPECT_EQ(out.to_host(), keys);
    const auto flags = found.to_host();
    EXPECT_EQ(std::ranges::count(flags, 0), 0);
  }
  static std::vector<u32> sorted(std::vector<u32> ids) {
    std::ranges::sort(ids);
    return ids;
  }
  static std::vector<u32> numbers(u32 from, u64 n) {
    std::vector<u32> v(n);
    std::iota(v.begin(), v.end(), from);
    return v;
  }

  space_type space;
  const u64 n = scaled(20'000, 1'000);
};

TEST_F(indexing, ids_are_dense_and_stay) {
  tilehash::index<word_key, space_type> t(space);
  auto first = keys_from(0, n);
  const auto ids = insert(t, first);
  EXPECT_EQ(sorted(ids), numbers(0, n));
  auto more = keys_from(n / 2, n);  // half of them are present
  const auto with_old = insert(t, more);
  EXPECT_TRUE(std::equal(with_old.begin(), with_old.begin() + static_cast<std::ptrdiff_t>(n - n / 2),
                         ids.begin() + static_cast<std::ptrdiff_t>(n / 2)));
  EXPECT_EQ(t.id_limit(), t.size());
  EXPECT_EQ(t.size(), n + n / 2);
  EXPECT_EQ(ids_of(t, first), ids) << "an id changed when keys were added";
  expect_keys(t, ids, first);
  EXPECT_EQ(ids_of(t, {key_of(~u64(0))})[0], t.no_id);
}

TEST_F(indexing, equal_keys_get_one_id) {
  tilehash::index<word_key, space_type> t(space);
  std::vector<word_key> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = key_of(i % 100);
  const auto ids = insert(t, keys);
  EXPECT_EQ(t.size(), 100U);
  for (u64 i = 100; i < n; ++i) ASSERT_EQ(ids[i], ids[i - 100]);
}

TEST_F(indexing, ids_of_erased_keys_are_used_again_when_asked) {
  for (const bool again : {true, false}) {
    tilehash::index<word_key, space_type> t(space, 0, {.reuse_ids = again});
    const auto ids = insert(t, keys_from(0, n));
    std::vector<word_key> gone;
    for (const word_key& key : keys_from(0, n / 4)) gone.insert(gone.end(), 2, key);
    const auto g = there(gone);
    EXPECT_EQ(t.erase(space, g.span()), n / 4);
    EXPECT_EQ(t.size(), n - n / 4);
    t.reserve(space, 4 * n);  // the freed ids move with the records
    const auto next = sorted(insert(t, keys_from(n, n / 4)));
    auto freed = ids;
    freed.resize(n / 4);
    EXPECT_EQ(next, again ? sorted(freed) : numbers(static_cast<u32>(n), n / 4));
    EXPECT_EQ(t.id_limit(), again ? n : n + n / 4);
    const std::vector<u32> kept(ids.begin() + static_cast<std::ptrdiff_t>(n / 4), ids.end());
    expect_keys(t, kept, keys_from(n / 4, n - n / 4));
    const auto last = there(keys_from(n / 4, n / 4));
    EXPECT_EQ(t.erase(space, last.span()), n / 4);
    t.clear(space);
    EXPECT_EQ(sorted(insert(t, keys_from(0, n))), numbers(0, n));
  }
}

TEST_F(indexing, fingerprints_that_clash_are_made_anew) {
  table<indexed<word_key, u32, clashing>, space_type> t(space, 0, {.seed = 0});
  const u64 few = 600;
  u64 restarts = 0;
  for (u64 from = 0; from < few; from += 3) {  // the first ones have distinct fingerprints
    const auto keys = keys_from(from, 3);
    const std::vector<u32> values = numbers(static_cast<u32>(from), 3);
    const auto k = there(keys);
    const auto v = there(values);
    const auto report = t.insert(space, k.span(), v.span());
    ASSERT_EQ(report.inserted, 3U);
    restarts += report.restarts;
  }
  EXPECT_GE(restarts, 3U);
  const auto k = there(keys_from(0, 2 * few));
  const buffer<u32, space_type> out(space, 2 * few);
  const buffer<bool, space_type> found(space, 2 * few);
  t.find(space, k.span(), out.span(), found.span());
  const auto values = out.to_host();
  const auto flags = found.to_host();
  for (u64 i = 0; i < 2 * few; ++i) {
    ASSERT_EQ(flags[i] != 0, i < few);
    if (i < few) {
      ASSERT_EQ(values[i], i);
    }
  }
}

TEST_F(indexing, a_key_with_anothers_fingerprint_is_absent) {
  table<indexed<word_key, void, constant>, space_type> t(space);
  const auto one = there(keys_from(0, 1));
  const auto other = there(keys_from(1, 1));
  EXPECT_EQ(t.insert(space, one.span()).inserted, 1U);
  const buffer<bool, space_type> found(space, 1);
  t.contains(space, other.span(), found.span());
  EXPECT_EQ(found.to_host()[0], 0);
  EXPECT_EQ(t.erase(space, other.span()), 0U);
  EXPECT_EQ(t.size(), 1U);
  try {  // no hash function separates these keys
    std::ignore = t.insert(space, other.span());
    FAIL() << "two keys with one fingerprint";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("one fingerprint"), std::string::npos);
  }
  EXPECT_EQ(t.size(), 1U);
  t.contains(space, one.span(), found.span());
  EXPECT_NE(found.to_host()[0], 0);
}

TEST_F(indexing, large_values_change_whole) {
  map<word_key, nine_words, space_type> t(space);
  static_assert(std::same_as<typename decltype(t)::design_type, indexed<word_key, nine_words>>);
  std::vector<word_key> keys(n);
  std::vector<nine_words> values(n);
  std::map<word_key, nine_words> model;
  for (u64 i = 0; i < n; ++i) {
    keys[i] = key_of(mix64(i) % 50);
    for (u32 part = 0; part < 9; ++part) values[i][part] = static_cast<u32>(i) * (part + 1);
    model[keys[i]] = add_blocks{}(model[keys[i]], values[i]);
  }
  const auto k = there(keys);
  const auto v = there(values);
  EXPECT_EQ(t.insert_or_apply(space, k.span(), v.span(), add_blocks{}).inserted, model.size());
  const buffer<nine_words, space_type> out(space, n);
  t.find(space, k.span(), out.span());
  auto got = out.to_host();
  for (u64 i = 0; i < n; ++i) ASSERT_EQ(got[i], model[keys[i]]);
  EXPECT_EQ(t.insert_or_assign(space, k.span(), v.span()).present, n);
  // The value is one of those given, and never a mix of two.
  t.find(space, k.span(), out.span());
  got = out.to_host();
  for (u64 i = 0; i < n; ++i) {
    for (u32 part = 0; part < 9; ++part) ASSERT_EQ(got[i][part], got[i][0] * (part + 1));
  }
}

// Items of few keys want the same records at once. Each counts once, whether it may be combined with others or not.
TEST_F(indexing, large_values_of_few_keys) {
  for (const u64 distinct : {u64(1), u64(7), n / 8}) {
    SCOPED_TRACE(distinct);
    tilehash::map<word_key, nine_words, space_type> t(space);
    std::vector<word_key> keys(n);
    std::vector<nine_words> values(n);
    std::map<word_key, nine_words> model;
    for (u64 i = 0; i < n; ++i) {
      keys[i] = key_of(mix64(i) % distinct);
      for (u32 part = 0; part < 9; ++part) values[i][part] = static_cast<u32>(i) * (part + 1);
    }
    const auto k = there(keys);
    const auto v = there(values);
    const auto update = [&](const auto& op) {
      const u64 before = model.size();
      for (u64 i = 0; i < n; ++i) {
        const auto [at, is_new] = model.try_emplace(keys[i], values[i]);
        if (!is_new) at->second = op(at->second, values[i]);
      }
      EXPECT_EQ(t.insert_or_apply(space, k.span(), v.span(), op).inserted, model.size() - before);
      const buffer<nine_words, space_type> out(space, n);
      t.find(space, k.span(), out.span());
      const auto got = out.to_host();
      for (u64 i = 0; i < n; ++i) ASSERT_EQ(got[i], model[keys[i]]);
    };
    update(add_blocks_first{});
    update(add_blocks_first{});
    update(add_and_count{});
    EXPECT_EQ(t.insert_or_assign(space, k.span(), v.span()).present, n);
    for (u64 i = 0; i < n; ++i) model[keys[i]] = nine_words{};
    EXPECT_EQ(t.insert_or_assign(space, k.span(), there(std::vector<nine_words>(n)).span()).present, n);
    update(add_and_count{});
  }
}

}  // namespace tilehash::contract
