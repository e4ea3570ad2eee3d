// SPDX-License-Identifier: Apache-2.0
// Verbs of many items on a CPU, whose threads combine equal keys first, compared with std::unordered_map.
// length: one model; a test for each verb and each way to combine.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <contract/bad_hash.hpp>
#include <contract/faulty.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/records.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {
namespace {

// Enough items for the caches to evict, and to be left out for some shares.
u64 many() { return scaled(140'000, 40'000); }

struct wide_key {
  u32 a, b, c, d;
  friend bool operator==(const wide_key&, const wide_key&) = default;
};
struct wide_value {
  u64 items, total;
  u32 least, most;
  friend bool operator==(const wide_value&, const wide_value&) = default;
};
struct all_of {
  static constexpr bool is_associative = true;
  wide_value operator()(const wide_value& a, const wide_value& b) const {
    return {a.items + b.items, a.total + b.total, std::min(a.least, b.least), std::max(a.most, b.most)};
  }
};

template <class T>
T make(u64 x) {
  if constexpr (std::is_same_v<T, wide_key>)
    return {static_cast<u32>(x), 7, static_cast<u32>(x >> 32), 0};
  else if constexpr (std::is_same_v<T, std::array<u32, 3>>)
    return {static_cast<u32>(x), static_cast<u32>(x >> 32), 3};
  else if constexpr (std::is_same_v<T, wide_value>)
    return {1, x % 1000, static_cast<u32>(x), static_cast<u32>(x)};
  else
    return static_cast<T>(x);
}
struct by_bytes {
  template <class Key>
  std::size_t operator()(const Key& key) const {
    return detail::hash_key(murmur(), key);
  }
};

// Numbers of keys, by name: one key, two in turn, few, hot, many, all different.
struct numbers_of {
  const char* name;
  u64 (*number)(u64 i, u64 random, u64 n);
};
constexpr numbers_of all_numbers[] = {
    {"one key", [](u64, u64, u64) { return u64(0); }},
    {"two in turn", [](u64 i, u64, u64) { return i % 2; }},
    {"ten", [](u64, u64 r, u64) { return r % 10; }},
    {"a thousand, sorted", [](u64 i, u64, u64 n) { return i * 1000 / n; }},
    {"hot and others",
     [](u64, u64 r, u64 n) {
       return static_cast<u64>(std::pow(static_cast<double>(n), static_cast<double>(r >> 11) * 0x1p-53));
     }},
    {"a fourth", [](u64, u64 r, u64 n) { return r % (n / 4); }},
    {"all different", [](u64 i, u64, u64) { return i; }},
};

template <class Design>
class thread_combine : public ::testing::Test {
 protected:
  using key = typename Design::key_type;
  using value = typename Design::mapped_type;
  using table_type = table<Design, cpu>;
  using counts = std::unordered_map<key, std::vector<value>, by_bytes>;

  // Keys with small and with the largest numbers, so that some are reserved.
  static std::vector<key> keys_of(const numbers_of& numbers, u64 n, u64 seed) {
    std::vector<key> keys(n);
    for (u64 i = 0; i < n; ++i) {
      const u64 x = numbers.number(i, mix64(seed + i), n);
      keys[i] = make<key>(x % 2 == 0 ? x / 2 : ~(x / 2));
    }
    return keys;
  }
  static std::vector<value> values_of(u64 n, u64 seed) {
    std::vector<value> values(n);
    for (u64 i = 0; i < n; ++i) values[i] = make<value>(mix64(seed ^ i) % 4096);
    return values;
  }
  static auto op() {
    if constexpr (std::is_same_v<value, wide_value>)
      return all_of{};
    else
      return op::sum{};
  }
  // Each key's values are those of its items in order, after the value that the table had.
  static counts model_of(const std::vector<key>& keys, const std::vector<value>& values) {
    counts model;
    for (u64 i = 0; i < keys.size(); ++i) model[keys[i]].push_back(values[i]);
    return model;
  }
  // is_right(value, values of the key)
  template <class Right>
  static void expect_values(cpu& space, const table_type& t, const counts& model, const Right& is_right) {
    EXPECT_EQ(t.size(), model.size());
    std::vector<key> keys;
    for (const auto& [k, v] : model) keys.push_back(k);
    std::vector<value> out(keys.size());
    std::vector<u8> found(keys.size());
    t.find(space, keys, out, found);
    u64 absent = 0, wrong = 0;
    for (u64 i = 0; i < keys.size(); ++i) {
      absent += found[i] == 0;
      wrong += found[i] != 0 && !is_right(out[i], model.at(keys[i]));
    }
    EXPECT_EQ(absent, 0U);
    EXPECT_EQ(wrong, 0U);
  }
  static bool is_combined(const value& got, const std::vector<value>& given) {
    value all = given[0];
    for (u64 i = 1; i < given.size(); ++i) all = op()(all, given[i]);
    return got == all;
  }
  static bool is_one(const value& got, const std::vector<value>& given) {
    return std::find(given.begin(), given.end(), got) != given.end();
  }
};

#if TILEHASH_FEW_TYPES
using thread_combined_designs =
    ::testing::Types<tiled<u64, u64>, indexed<wide_key, u64>, indexed<u64, wide_value>>;
#else
using thread_combined_designs =
    ::testing::Types<tiled<u64, u64>, bucketed_cuckoo<std::array<u32, 3>, u32>, linear_probing<u32, u32>,
                     indexed<wide_key, u64>, indexed<u64, wide_value>>;
#endif
TYPED_TEST_SUITE(thread_combine, thread_combined_designs);

TYPED_TEST(thread_combine, verbs_give_what_the_model_gives) {
  const u64 n = many(), seed = run_seed();
  for (const int threads : {1, 2}) {
    if (!is_asked(static_cast<u64>(threads), 2)) continue;
    cpu space(threads);
    for (const numbers_of& numbers : all_numbers) {
      SCOPED_TRACE(std::string(numbers.name) + ", threads " + std::to_string(threads) +
                   ", TILEHASH_SEED=" + std::to_string(seed));
      const auto keys = this->keys_of(numbers, n, seed);
      const auto values = this->values_of(n, seed);
      auto model = this->model_of(keys, values);
      const insert_report expected{.inserted = model.size(), .present = n - model.size()};
      const auto same = [&](insert_report report) {
        report.restarts = 0;
        EXPECT_EQ(report, expected);
      };
      typename TestFixture::table_type sums(space, 0), assigned(space, 0), inserted(space, 0);
      same(sums.insert_or_apply(space, keys, values, this->op()));
      this->expect_values(space, sums, model, this->is_combined);
      same(assigned.insert_or_assign(space, keys, values));
      this->expect_values(space, assigned, model, this->is_one);
      same(inserted.insert(space, keys, values));
      this->expect_values(space, inserted, model, this->is_one);
      if constexpr (requires { inserted.insert(space, keys, values, keep::first); }) {
        inserted.clear(space);
        same(inserted.insert(space, keys, values, keep::first));
        this->expect_values(space, inserted, model,
                            [](const auto& got, const auto& v) { return got == v[0]; });
      }
      // A second call meets keys that are present.
      for (auto& [k, given] : model) given.insert(given.end(), given.begin(), given.end());
      EXPECT_EQ(sums.insert_or_apply(space, keys, values, this->op()).present, n);
      this->expect_values(space, sums, model, this->is_combined);
      EXPECT_EQ(inserted.insert(space, keys, values).present, n);
    }
  }
}

TYPED_TEST(thread_combine, a_full_table_counts_all_items_of_the_keys_that_it_refuses) {
  using key = typename TypeParam::key_type;
  if (std::is_same_v<TypeParam, linear_probing<u32, u32>>)
    GTEST_SKIP() << "a lookup of an absent key in a full table of linear probing reads all slots";
  const u64 n = many(), seed = run_seed();
  cpu space(2);
  const auto keys = this->keys_of(all_numbers[5], n, seed);
  const auto values = this->values_of(n, seed);
  const auto model = this->model_of(keys, values);
  for (const bool updates : {false, true}) {
    SCOPED_TRACE("updates " + std::to_string(updates) + ", TILEHASH_SEED=" + std::to_string(seed));
    typename TestFixture::table_type t(space, model.size() / 4, {.load_factor = 0.9, .grow = false});
    const insert_report report =
        updates ? t.insert_or_apply(space, keys, values, this->op()) : t.insert(space, keys, values);
    EXPECT_GT(report.refused, 0U);
    EXPECT_EQ(report.inserted, t.size());
    EXPECT_EQ(report.inserted + report.present + report.refused, n);
    std::vector<u8> found(n);
    t.contains(space, std::span<const key>(keys), found);
    EXPECT_EQ(report.refused, static_cast<u64>(std::count(found.begin(), found.end(), 0)));
  }
}

// Each allocation fails once, and from then on: the call gives the right answer or throws and has changed
// nothing.
TYPED_TEST(thread_combine, without_memory) {
  const u64 n = scaled(70'000, 40'000), seed = run_seed();
  faulty_host memory;
  cpu space(2, &memory);
  const auto keys = this->keys_of(all_numbers[5], n, seed);
  const auto values = this->values_of(n, seed);
  const auto model = this->model_of(keys, values);
  for (const u64 refusals : {u64(1), faulty::never}) {
    bool refused = true;
    for (u64 after = 0; refused; ++after) {
      SCOPED_TRACE(std::to_string(after) + " allocations, TILEHASH_SEED=" + std::to_string(seed));
      ASSERT_LT(after, 500U);
      typename TestFixture::table_type t(space, 2 * n);
      const auto held = std::span(keys).first(10);
      const u64 before = t.insert(space, held, std::span(values).first(10)).inserted;
      memory.refuse_after(after, refusals);
      bool threw = false;
      insert_report report;
      try {
        report = memory.guarded([&] { return t.insert(space, keys, values); });
      } catch (const out_of_memory&) {
        threw = true;
      }
      refused = memory.refused();
      memory.refuse_after(faulty::never);
      EXPECT_EQ(memory.allocated(), t.bytes());
      if (threw) {
        EXPECT_EQ(t.size(), before);
      } else {
        EXPECT_EQ(report.inserted + before, t.size());
        EXPECT_EQ(report.inserted + report.present + report.refused, n);
        if (report.refused == 0) this->expect_values(space, t, model, this->is_one);
      }
    }
  }
}

TEST(thread_combine_of, floats_refuses_nans_and_knows_one_zero) {
  const u64 n = many(), seed = run_seed();
  cpu space(2);
  std::vector<double> keys(n);
  u64 nans = 0;
  for (u64 i = 0; i < n; ++i) {
    const u64 r = mix64(seed + i) % 100;
    const bool is_nan = r == 0 || i < 9'000;  // a thread may begin with a share of NaNs
    keys[i] = is_nan ? std::numeric_limits<double>::quiet_NaN() : r == 1 ? -0.0 : static_cast<double>(r - 2);
    nans += is_nan;
  }
  const std::vector<u64> ones(n, 1);
  table<tiled<double, u64>, cpu> sums(space, 0), inserted(space, 0);
  for (const insert_report& report :
       {sums.insert_or_apply(space, keys, ones, op::sum{}), inserted.insert(space, keys, ones),
        inserted.insert(space, keys, ones, keep::first)}) {
    EXPECT_EQ(report.refused, nans);
    EXPECT_EQ(report.inserted + report.present, n - nans);
  }
  EXPECT_EQ(sums.size(), 98U);
  EXPECT_EQ(inserted.size(), 98U);
  u64 all = 0;
  sums.for_each(space, [&all](double, u64 items) { std::atomic_ref(all) += items; });
  EXPECT_EQ(all, n - nans);
}

// Few of these values fill a thread's cache, which then grows.
struct large_value {
  u64 items, total, others[62];
};
struct adds_large {
  static constexpr bool is_associative = true;
  large_value operator()(const large_value& a, const large_value& b) const {
    return {a.items + b.items, a.total + b.total, {}};
  }
};
TEST(thread_combine_of, caches_that_grow_and_are_emptied) {
  const u64 n = 40'000, seed = run_seed();
  std::vector<u64> keys(n);
  std::vector<large_value> values(n);
  std::unordered_map<u64, std::array<u64, 2>> model;
  for (u64 i = 0; i < n; ++i) {
    const u64 r = mix64(seed + i);
    keys[i] = i < n / 2 ? r % 300 : 1000 + i / 3;  // a cache of all keys, and then of none
    values[i] = {1, r % 4096, {}};
    auto& its = model[keys[i]];
    ++its[0], its[1] += r % 4096;
  }
  for (const int threads : {1, 2}) {
    SCOPED_TRACE("threads " + std::to_string(threads) + ", TILEHASH_SEED=" + std::to_string(seed));
    cpu space(threads);
    table<indexed<u64, large_value>, cpu> t(space, 0);
    EXPECT_EQ(t.insert_or_apply(space, keys, values, adds_large{}).inserted, model.size());
    u64 wrong = 0;
    for (const auto& [key, its] : model) {
      const auto got = t.find(key);
      wrong += !got || got->items != its[0] || got->total != its[1];
    }
    EXPECT_EQ(wrong, 0U);
  }
}

TEST(thread_combine_of, a_set_has_each_key_once) {
  const u64 n = many(), seed = run_seed();
  cpu space(2);
  std::vector<u64> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = ~(mix64(seed + i) % (n / 8));
  const std::vector<wide_key> none;
  table<tiled<u64, void>, cpu> t(space, 0);
  table<indexed<wide_key, void>, cpu> wide(space, 0);
  std::vector<wide_key> wide_keys;
  for (const u64 key : keys) wide_keys.push_back(make<wide_key>(key));
  std::sort(keys.begin(), keys.end());
  const u64 distinct = static_cast<u64>(std::unique(keys.begin(), keys.end()) - keys.begin());
  EXPECT_EQ(wide.insert(space, wide_keys).inserted, distinct);
  EXPECT_EQ(t.insert(space, keys).inserted, distinct);  // (unique() leaves some of the keys behind the end)
  EXPECT_EQ(wide.insert(space, wide_keys).present, n);
}

// Keys of one fingerprint are distinguished: combining stops, and the table takes another hash function.
TEST(thread_combine_of, keys_with_one_fingerprint) {
  const u64 n = many(), seed = run_seed();
  cpu space(2);
  std::vector<wide_key> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = make<wide_key>(mix64(seed + i) % 500);
  const std::vector<u64> ones(n, 1);
  table<indexed<wide_key, u64, bad_at_first<3>>, cpu> t(space, 0, {.seed = 0});
  const insert_report report = t.insert_or_apply(space, keys, ones, op::sum{});
  EXPECT_EQ(report.inserted, 500U);
  EXPECT_EQ(report.present, n - 500);
  EXPECT_GT(report.restarts, 0U);
  u64 all = 0;
  t.for_each(space, [&all](const wide_key&, u64 items) { std::atomic_ref(all) += items; });
  EXPECT_EQ(all, n);
}

// An op whose result depends on the number of calls meets the stored value first, then each item.
struct counts_calls {
  template <class Value>
  Value operator()(const Value& stored, const Value& /*given*/) const {
    if constexpr (std::is_same_v<Value, wide_value>)
      return {stored.items + 1, stored.total, stored.least, stored.most};
    else
      return static_cast<Value>(stored + 1);
  }
};
TYPED_TEST(thread_combine, an_op_that_is_not_associative_is_called_for_each_item) {
  using value = typename TypeParam::mapped_type;
  const u64 n = many(), seed = run_seed();
  cpu space(2);
  for (const u64 which : {u64(0), u64(4), u64(5)}) {
    const numbers_of& numbers = all_numbers[which];
    SCOPED_TRACE(std::string(numbers.name) + ", TILEHASH_SEED=" + std::to_string(seed));
    const auto keys = this->keys_of(numbers, n, seed);
    const std::vector<value> values(n, make<value>(5));
    auto model = this->model_of(keys, values);
    const auto is_counted = [](const value& got, const std::vector<value>& given) {
      value all = given[0];
      for (u64 i = 1; i < given.size(); ++i) all = counts_calls()(all, given[i]);
      return got == all;
    };
    typename TestFixture::table_type t(space, 0);
    EXPECT_EQ(t.insert_or_apply(space, keys, values, counts_calls()).inserted, model.size());
    this->expect_values(space, t, model, is_counted);
    for (auto& [k, given] : model) given.insert(given.end(), given.begin(), given.end());
    EXPECT_EQ(t.insert_or_apply(space, keys, values, counts_calls()).present, n);
    this->expect_values(space, t, model, is_counted);
  }
}

// Arguments that are no values are lifted while items are combined.
TYPED_TEST(thread_combine, counts_keys) {
  if constexpr (std::is_integral_v<typename TypeParam::mapped_type>) {
    using value = typename TypeParam::mapped_type;
    const u64 n = many(), seed = run_seed();
    cpu space(2);
    const auto keys = this->keys_of(all_numbers[5], n, seed);
    const auto model = this->model_of(keys, std::vector<value>(n, 1));
    typename TestFixture::table_type t(space, 0);
    for (const u64 calls : {u64(1), u64(2)}) {
      SCOPED_TRACE(std::to_string(calls) + " calls, TILEHASH_SEED=" + std::to_string(seed));
      const insert_report report = t.insert_or_apply(space, keys, op::count{});
      EXPECT_EQ(report.inserted, calls == 1 ? model.size() : 0);
      EXPECT_EQ(report.inserted + report.present, n);
      this->expect_values(space, t, model, [calls](const value& got, const std::vector<value>& given) {
        return got == calls * given.size();
      });
    }
  }
}
TEST(thread_combine_of, means_of_numbers) {
  const u64 n = many(), seed = run_seed();
  cpu space(2);
  std::vector<u64> keys(n), numbers(n);
  std::unordered_map<u64, op::mean_of<u64>> model;
  for (u64 i = 0; i < n; ++i) {
    keys[i] = mix64(seed + i) % (n / 8), numbers[i] = i;
    auto& mean = model[keys[i]];
    mean.total += i, ++mean.items;
  }
  table<indexed<u64, op::mean_of<u64>>, cpu> t(space, 0);
  EXPECT_EQ(t.insert_or_apply(space, keys, numbers, op::mean{}).inserted, model.size());
  for (u64 i = 0; i < n; i += 97) EXPECT_EQ(t.find(keys[i]), model[keys[i]]) << "TILEHASH_SEED=" << seed;
}

// Each key's items get its id; a NaN gets none. Some keys of the second call are present.
template <class Key>
void expect_ids(const std::vector<Key>& keys, u64 nans) {
  using ids_of_keys = table<indexed<Key, void>, cpu>;
  cpu space(2);
  ids_of_keys t(space, 0);
  std::unordered_map<Key, u32, by_bytes> id_of;
  for (const u64 part : {keys.size() / 2, keys.size()}) {
    const std::span<const Key> its = std::span(keys).first(part);
    std::vector<u32> ids(part, 7);
    const insert_report report = t.insert_and_find(space, its, ids);
    EXPECT_EQ(report.inserted + report.present + report.refused, part);
    u64 none = 0, wrong = 0;
    for (u64 i = 0; i < part; ++i) {
      if (!detail::is_legal(keys[i])) {
        none += ids[i] == ids_of_keys::no_id;
        continue;
      }
      wrong += ids[i] >= t.size() || id_of.emplace(keys[i], ids[i]).first->second != ids[i];
    }
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(none, report.refused);
    EXPECT_EQ(t.size(), id_of.size());
    std::vector<bool> used(t.size());
    for (const auto& [k, id] : id_of) used[id] = true;
    EXPECT_EQ(std::count(used.begin(), used.end(), true), static_cast<std::ptrdiff_t>(id_of.size()));
    if (part == keys.size()) {
      EXPECT_EQ(none, nans);
    }
  }
}
TEST(thread_combine_of, ids_of_keys_that_repeat) {
  const u64 n = 2 * many(), seed = run_seed();
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  std::vector<wide_key> wide(n);
  std::vector<double> numbers(n);
  u64 nans = 0;
  for (u64 i = 0; i < n; ++i) {
    const u64 r = mix64(seed + i);
    wide[i] = make<wide_key>(r % (i < n / 2 ? n / 16 : n / 8));
    numbers[i] = r % 100 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(r % 1000);
    nans += r % 100 == 0;
  }
  expect_ids(wide, 0);
  expect_ids(numbers, nans);
}
TEST(thread_combine_of, ids_of_keys_with_one_fingerprint) {
  const u64 n = many(), seed = run_seed();
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  cpu space(2);
  std::vector<wide_key> keys(n), again(n);
  for (u64 i = 0; i < n; ++i) keys[i] = make<wide_key>(mix64(seed + i) % 500);
  table<indexed<wide_key, void, bad_at_first<3>>, cpu> t(space, 0, {.seed = 0});
  std::vector<u32> ids(n);
  EXPECT_EQ(t.insert_and_find(space, keys, ids).inserted, 500U);
  t.keys_of(space, ids, again);
  EXPECT_EQ(again, keys);
}

// An op that throws while items are combined leaves a table of records unchanged.
struct throws_once {
  static constexpr bool is_associative = true;
  std::atomic<u64>* left;
  wide_value operator()(const wide_value& a, const wide_value& b) const {
    if (left->fetch_sub(1) == 1) throw out_of_memory("of an op");
    return all_of{}(a, b);
  }
};
TEST(thread_combine_of, an_op_that_throws_leaves_records_unchanged) {
  const u64 n = many();
  cpu space(2);
  std::vector<u64> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = i % 700;
  const std::vector<wide_value> values(n, make<wide_value>(1));
  table<indexed<u64, wide_value>, cpu> t(space, 0);
  for (const u64 call : {u64(1), n / 2, n - 5'000}) {
    std::atomic<u64> left = call;
    EXPECT_THROW(std::ignore = t.insert_or_apply(space, keys, values, throws_once{&left}), out_of_memory);
    EXPECT_EQ(t.size(), 0U);
  }
  EXPECT_EQ(t.insert_or_apply(space, keys, values, all_of{}).inserted, 700U);
}

}  // namespace
}  // namespace tilehash::contract
