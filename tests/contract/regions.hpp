// SPDX-License-Identifier: Apache-2.0
// Tables that are filled region by region, compared with std::unordered_map: builds, merges with present
// items, growth, and items too uneven for regions. At these sizes other tests insert one by one.
// length: one driver; a test for each kind of region and of items.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

template <class Design, class Space>
class region_driver {
  using key = typename Design::key_type;
  using table_type = table<Design, Space>;
  using value = typename table_type::value_element;

 public:
  region_driver(Space& space, u64 items, double load_factor)
      : space_(space), table_(space, items, {.load_factor = load_factor, .seed = run_seed()}) {}

  // Inserts without asking for outcomes, so the table may choose how.
  void insert(std::span<const key> keys) {
    std::vector<value> values(keys.size());
    std::unordered_map<key, std::unordered_set<u64>> offered;
    for (u64 i = 0; i < keys.size(); ++i) {
      values[i] = static_cast<value>(++serial_);
      if (!model_.contains(keys[i])) offered[keys[i]].insert(static_cast<u64>(values[i]));
    }
    buffer<key, Space> k(space_, std::vector<key>(keys.begin(), keys.end()));
    insert_report report;
    if constexpr (table_type::is_set) {
      report = table_.insert(space_, k.span());
    } else {
      buffer<value, Space> v(space_, values);
      report = table_.insert(space_, k.span(), v.span());
    }
    EXPECT_EQ(report.inserted, offered.size());
    EXPECT_EQ(report.present, keys.size() - offered.size());
    EXPECT_EQ(report.refused, 0U);
    model_.merge(offered);
    compare();
  }
  void erase(std::span<const key> keys) {
    u64 gone = 0;
    for (const key& one : keys) gone += model_.erase(one);
    buffer<key, Space> k(space_, std::vector<key>(keys.begin(), keys.end()));
    EXPECT_EQ(table_.erase(space_, k.span()), gone);
    compare();
  }
  void rehash(u64 items) {
    table_.rehash(space_, items);
    compare();
  }
  u64 capacity() const { return table_.capacity(); }

 private:
  // All items are listed once, with a value that one of their key's items had; and lookups find them.
  void compare() {
    ASSERT_EQ(table_.size(), model_.size());
    const u64 n = model_.size();
    // Larger than size(), so that a table with too many items shows it.
    buffer<key, Space> k(space_, table_.capacity() + 1), q(space_, n);
    buffer<value, Space> v(space_, table_.capacity() + 1);
    space_.fill(k.data(), k.size(), key(0));
    space_.fill(v.data(), v.size(), value(0));
    u64 wrong = 0;
    if constexpr (table_type::is_set)
      ASSERT_EQ(table_.retrieve_all(space_, k.span()), n);
    else
      ASSERT_EQ(table_.retrieve_all(space_, k.span(), v.span()), n);
    const auto keys = k.to_host();
    const auto values = v.to_host();
    std::unordered_set<key> seen;
    std::vector<key> known(n);
    for (u64 i = 0; i < n; ++i) {
      known[i] = keys[i];
      const auto at = model_.find(keys[i]);
      wrong += !seen.insert(keys[i]).second || at == model_.end();
      if constexpr (!table_type::is_set) {
        if (at != model_.end()) {
          wrong += !at->second.contains(static_cast<u64>(values[i]));
          at->second = {static_cast<u64>(values[i])};
        }
      }
    }
    EXPECT_EQ(wrong, 0U);
    buffer<key, Space> questions(space_, known);
    buffer<bool, Space> found(space_, n);
    table_.contains(space_, questions.span(), found.span());
    const auto answers = found.to_host();
    EXPECT_EQ(std::ranges::count(answers, 0), 0);
  }

  Space& space_;
  table_type table_;
  std::unordered_map<key, std::unordered_set<u64>> model_;  // the values that a key may have
  u64 serial_ = 0;
};

template <class Key>
std::vector<Key> region_keys(u64 n, u64 different) {
  random_numbers random("regions");
  std::vector<Key> keys(n);
  for (u64 i = 0; i < n; ++i)
    keys[i] = spread_key<Key>(different == 0 ? i ^ run_seed() : random.below(different));
  return keys;
}

template <class Design>
class regions : public ::testing::Test {};
using region_designs =
    std::conditional_t<TILEHASH_FEW_TYPES != 0,
                       all_or_read<::testing::Types<tiled<u32, u32>, tiled<u64, u64>, horton<u32, u32>>,
                                   ::testing::Types<tiled<u32, u32>, horton<u32, u32>>>,
                       ::testing::Types<tiled<u32, u32>, tiled<u32, u16>, tiled<u64, void>, tiled<u64, u64>,
                                        tiled<u32, u64>, horton<u32, u32>, horton<u32, void>,
                                        horton<u32, u16, 4>, robin_hood<u32, u32, 1>, robin_hood<u64, u64>>>;
TYPED_TEST_SUITE_P(regions);

TYPED_TEST_P(regions, a_table_grows_and_merges) {
  using key = typename TypeParam::key_type;
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = scaled(100'000, 45'000);
  region_space space;
  double highest = 0.95;  // at which regions are small enough for a block
  if constexpr (requires { TypeParam::max_region(highest); }) {
    while (TypeParam::max_region(highest) >= 32768) highest -= 0.05;
  }
  std::vector<std::pair<double, u64>> cases = {{0.5, n / 64}};
  if (!small_sizes())
    cases.insert(cases.end(),
                 {{0.5, n / 2}, {0.5, n - n / 5}, {highest, n / 64}, {highest, n / 2}, {highest, n - n / 5}});
  for (const auto& [load, held] : cases) {
    SCOPED_TRACE("load " + std::to_string(load) + ", " + std::to_string(held) + " keys held");
    const auto keys = region_keys<key>(n, held == n / 2 ? n / 2 : 0);
    const std::span<const key> all = keys;
    region_driver<TypeParam, region_space> d(space, n, load);
    d.insert(all.first(held));
    d.erase(all.first(held / 4));  // leaves gaps in the buckets
    d.insert(all.subspan(held));
    d.rehash(n + n / 2);
  }
}

// So few items in a large table that a GPU inserts them in place: new ones, some twice, and present ones. The last table
// is so large, and so empty, that its blocks read the buckets of their items alone.
TYPED_TEST_P(regions, few_items_join_many) {
  using key = typename TypeParam::key_type;
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  struct {
    u64 n, few;
    double load;
  } cases[] = {{scaled(200'000, 45'000), 0, 0.8}, {200'000, 0, 0.9}, {900'000, 50'000, 0.8}};
  region_space space;
  for (auto& [n, few, load] : cases) {
    if (small_sizes() && &n != &cases[0].n) break;
    if (!region_space::has_lanes) n = 45'000, few = 0;
    if (few == 0) few = n / 5;
    SCOPED_TRACE("load " + std::to_string(load) + ", the last " + std::to_string(few));
    auto keys = region_keys<key>(n, 0);
    for (u64 i = 0; i < few / 8; ++i) {
      keys[n - few + 2 * i] = keys[i];
      keys[n - 1 - 3 * i] = keys[n - few + i];
    }
    const std::span<const key> all = keys;
    region_driver<TypeParam, region_space> d(space, n, load);
    d.insert(all.first(n - few));
    d.erase(all.subspan(n / 4, n / 32));  // leaves gaps in the buckets
    d.insert(all.subspan(n - few));
    d.insert(all.subspan(n / 4, few));
  }
}

// So few items that a block builds the table's only region.
TYPED_TEST_P(regions, a_table_of_one_region) {
  using key = typename TypeParam::key_type;
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  region_space space;
  for (const u64 n : {64, 1000, 7000}) {
    for (const u64 different : {u64(0), n / 3}) {
      region_driver<TypeParam, region_space> d(space, n, 0.85);
      d.insert(region_keys<key>(n, different));
      d.insert(region_keys<key>(n, n / 2 + 1));
    }
  }
}

TYPED_TEST_P(regions, a_small_table_grows_by_regions) {
  using key = typename TypeParam::key_type;
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = scaled(100'000, 60'000);
  region_space space;
  const auto keys = region_keys<key>(n, 0);
  const std::span<const key> all = keys;
  region_driver<TypeParam, region_space> d(space, 100, 0.8);
  for (u64 done = 0; done < n; done += n / 6) d.insert(all.subspan(done, std::min(n / 6, n - done)));
  EXPECT_GE(d.capacity(), n);
}

// All keys are equal, or few are different: more than a region's bin can hold.
TYPED_TEST_P(regions, uneven_items_are_inserted_too) {
  using key = typename TypeParam::key_type;
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = scaled(100'000, 60'000);
  region_space space;
  for (const u64 different : {1, 100}) {
    for (const u64 held : {u64(0), n / 4}) {
      region_driver<TypeParam, region_space> d(space, n, 0.8);
      if (held != 0) d.insert(region_keys<key>(held, 0));
      d.insert(region_keys<key>(n - held, different));
    }
  }
}

// Many keys at once, some twice and some absent; too many of one region for its bin; and too many of one key
// for the list of such keys.
TYPED_TEST_P(regions, many_keys_are_erased) {
  if constexpr (requires { requires TypeParam::is_region_erased; }) {
    using key = typename TypeParam::key_type;
    using table_type = table<TypeParam, region_space>;
    using value = typename table_type::value_element;
    SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
    region_space space;
    u64 n = scaled(100'000, 70'000);
    if constexpr (region_space::has_lanes)  // two regions for each block, and a tenth more
      n = 19 * space.large_blocks_at_once() * TypeParam::max_region(0.85) * TypeParam::bucket_slots / 10;
    std::vector<key> keys(n + n / 8);
    std::vector<value> values(n);
    for (u64 i = 0; i < keys.size(); ++i) keys[i] = mix32(static_cast<u32>(i ^ run_seed()));  // all different
    for (u64 i = 0; i < n; ++i) values[i] = static_cast<value>(~keys[i]);
    const buffer<key, region_space> all(space, keys);
    const buffer<value, region_space> with(space, values);
    table_type t(space, n, {.load_factor = 0.85, .seed = run_seed()});
    const auto put = [&] {
      if constexpr (table_type::is_set)
        return t.insert(space, all.first(n)).inserted;
      else
        return t.insert(space, all.first(n), with.span()).inserted;
    };
    ASSERT_EQ(put(), n);
    std::vector<u8> there(keys.size(), 1);
    std::fill(there.begin() + static_cast<std::ptrdiff_t>(n), there.end(), 0);

    const auto erase = [&](const std::vector<u64>& numbers) {
      std::vector<key> gone;
      u64 expected = 0;
      for (const u64 i : numbers) gone.push_back(keys[i]), expected += std::exchange(there[i], 0);
      const buffer<key, region_space> asked(space, gone);
      ASSERT_TRUE((detail::region_erase<TypeParam, region_space>::pays(space, t.view().design, gone.size())));
      EXPECT_EQ(t.erase(space, asked.span()), expected);
      EXPECT_EQ(t.size(), static_cast<u64>(std::ranges::count(there, 1)));
      const buffer<bool, region_space> found(space, keys.size());
      t.contains(space, all.span(), found.span());
      EXPECT_EQ(found.to_host(), there);
      if constexpr (!table_type::is_set) {
        const buffer<value, region_space> out(space, n);
        t.find(space, all.first(n), out.span());
        const auto got = out.to_host();
        u64 wrong = 0;
        for (u64 i = 0; i < n; ++i) wrong += there[i] != 0 && got[i] != values[i];
        EXPECT_EQ(wrong, 0U);
      }
    };
    std::vector<u64> numbers(n / 2 + n / 8);
    std::iota(numbers.begin(), numbers.end(), n / 2);
    numbers.insert(numbers.end(), numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n / 8));
    ASSERT_NO_FATAL_FAILURE(erase(numbers));
    numbers.resize(n / 2);
    std::iota(numbers.begin(), numbers.end(), u64(0));
    numbers.insert(numbers.end(), std::min<u64>(n / 50, 20'000), 0);
    ASSERT_NO_FATAL_FAILURE(erase(numbers));
    EXPECT_TRUE(t.empty());
    ASSERT_EQ(put(), n);
    there.assign(keys.size(), 0);
    std::fill_n(there.begin(), n, 1);
    numbers.assign(n, 1);
    numbers.push_back(2);
    ASSERT_NO_FATAL_FAILURE(erase(numbers));
    // More keys of a region than its bin takes, and of regions than the list of such keys takes.
    const detail::erase_route<TypeParam> route{t.view().design};
    const u64 called = n / 2, bin = detail::bin_capacity(called, route.regions());
    for (const u64 wanted : {u64(1'000), called / 32 + 2'000}) {
      SCOPED_TRACE(std::to_string(wanted) + " keys without a bin, " + std::to_string(route.regions()) +
                   " regions");
      std::ignore = put();
      std::fill_n(there.begin(), n, 1);
      std::vector<std::vector<u64>> of_region(route.regions());
      for (u64 i = 0; i < n; ++i)
        of_region[route.region_of(route.hash(TypeParam::slot_type::encode(keys[i])))].push_back(i);
      numbers.clear();
      u64 crowded = 0;
      for (u64 spilled = 0; spilled < wanted; ++crowded) {
        auto& of_this = of_region.at(crowded);
        ASSERT_GT(of_this.size(), bin);
        if (of_this.size() - bin > wanted - spilled) of_this.resize(bin + wanted - spilled);
        spilled += of_this.size() - bin;
        numbers.insert(numbers.end(), of_this.begin(), of_this.end());
      }
      ASSERT_LT(numbers.size(), called);
      for (u64 at = 0; numbers.size() < called; ++at) {
        for (u64 r = crowded; r < of_region.size() && numbers.size() < called; ++r)
          if (at < of_region[r].size()) numbers.push_back(of_region[r][at]);
      }
      ASSERT_NO_FATAL_FAILURE(erase(numbers));
    }
  } else {
    GTEST_SKIP() << "these are not erased by regions";
  }
}

// Keys that a build with words of 16 bytes cannot distinguish by the bits that it keeps in a block's memory.
TYPED_TEST_P(regions, keys_that_look_alike_are_different) {
  if constexpr (sizeof(typename TypeParam::key_type) == 8 && sizeof(typename TypeParam::word) == 16) {
    const u64 n = scaled(100'000, 60'000);
    region_space space;
    const table<TypeParam, region_space> model(space, n, {.load_factor = 0.8, .seed = run_seed()});
    const auto design = model.view().design;
    std::vector<u64> keys;
    for (u64 i = 0; i < n / 2; ++i) {
      const u64 hash =
          mix64(i ^ run_seed());  // the bucket is in the top bits, the kept bits are the low ones
      keys.push_back(design.unhash(hash));
      keys.push_back(design.unhash(hash ^ u64(1) << 20));
    }
    region_driver<TypeParam, region_space> d(space, n, 0.8);
    d.insert(keys);
  } else {
    GTEST_SKIP() << "these keys are kept whole";
  }
}

// ---- keys that are not legal ----
// NaNs of both signs and many payloads, and zeros of both signs, among so many items that the table takes
// regions or combines them first. They are refused and counted, as in small calls, which insert one by one.
template <class Design>
class regions_of_floats : public ::testing::Test {
 protected:
  using key = typename Design::key_type;
  using value = typename Design::mapped_type;
  using table_type = table<Design, region_space>;
  using bits = std::conditional_t<sizeof(key) == 4, u32, u64>;

  static key legal_key(u64 number, bool other_zero) {
    const key k = static_cast<key>(number / 2) * key(0.5);
    return number == 0 && other_zero ? -k : number % 2 == 0 ? k : -k - key(0.25);
  }
  static key nan(u64 x) {
    const bits infinity = std::bit_cast<bits>(std::numeric_limits<key>::infinity());
    const bits payload =
        static_cast<bits>(mix64(x)) & ((bits(1) << (std::numeric_limits<key>::digits - 1)) - 1);
    const bits sign = static_cast<bits>(x % 2) << (8 * sizeof(bits) - 1);
    return std::bit_cast<key>(infinity | sign | (payload == 0 ? bits(1) : payload));
  }

  // verb(table, keys, values) gets n items of `different` keys, with their key's number for a value; every
  // fifth is a NaN. The table has capacity for `room` items, and holds the first `held` keys.
  template <class Verb>
  void ask(const char* name, u64 capacity, u64 held, u64 different, const Verb& verb) {
    SCOPED_TRACE(std::string(name) + ", " + std::to_string(different) + " keys, of which it holds " +
                 std::to_string(held));
    random_numbers random("regions_of_floats");
    const u64 n = scaled(100'000, 60'000);
    std::vector<key> keys(n), held_keys(held);
    std::vector<value> values(n), held_values(held), expected(n);
    std::unordered_set<u64> present;
    u64 fresh = 0, illegal = 0;
    for (u64 j = 0; j < held; ++j) {
      held_keys[j] = legal_key(j, true);
      held_values[j] = static_cast<value>(j + 1);
      present.insert(j);
    }
    for (u64 i = 0; i < n; ++i) {
      const u64 number = i < different ? i : random.below(different);
      const bool is_nan = i % 5 == 4;
      keys[i] = is_nan ? nan(random()) : legal_key(number, random.one_in(2));
      values[i] = static_cast<value>(number + 1);
      expected[i] = is_nan ? value(0) : values[i];
      illegal += is_nan;
      fresh += !is_nan && present.insert(number).second;
    }
    const buffer<key, region_space> k(space, keys), held_k(space, held_keys);
    const buffer<value, region_space> v(space, values), held_v(space, held_values), out(space, n);
    const buffer<bool, region_space> found(space, n);
    for (const u64 window : {n, u64(1000)}) {
      if (!is_asked(window == n ? 0 : 1, 2)) continue;
      SCOPED_TRACE("in windows of " + std::to_string(window));
      table_type t(space, capacity, {.seed = run_seed()});
      ASSERT_EQ(t.insert(space, held_k.span(), held_v.span()).inserted, held);
      insert_report report;
      for (u64 i = 0; i < n; i += window) {
        const u64 its = std::min(window, n - i);
        const insert_report one = verb(t, k.span().subspan(i, its), v.span().subspan(i, its));
        report.inserted += one.inserted;
        report.present += one.present;
        report.refused += one.refused;
      }
      EXPECT_EQ(report,
                (insert_report{.inserted = fresh, .present = n - fresh - illegal, .refused = illegal}));
      ASSERT_EQ(t.size(), present.size());
      t.find_or(space, k.span(), out.span(), value(0));
      EXPECT_TRUE(out.to_host() == expected);
      t.contains(space, k.span(), found.span());
      EXPECT_EQ(static_cast<u64>(std::ranges::count(found.to_host(), u8(0))), illegal);
      const buffer<key, region_space> all(space, t.size());
      const buffer<value, region_space> its(space, t.size());
      ASSERT_EQ(t.retrieve_all(space, all.span(), its.span()), present.size());
      const auto stored = all.to_host();
      EXPECT_EQ(std::ranges::count_if(stored, [](key x) { return x != x; }), 0);
      // All present keys except those that were held and not given again.
      u64 gone = 0, stays = held;
      for (u64 i = 0; i < n; i += window)
        gone += t.erase(space, k.span().subspan(i, std::min(window, n - i)));
      auto came = present;
      for (u64 i = 0; i < n; ++i)
        if (i % 5 != 4) stays -= u64(came.erase(u64(values[i]) - 1) != 0 && u64(values[i]) <= held);
      EXPECT_EQ(t.size(), stays);
      EXPECT_EQ(gone, present.size() - stays);
    }
  }

  region_space space;
};
using float_designs = std::conditional_t<
    TILEHASH_FEW_TYPES != 0,
    all_or_read<::testing::Types<tiled<float, u32>, horton<float, u32>, dynamic_cuckoo<float, u32>>,
                ::testing::Types<tiled<float, u32>, dynamic_cuckoo<float, u32>>>,
    ::testing::Types<tiled<float, u32>, tiled<double, u64>, horton<float, u32>, dynamic_cuckoo<float, u32>,
                     robin_hood<float, u32, 1>>>;
TYPED_TEST_SUITE(regions_of_floats, float_designs);

TYPED_TEST(regions_of_floats, refuse_nan) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  auto& space = this->space;
  const u64 many = scaled(60'000, 40'000), few = 2'000;
  const auto insert = [&](auto& t, auto k, auto v) { return t.insert(space, k, v); };
  if (is_asked(0, 2)) this->ask("insert", many, 0, many, insert);  // by regions, at once
  if (is_asked(1, 2)) this->ask("insert and grow", 0, 0, many, insert);
  if (is_asked(0, 2)) this->ask("insert into others", many, many / 2, many, insert);
  if (is_asked(1, 2)) this->ask("insert few", few, 0, few, insert);  // too uneven for bins
  this->ask("assign", many, 0, many,
            [&](auto& t, auto k, auto v) { return t.insert_or_assign(space, k, v); });
  for (const u64 different : {many, few}) {  // few are combined first
    this->ask("maximum", different, different / 3, different,
              [&](auto& t, auto k, auto v) { return t.insert_or_apply(space, k, v, op::maximum{}); });
    this->ask("first", different, 0, different, [&](auto& t, auto k, auto v) {
      if constexpr (requires { t.insert(space, k, v, keep::first); })
        return t.insert(space, k, v, keep::first);
      else
        return t.insert(space, k, v);
    });
  }
}
// Builds replace the table's contents.
TYPED_TEST(regions_of_floats, are_built_without_nan) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  auto& space = this->space;
  using table_type = typename TestFixture::table_type;
  const auto build = [&](table_type& t, auto k, auto v) {
    if (k.size() <= 1000) return t.insert(space, k, v);
    return t.build(space, k, v);
  };
  const auto build_first = [&](table_type& t, auto k, auto v) {
    if constexpr (requires { t.build(space, k, v, keep::first); })
      if (k.size() > 1000) return t.build(space, k, v, keep::first);
    return build(t, k, v);
  };
  for (const u64 different : {scaled(60'000, 40'000), u64(2'000)}) {
    this->ask("build", different, 0, different, build);
    this->ask("build, first", different, 0, different, build_first);
  }
}

// Records its peak memory.
struct metered_space : region_space {
  void* allocate(u64 bytes) {
    void* p = region_space::allocate(bytes);
    most = std::max(most, in_use += bytes);
    return p;
  }
  void deallocate(void* p, u64 bytes) noexcept {
    in_use -= bytes;
    region_space::deallocate(p, bytes);
  }
  u64 in_use = 0, most = 0;
};

TYPED_TEST_P(regions, a_build_takes_little_memory_beside_the_table) {
  using key = typename TypeParam::key_type;
  const double most =
      requires(const TypeParam d) { d.bulk_build(); } ? 2 : 0.3;  // robin_hood: bins, and counts
  using table_type = table<TypeParam, metered_space>;
  const u64 n = scaled(200'000, 60'000);
  metered_space space;
  const buffer<key, metered_space> keys(space, region_keys<key>(n, 0));
  const buffer<typename table_type::value_element, metered_space> values(space, table_type::is_set ? 0 : n);
  space.fill(values.data(), values.size(), typename table_type::value_element(1));
  table_type t(space, n, {.load_factor = 0.9, .seed = run_seed()});
  const u64 before = space.most = space.in_use;
  insert_report report;
  if constexpr (table_type::is_set)
    report = t.insert(space, keys.span());
  else
    report = t.insert(space, keys.span(), values.span());
  EXPECT_EQ(report.inserted + report.present, n);
  EXPECT_LT(static_cast<double>(space.most - before),
            most * static_cast<double>(keys.bytes() + values.bytes()));
}

REGISTER_TYPED_TEST_SUITE_P(regions, a_table_grows_and_merges, few_items_join_many, a_table_of_one_region,
                            a_small_table_grows_by_regions, uneven_items_are_inserted_too,
                            many_keys_are_erased, keys_that_look_alike_are_different,
                            a_build_takes_little_memory_beside_the_table);

}  // namespace tilehash::contract
