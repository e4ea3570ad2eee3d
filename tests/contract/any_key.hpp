// SPDX-License-Identifier: Apache-2.0
// Keys of all kinds, in sets and maps: numbers, pairs, arrays and structs, with floats and padding in them.
// The includer names the space, `key_space`, and defines in_own_loop(space, n, body), which calls body(i)
// for all i of [0, n) concurrently.
// length: the kinds of keys, and the questions that each of them answers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/records.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/papers/indexed_cuckoo.hpp>
#include <tilehash/rows.hpp>
#include <tilehash/table.hpp>
#if !TILEHASH_FEW_TYPES
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/multi.hpp>
#include <tilehash/engine/multi.hpp>
#include <tilehash/papers/sorted_array.hpp>
#endif

namespace tilehash::contract::any_key {

struct cell {  // its bytes are its value
  int corner[4];
};
struct vertex {  // three bytes are padding
  float x, y;
  char layer;
};
struct edge {  // 42 bytes, and six bytes of padding
  std::array<double, 2> from, to;
  float weight;
  short layers[3];
};
struct labelled {  // the label is not part of the key
  int id;
  int label;
};

#pragma pack(push, 1)
struct packed_vertex {  // numbers at odd addresses; 14 bytes
  char layer;
  float x;
  double y;
  char label;  // not part of the key
};
struct packed_name {  // the same, and its bytes are its value
  char kind;
  int number;
  short part;
};
struct packed_pair {  // a value
  char kind;
  double weight;
  friend bool operator==(const packed_pair& a, const packed_pair& b) {
    return a.kind == b.kind && std::memcmp(&a, &b, sizeof a) == 0;
  }
};
struct __attribute__((aligned(4))) packed_in_words {  // aligned as a whole, although its number is not
  char layer;
  float x;
  char rest[3];
};
#pragma pack(pop)
template <u32 Alignment>
struct alignas(Alignment) apart {  // a key or a value with the alignment of a vector or a cache line
  int number[Alignment / 4];
  friend bool operator==(const apart&, const apart&) = default;
};
template <u32 Size>
using bytes = std::array<u8, Size>;

}  // namespace tilehash::contract::any_key

namespace tilehash::keys {
using contract::any_key::edge, contract::any_key::labelled, contract::any_key::vertex;
using contract::any_key::packed_in_words, contract::any_key::packed_vertex;
template <>
struct members_of<packed_vertex> : members<&packed_vertex::x, &packed_vertex::y, &packed_vertex::layer> {};
template <>
struct members_of<packed_in_words>
    : members<&packed_in_words::layer, &packed_in_words::x, &packed_in_words::rest> {};
template <>
struct members_of<vertex> : members<&vertex::x, &vertex::y, &vertex::layer> {};
template <>
struct members_of<edge> : members<&edge::from, &edge::to, &edge::weight, &edge::layers> {};
template <>
struct members_of<labelled> : members<&labelled::id> {};
}  // namespace tilehash::keys

namespace tilehash::contract::any_key {

static_assert(key_like<std::pair<int, int>> && key_like<std::array<std::pair<int, float>, 2>>);
static_assert(!key_like<std::pair<int, std::string>> && !key_like<std::pair<int, long double>>);
static_assert(detail::packed_bytes<vertex> == 9 && detail::packed_bytes<edge> == 42);
static_assert(detail::packed_bytes<labelled> == 4 && detail::packed_bytes<std::pair<char, long>> == 9);
static_assert(detail::has_nan<edge> && !detail::has_nan<cell> && !detail::has_nan<std::pair<int, long>>);

// ---- makes a key's leading part from a number, and the rest of it ----
template <class T>
struct maker {  // for arithmetic types: nearly half of them are zero, minus zero, NaN or the least number
  static void set(T& x, u64 n) {
    if constexpr (std::floating_point<T>) {
      using limits = std::numeric_limits<T>;
      const T kinds[] = {T(0), -T(0), limits::quiet_NaN(), limits::denorm_min(), static_cast<T>(n) / 8};
      x = kinds[n % 9 < 4 ? n % 9 : 4];
    } else {
      x = static_cast<T>(mix64(n));
    }
  }
  static std::string text(const T& x) { return x == 0 ? "0" : x != x ? "nan" : std::to_string(x); }
};
template <class A, class B>
struct maker<std::pair<A, B>> {
  static void set(std::pair<A, B>& x, u64 n) { maker<A>::set(x.first, n), maker<B>::set(x.second, n / 2); }
  static std::string text(const std::pair<A, B>& x) {
    return maker<A>::text(x.first) + ' ' + maker<B>::text(x.second);
  }
};
template <class T, std::size_t N>
struct maker<std::array<T, N>> {
  static void set(std::array<T, N>& x, u64 n) {
    for (T& one : x) maker<T>::set(one, n), n = n / 2 + 3;
  }
  static std::string text(const std::array<T, N>& x) {
    std::string all;
    for (const T& one : x) all += maker<T>::text(one) + ' ';
    return all;
  }
};
template <>
struct maker<cell> {
  static void set(cell& x, u64 n) {
    for (int& one : x.corner) maker<int>::set(one, n), n /= 2;
  }
  static std::string text(const cell& x) {
    std::string all;
    for (const int one : x.corner) all += std::to_string(one) + ' ';
    return all;
  }
};
template <>
struct maker<vertex> {
  static void set(vertex& x, u64 n) {
    maker<float>::set(x.x, n), maker<float>::set(x.y, n / 3), maker<char>::set(x.layer, n % 3);
  }
  static std::string text(const vertex& x) {
    return maker<float>::text(x.x) + ' ' + maker<float>::text(x.y) + ' ' + maker<char>::text(x.layer);
  }
};
template <>
struct maker<edge> {
  using point = maker<std::array<double, 2>>;
  static void set(edge& x, u64 n) {
    point::set(x.from, n / 16), point::set(x.to, n / 48), maker<float>::set(x.weight, n / 32);
    maker<short>::set(x.layers[0], 3), maker<short>::set(x.layers[1], 3);
    maker<short>::set(x.layers[2], n);  // some keys differ only here
  }
  static std::string text(const edge& x) {
    std::string all = point::text(x.from) + point::text(x.to) + maker<float>::text(x.weight);
    for (const short layer : x.layers) all += ' ' + std::to_string(layer);
    return all;
  }
};
template <>
struct maker<labelled> {
  static void set(labelled& x, u64 n) { x = {static_cast<int>(mix64(n)), static_cast<int>(run_seed() ^ n)}; }
  static std::string text(const labelled& x) { return std::to_string(x.id); }
};

template <>
struct maker<packed_vertex> {
  static void set(packed_vertex& x, u64 n) {
    float number = 0;
    double other = 0;
    maker<float>::set(number, n), maker<double>::set(other, n / 3);
    x = {static_cast<char>(n % 3), number, other, static_cast<char>(run_seed() + n)};
  }
  static std::string text(const packed_vertex& x) {
    const float number = x.x;
    const double other = x.y;
    return maker<float>::text(number) + ' ' + maker<double>::text(other) + ' ' + std::to_string(x.layer);
  }
};
template <>
struct maker<packed_in_words> {
  static void set(packed_in_words& x, u64 n) {
    float number = 0;
    maker<float>::set(number, n);
    x = {static_cast<char>(n % 3), number, {1, 2, static_cast<char>(n % 2)}};
  }
  static std::string text(const packed_in_words& x) {
    const float number = x.x;
    return maker<float>::text(number) + ' ' + std::to_string(x.layer) + ' ' + std::to_string(x.rest[2]);
  }
};
template <>
struct maker<packed_name> {
  static void set(packed_name& x, u64 n) {
    x = {static_cast<char>(n % 5), static_cast<int>(mix64(n)), static_cast<short>(n)};
  }
  static std::string text(const packed_name& x) {
    const int number = x.number;
    return std::to_string(x.kind) + ' ' + std::to_string(number) + ' ' + std::to_string(x.part);
  }
};
template <>
struct maker<packed_pair> {
  static void set(packed_pair& x, u64 n) { x = {static_cast<char>(n % 5), static_cast<double>(n % 97)}; }
};
template <u32 Alignment>
struct maker<apart<Alignment>> {
  static void set(apart<Alignment>& x, u64 n) {
    for (int& one : x.number) one = static_cast<int>(mix64(n)), n /= 2;
  }
  static std::string text(const apart<Alignment>& x) {
    std::string all;
    for (const int one : x.number) all += std::to_string(one) + ' ';
    return all;
  }
};

template <class Key>
Key key_of(u64 n, random_numbers& random) {
  Key key{};
  std::memset(static_cast<void*>(&key), static_cast<int>(random() % 256), sizeof key);  // the padding's bytes
  maker<Key>::set(key, n);
  return key;
}

// The lookups of a user's own loop or kernel with a view.
template <class View, class Value, bool IsSet>
struct own_lookup {
  View view;
  const typename View::key_type* keys;
  u32* counts;
  Value* values;
  TILEHASH_FN void operator()(u64 i) const {
    const auto hit = view.find(keys[i]);
    counts[i] = hit.found() ? view.count(keys[i]) : 0;
    if constexpr (!IsSet)
      if (hit.found()) values[i] = hit.value();
  }
};

// A table compared with std::unordered_multimap, whose keys are the texts of the table's keys.
template <class Design>
class checked {
  using table_type = table<Design, key_space>;
  using key = typename Design::key_type;
  using value = typename table_type::value_element;
  static constexpr bool keeps_duplicates = multivalue<Design>;

 public:
  void run() {
    for (const u64 different : {u64(40), u64(3000)}) build(scaled(3000, 600), different);
    if constexpr (insertable<Design>) {
      const u64 half = keys_.size() / 2;
      u64 gone = 0;
      for (u64 i = 0; i < half; ++i) gone += model_.erase(maker<key>::text(keys_[i])) != 0;
      const buffer<key, key_space> k(space_, std::span<const key>(keys_.data(), half));
      ASSERT_EQ(t_.erase(space_, k.span()), gone);
      compare();
    }
  }

 private:
  void build(u64 n, u64 different) {
    random_numbers random("any key");
    keys_.clear();
    model_.clear();
    std::vector<value> values(n);
    u64 refused = 0;
    for (u64 i = 0; i < n; ++i) {
      keys_.push_back(key_of<key>(random.below(different), random));
      if constexpr (std::is_arithmetic_v<value>)
        values[i] = static_cast<value>(i % 120);
      else
        maker<value>::set(values[i], i);
      const std::string text = maker<key>::text(keys_[i]);
      if (text.find("nan") != std::string::npos)
        ++refused;
      else
        model_[text].push_back(values[i]);
    }
    ASSERT_EQ(refused != 0, detail::has_nan<key>);
    const buffer<key, key_space> k(space_, keys_);
    const buffer<value, key_space> v(space_, values);
    insert_report report;
    if constexpr (table_type::is_set)
      report = t_.build(space_, k.span());
    else
      report = t_.build(space_, k.span(), v.span());
    EXPECT_EQ(report.refused, refused);
    EXPECT_EQ(report.inserted, keeps_duplicates ? n - refused : model_.size());
    EXPECT_EQ(report.inserted + report.present + report.refused, n);
    for (u64 i = 0; i < n; ++i) keys_.push_back(key_of<key>(random(), random));
    compare();
  }

  void compare() {
    const u64 n = keys_.size();
    const buffer<key, key_space> k(space_, keys_);
    const buffer<bool, key_space> found(space_, n);
    const buffer<u32, key_space> counts(space_, n), own(space_, n);
    const std::vector<value> blank(n);  // for absent keys, whose values nothing writes
    const buffer<value, key_space> out(space_, blank), own_out(space_, blank);
    t_.contains(space_, k.span(), found.span());
    t_.count(space_, k.span(), counts.span());
    if constexpr (!table_type::is_set) t_.find(space_, k.span(), out.span());
    using view_type = std::remove_cvref_t<decltype(t_.view())>;
    using lookup = own_lookup<view_type, value, table_type::is_set>;
    in_own_loop(space_, n, lookup{t_.view(), k.data(), own.data(), own_out.data()});
    const auto is = found.to_host();
    const auto counted = counts.to_host(), counted_alone = own.to_host();
    const auto values = out.to_host(), values_alone = own_out.to_host();
    u64 wrong = 0;
    for (u64 i = 0; i < n; ++i) {
      const auto at = model_.find(maker<key>::text(keys_[i]));
      const u64 expected = at == model_.end() ? 0 : keeps_duplicates ? at->second.size() : 1;
      wrong += is[i] != (expected != 0) || counted[i] != expected || counted_alone[i] != expected;
      if (table_type::is_set || expected == 0) continue;
      wrong += std::ranges::count(at->second, values[i]) == 0;
      wrong += std::ranges::count(at->second, values_alone[i]) == 0;
    }
    EXPECT_EQ(wrong, 0U);
    one_by_one();
    retrieve();
  }
  // Looks keys up in arrays of one key.
  void one_by_one() {
    for (u64 i = 0; i < keys_.size(); i += keys_.size() / 20) {
      const buffer<key, key_space> k(space_, std::span<const key>(&keys_[i], 1));
      const buffer<bool, key_space> found(space_, 1);
      t_.contains(space_, k.span(), found.span());
      const auto at = model_.find(maker<key>::text(keys_[i]));
      EXPECT_EQ(found.to_host()[0] != 0, at != model_.end());
      if constexpr (!table_type::is_set) {
        const buffer<value, key_space> out(space_, std::vector<value>(1));
        t_.find(space_, k.span(), out.span(), found.span());
        EXPECT_EQ(found.to_host()[0] != 0, at != model_.end());
        if (at != model_.end()) {
          EXPECT_GT(std::ranges::count(at->second, out.to_host()[0]), 0);
        }
      }
    }
  }
  void retrieve() {
    u64 size = 0, wrong = 0;
    for (const auto& [text, its] : model_) size += keeps_duplicates ? its.size() : 1;
    ASSERT_EQ(t_.size(), size);
    const buffer<key, key_space> k(space_, size);
    const buffer<value, key_space> v(space_, std::vector<value>(size));  // sets do not write it
    u64 given = 0;
    if constexpr (table_type::is_set)
      given = t_.retrieve_all(space_, k.span());
    else
      given = t_.retrieve_all(space_, k.span(), v.span());
    ASSERT_EQ(given, size);
    const auto keys = k.to_host();
    const auto values = v.to_host();
    auto left = model_;
    for (u64 i = 0; i < size; ++i) {
      auto& its = left[maker<key>::text(keys[i])];
      const auto at = table_type::is_set ? its.begin() : std::ranges::find(its, values[i]);
      wrong += at == its.end();
      if (at == its.end()) continue;
      if (keeps_duplicates)
        its.erase(at);
      else
        its.clear();
    }
    EXPECT_EQ(wrong, 0U);
  }

  key_space space_;
  table_type t_{space_};
  std::vector<key> keys_;
  std::map<std::string, std::vector<value>> model_;
};

template <class... Designs>
void check() {
  (checked<Designs>().run(), ...);
}
template <class Key>
void check_maps() {
  check<hash_graph<Key, int>, hash_graph<Key, long>, hash_graph<Key, float>, hash_graph<Key, double>>();
}
// Tables with records and a table of ids, whose design compiles quickly.
template <class Key, class Value>
using in_records = indexed<Key, Value, murmur, linear_probing<fingerprint_type<Key>, u32>>;

// All pairs of the thesis' number types, and all other kinds.
TEST(any_key, numbers) {
  SCOPED_TRACE(run_seed());
#if !TILEHASH_ONLY_READ
  check_maps<int>();
#endif
#if !TILEHASH_FEW_TYPES
  check_maps<long>();
  check_maps<float>();
  check_maps<double>();
  check<hash_graph<int, void>, hash_graph<long, void>, hash_graph<float, void>>();
#endif
  check<hash_graph<double, void>>();
}
TEST(any_key, pairs_and_arrays) {
  SCOPED_TRACE(run_seed());
  check<hash_graph<std::pair<char, double>, std::pair<int, char>>>();
#if !TILEHASH_FEW_TYPES
  check<hash_graph<std::array<int, 4>, void>, hash_graph<std::array<int, 4>, int>,
        hash_graph<std::pair<int, long>, void>, hash_graph<std::array<float, 3>, double>,
        linear_probing<std::array<int, 4>, void>>();
#endif
  check<tiled<std::pair<float, short>, int>, in_records<std::pair<long, long>, std::pair<int, long>>>();
}
TEST(any_key, structs) {
  SCOPED_TRACE(run_seed());
#if !TILEHASH_ONLY_READ
  check<in_records<vertex, int>>();
#endif
#if !TILEHASH_FEW_TYPES
  check<hash_graph<edge, void>, hash_graph<cell, int>, hash_graph<vertex, void>, hash_graph<labelled, int>,
        in_records<edge, void>, papers::indexed_cuckoo<edge, void>, linear_probing<vertex, int>>();
#endif
}

// Packed structs, whose numbers have odd addresses; types of large alignment; odd sizes.
TEST(any_key, layouts) {
  SCOPED_TRACE(run_seed());
  check<hash_graph<packed_vertex, packed_pair>, in_records<packed_in_words, apart<64>>,
        dynamic_cuckoo<packed_name, packed_pair>>();
#if !TILEHASH_FEW_TYPES
  check<in_records<apart<32>, packed_pair>, linear_probing<packed_in_words, bytes<3>>,
        tiled<bytes<5>, bytes<3>>, in_records<packed_vertex, apart<32>>, multi<packed_name, packed_pair>,
        papers::sorted_array<packed_vertex, apart<32>>, dynamic_hash_graph<packed_vertex, apart<64>>,
        hash_graph<apart<64>, bytes<9>>, hash_graph<bytes<17>, bytes<12>>,
        papers::indexed_cuckoo<packed_vertex, apart<32>>, bucketed_cuckoo<bytes<7>, bytes<9>>>();
#endif
}

}  // namespace tilehash::contract::any_key
