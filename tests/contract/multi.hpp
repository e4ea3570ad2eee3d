// SPDX-License-Identifier: Apache-2.0
// The verbs of a multimap beyond the contract of all tables: three builds, compared with
// std::unordered_multimap; all values of many keys, skewed and not; the view's arrays; memory that runs out.
// length: one fixture; the builds, the retrievals and what goes wrong, of one table.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <contract/keys.hpp>
#include <contract/model.hpp>
#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/multimap.hpp>
#include <tilehash/papers/cuckoo.hpp>
#include <tilehash/papers/two_level_cuckoo.hpp>

namespace tilehash::contract {

using wide = std::array<u64, 3>;
using quintet = std::array<u32, 5>;

// Sums the values of a key from its array, as a user's kernel would.
template <class View>
struct sum_values {
  View view;
  const typename View::key_type* keys;
  u64* sums;
  TILEHASH_FN void operator()(u64 i) const {
    u64 sum = 0;
    for (const auto& value : view.values_of(keys[i])) sum += value;
    sums[i] = sum;
  }
};

template <class Design>
class multimaps : public ::testing::Test {
 public:
  using design = Design;
  using key = typename Design::key_type;
  using value = typename Design::mapped_type;
  using space_type = decltype(multi_ground::space);
  using table_type = table<Design, space_type>;
  using keys = std::vector<key>;
  using values = std::vector<value>;
  using model = std::unordered_map<key, values, bytes_hash, bytes_equal>;

  template <class T>
  buffer<T, space_type> there(const std::vector<T>& host) {
    return buffer<T, space_type>(space, std::span<const T>(host));
  }
  static std::vector<grouping> all_ways() {
    if (Design::can_sort) return {grouping::by_regions, grouping::by_sort, grouping::by_count};
    return {grouping::by_count};
  }

  // Adds the items to the model and returns how many are legal.
  static u64 add(model& to, const keys& k, const values& v) {
    u64 legal = 0;
    for (u64 i = 0; i < k.size(); ++i) {
      if (is_nan(k[i])) continue;
      to[one_representation(k[i])].push_back(v[i]);
      ++legal;
    }
    return legal;
  }
  static bool same_values(values a, values b) {
    const auto less = [](const value& x, const value& y) { return std::memcmp(&x, &y, sizeof x) < 0; };
    std::ranges::sort(a, less);
    std::ranges::sort(b, less);
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(value)) == 0);
  }

  // Checks all verbs, with each key of the model twice and some absent keys between.
  void verify(const table_type& t, const model& expected, const keys& strangers) {
    u64 items = 0;
    keys asked;
    for (const auto& [k, stored] : expected) {
      items += stored.size();
      asked.push_back(k);
      asked.push_back(k);
      if (!strangers.empty()) asked.push_back(strangers[items % strangers.size()]);
    }
    ASSERT_EQ(t.size(), items);
    ASSERT_EQ(t.key_count(), expected.size());
    const auto q = there(asked);
    const auto got = t.retrieve(space, q.span());
    const auto offsets = got.offsets.to_host();
    const auto all = got.values.to_host();
    ASSERT_EQ(offsets.size(), asked.size() + 1);
    ASSERT_EQ(offsets.front(), 0U);
    ASSERT_EQ(offsets.back(), all.size());
    const buffer<u32, space_type> counts(space, asked.size());
    t.count(space, q.span(), counts.span());
    const auto counted = counts.to_host();
    for (u64 i = 0; i < asked.size(); ++i) {
      const auto it = expected.find(one_representation(asked[i]));
      const values its = it == expected.end() ? values{} : it->second;
      ASSERT_EQ(offsets[i + 1] - offsets[i], its.size());
      ASSERT_EQ(counted[i], its.size());
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(offsets[i]);
      ASSERT_TRUE(same_values({at, at + static_cast<std::ptrdiff_t>(its.size())}, its));
    }
    const buffer<key, space_type> every(space, t.key_count());
    ASSERT_EQ(t.retrieve_keys(space, every.span()), expected.size());
    std::unordered_map<key, int, bytes_hash, bytes_equal> seen;
    for (const key& k : every.to_host()) ASSERT_TRUE(++seen[k] == 1 && expected.contains(k));
    const buffer<key, space_type> k(space, t.size());
    const buffer<value, space_type> v(space, t.size());
    ASSERT_EQ(t.retrieve_all(space, k.span(), v.span()), items);
    model back;
    add(back, k.to_host(), v.to_host());
    ASSERT_EQ(back.size(), expected.size());
    for (const auto& [one, its] : back) ASSERT_TRUE(same_values(its, expected.at(one)));
  }
  // The table of ids may have been rebuilt, or some of its regions.
  static void expect_report(const insert_report& report, u64 legal, u64 n) {
    ASSERT_EQ(report.inserted, legal);
    ASSERT_EQ(report.present, 0U);
    ASSERT_EQ(report.refused, n - legal);
  }
  void check(const keys& k, random_numbers& random, const std::vector<grouping>& ways = all_ways()) {
    const auto v = any_values<value>(random, k.size());
    const auto kb = there(k);
    const auto vb = there(v);
    for (const grouping how : ways) {
      SCOPED_TRACE(how == grouping::by_sort    ? "by sort"
                   : how == grouping::by_count ? "by counting"
                                               : "by regions");
      table_type t(space);
      model expected;
      const u64 legal = add(expected, k, v);
      expect_report(t.build(space, kb.span(), vb.span(), how), legal, k.size());
      verify(t, expected, keys_by<key>(50, [&](u64) { return random(); }));
      ASSERT_EQ(t.bytes() + kb.bytes() + vb.bytes(), ground.memory.allocated());
    }
  }

  multi_ground ground;
  space_type& space = ground.space;
};

#if TILEHASH_FEW_TYPES > 1 || TILEHASH_ONLY_READ
using multi_types = ::testing::Types<multi<u32, u32>>;
#elif defined(__CUDACC__) || TILEHASH_FEW_TYPES
using multi_types =
    ::testing::Types<multi<u32, u32>, multi<u64, u16, papers::cuckoo<u64, u32>>, multi<wide, quintet>>;
#else
using multi_types = ::testing::Types<
    multi<u32, u32>, multi<std::int64_t, quintet, tiled<std::int64_t, u32>, u64>,
    multi<float, u16, papers::two_level_cuckoo<float, u32>>, multi<u32, u64, papers::cuckoo<u32, u32>>,
    multi<std::array<u8, 6>, u32, double_hashing<std::array<u8, 6>, u32>>, multi<wide, quintet>>;
#endif
TYPED_TEST_SUITE(multimaps, multi_types);

TYPED_TEST(multimaps, all_builds_answer_like_the_model) {
  random_numbers random("multimaps");
  for (const auto& [title, k] : families<typename TypeParam::key_type>(random, scaled(3'000, 700))) {
    SCOPED_TRACE(title);
    this->check(k, random);
  }
}

TYPED_TEST(multimaps, sizes) {
  using key_type = typename TypeParam::key_type;
  random_numbers random("sizes");
  for (const u64 n : {0, 1, 2, 3, 31, 33, 255, 257, 4095, 4097, 8193}) {
    SCOPED_TRACE(n);
    if (n > scaled(n, 300)) break;
    for (const u64 distinct : {u64(1), n / 3 + 1, 16 * n + 1})
      this->check(keys_by<key_type>(n, [&](u64) { return mix64(random.below(distinct)); }), random);
  }
}

// One key has half of all items, some thousand keys have a few, most have one.
TYPED_TEST(multimaps, skew) {
  using key_type = typename TypeParam::key_type;
  random_numbers random("skew");
  const u64 n = scaled(60'000, 2'000);
  this->check(
      keys_by<key_type>(
          n, [&](u64 i) { return i % 2 == 0 ? 7 : mix64(random.below(i % 3 == 0 ? n : 1 + n / 50)); }),
      random);
}

// By regions: keys that occur once, a few times, or so often that the sort takes over.
template <class Fixture>
void check_regions(Fixture& test, random_numbers& random) {
  using key_type = typename Fixture::key;
  using offset = typename Fixture::design::offset;
  constexpr u64 n = 40'000;  // not many more than the fewest that are built by regions
  const auto ways = small_sizes() ? std::vector<grouping>{grouping::by_regions} : Fixture::all_ways();
  const auto check = [&](const auto& keys, bool goes) {
    test.check(keys, random, ways);
    const auto k = test.there(keys);
    const auto v = test.there(any_values<typename Fixture::value>(random, n));
    const auto grouped = detail::group_by_regions<offset>(test.space, k.data(), v.data(), n, 0.8, known_seed);
    ASSERT_EQ(grouped.has_value(), goes);
  };
  for (const u64 copies : {1, 2, 7}) {
    SCOPED_TRACE(copies);
    if (is_asked(copies, 2)) check(keys_by<key_type>(n, [&](u64 i) { return mix64(i / copies); }), true);
  }
  check(keys_by<key_type>(n, [&](u64 i) { return mix64(i / 30'000); }), false);
  // One key is frequent, in a bin that holds it; nearly all keys differ, so the table of ids has these
  // regions.
  check(keys_by<key_type>(n, [&](u64 i) { return mix64(i % 80 == 0 ? 0 : i); }), true);
  check(keys_by<key_type>(n, [&](u64 i) { return mix64(i - (i % 50 == 0)); }), true);
  if constexpr (std::integral<key_type> && sizeof(key_type) >= 4) {  // a bin that is full, and one item more
    using slot = remainder_slot<key_type, typename Fixture::value>;
    using bits = typename slot::key_bits;
    const auto [route, region_capacity] = [&] {
      const auto k = test.there(keys_by<key_type>(n, [](u64 i) { return mix64(i); }));
      const auto v = test.there(any_values<typename Fixture::value>(random, n));
      const auto even = detail::group_by_regions<offset>(test.space, k.data(), v.data(), n, 0.8, known_seed);
      return std::pair(even.value().route, u64(even.value().region_capacity));
    }();
    const bits end = static_cast<bits>(~bits(0) / route.regions());
    const bits next = static_cast<bits>(end + end / 64), rest = static_cast<bits>(~bits(0) - next);
    for (u64 of_first = region_capacity - 1; of_first <= region_capacity + 1; ++of_first) {
      std::vector<key_type> keys;
      for (u64 i = 0; i < n; ++i)
        keys.push_back(slot::decode(route.unhash(static_cast<bits>(
            i < of_first ? end / of_first * i : next + rest / (n - of_first) * (i - of_first)))));
      check(keys, of_first <= region_capacity);
    }
  }
  if constexpr (std::floating_point<key_type>) {
    auto keys = keys_by<key_type>(n, [&](u64 i) { return mix64(i / 2); });
    for (u64 i = 0; i < n; i += 50) keys[i] = std::numeric_limits<key_type>::quiet_NaN();
    check(keys, true);
    std::ranges::fill(keys, std::numeric_limits<key_type>::quiet_NaN());
    check(keys, true);
  }
}
TYPED_TEST(multimaps, by_regions) {
  if constexpr (TypeParam::can_group) {
    random_numbers random("regions");
    check_regions(*this, random);
  } else {
    GTEST_SKIP() << "these are not built so";
  }
}
#if !TILEHASH_FEW_TYPES
using multimap_of_long_words = multimaps<multi<u64, u32>>;
TEST_F(multimap_of_long_words, by_regions) {
  random_numbers random("regions");
  check_regions(*this, random);
}
// Adversarial keys, which all take the same way through a block's set, end in a sort.
TEST_F(multimap_of_long_words, that_all_meet_are_sorted) {
  random_numbers random("made to meet");
  const u64 n = 40'000;
  constexpr double load = 0.5;  // so that a region has capacity for them, too
  const tiled<u64, u32> hashes(nullptr, tiled<u64, u32>::capacity_for(n, load), known_seed, load);
  constexpr u32 inverse = 0xe8b2f51;  // inverse of the multiplier that makes a hash its stride
  static_assert(inverse * 0x9e3779b1U == 1);
  const auto k = keys_by<u64>(n, [&](u64 i) {
    return i < 400 ? hashes.unhash(u64(0x12345678) << 32 | inverse * (0x7fff0000U | static_cast<u32>(i)))
                   : random();
  });
  std::vector<u64> bin(hashes.regions());
  for (const u64 one : k) ++bin[hashes.region_of(hashes.hash(one))];
  ASSERT_LE(*std::ranges::max_element(bin), hashes.region_slots());
  check(k, random);
  const auto kb = there(k);
  const auto zeros = there(std::vector<u32>(n));
  table_type t(space, 0, {.load_factor = load, .seed = known_seed});
  EXPECT_EQ(t.build(space, kb.span(), zeros.span(), grouping::by_regions).inserted, n);
  const buffer<u64, space_type> every(space, t.key_count());
  t.retrieve_keys(space, every.span());
  EXPECT_TRUE(std::ranges::is_sorted(every.to_host()));
}
#endif

TYPED_TEST(multimaps, an_insert_keeps_what_was_there) {
  using key_type = typename TypeParam::key_type;
  random_numbers random("insert");
  for (const grouping how : this->all_ways()) {
    typename TestFixture::table_type t(this->space);
    typename TestFixture::model expected;
    for (const u64 n : {500, 1, 0, 300}) {
      const auto k = keys_by<key_type>(n, [&](u64) { return random.below(200); });
      const auto v = any_values<typename TypeParam::mapped_type>(random, n);
      const auto kb = this->there(k);
      const auto vb = this->there(v);
      const u64 legal = this->add(expected, k, v);
      this->expect_report(t.insert(this->space, kb.span(), vb.span(), how), legal, n);
      this->verify(t, expected, {});
    }
    t.clear(this->space);
    this->verify(t, {}, {});
  }
}

// Inserts, or builds, with memory for more and more allocations, until it succeeds.
template <class Fixture>
void run_out_of_memory(Fixture& test, random_numbers& random, u64 items, u64 different, grouping how,
                       bool inserts) {
  using key_type = typename Fixture::key;
  using value_type = typename Fixture::value;
  auto& space = test.space;
  auto& memory = test.ground.memory;
  const auto old = keys_by<key_type>(100, [&](u64) { return random.below(20); });
  const auto more = keys_by<key_type>(items, [&](u64) { return random.below(different); });
  const auto old_values = any_values<value_type>(random, old.size()),
             more_values = any_values<value_type>(random, more.size());
  const auto ok = test.there(old), mk = test.there(more);
  const auto ov = test.there(old_values), mv = test.there(more_values);
  typename Fixture::table_type t(space);
  typename Fixture::model before, after;
  test.add(before, old, old_values);
  EXPECT_EQ(t.build(space, ok.span(), ov.span(), how).refused, 0U);
  if (inserts) after = before;
  test.add(after, more, more_values);
  bool done = false;
  for (u64 allocations = 0; !done; ++allocations) {
    ASSERT_LT(allocations, 100U);
    memory.refuse_after(allocations);
    try {
      const auto report = memory.guarded([&] {
        return inserts ? t.insert(space, mk.span(), mv.span(), how)
                       : t.build(space, mk.span(), mv.span(), how);
      });
      ASSERT_EQ(report.refused, 0U);
      done = true;
    } catch (const out_of_memory&) {
    }
    memory.refuse_after(faulty::never);
    ASSERT_EQ(memory.allocated(), t.bytes() + ok.bytes() + mk.bytes() + ov.bytes() + mv.bytes());
    test.verify(t, done ? after : before, keys_by<key_type>(400, [&](u64) { return random.below(items); }));
  }
}
TYPED_TEST(multimaps, memory_that_runs_out_changes_nothing) {
  random_numbers random("memory");
  for (const grouping how : this->all_ways()) {
    for (const bool inserts : {false, true}) run_out_of_memory(*this, random, 400, 300, how, inserts);
  }
}

// A retrieval where memory ends. Into new arrays: strong. Into the caller's: basic, as the offsets may be written
// already; the table, the keys and what is beyond the arrays are as they were.
TYPED_TEST(multimaps, memory_that_runs_out_ends_a_retrieval) {
  using run_space = typename TestFixture::space_type;
  using key = typename TestFixture::key;
  using value = typename TestFixture::value;
  random_numbers random("retrievals without memory");
  auto& space = this->space;
  auto& memory = this->ground.memory;
  const auto keys = keys_by<key>(300, [&](u64) { return random.below(100); });
  const auto asked = keys_by<key>(150, [&](u64) { return random.below(200); });
  const auto values = any_values<value>(random, keys.size());
  const auto k = this->there(keys), a = this->there(asked);
  const auto v = this->there(values);
  typename TestFixture::table_type t(space);
  typename TestFixture::model model;
  this->add(model, keys, values);
  ASSERT_EQ(t.build(space, k.span(), v.span()).refused, 0U);
  const auto right = t.retrieve(space, a.span());
  const auto offsets = right.offsets.to_host();
  const u64 n = offsets.back(), before = memory.allocated();
  for (const bool own : {false, true}) {
    const buffer<u64, run_space> to(space, own ? asked.size() + 1 : 0);
    const buffer<value, run_space> into(space, own ? n + 1 : 0);
    const value guard = any_values<value>(random, 1)[0];
    if (own) space.copy_from_host(into.data() + n, &guard, sizeof guard);
    const u64 held = memory.allocated();
    u64 threw = 0;
    for (bool met = true; met;) {
      SCOPED_TRACE(std::to_string(threw) + " allocations" + (own ? ", into arrays" : ""));
      ASSERT_LT(threw, 50U);
      memory.refuse_after(threw);
      bool failed = false;
      try {
        memory.guarded([&] {
          if (own) {
            EXPECT_EQ(t.retrieve(space, a.span(), to.span(), into.first(n)), n);
            EXPECT_EQ(to.to_host(), offsets);
          } else {
            const auto got = t.retrieve(space, a.span());
            EXPECT_EQ(got.offsets.to_host(), offsets);
            EXPECT_EQ(got.values.size(), n);
          }
        });
      } catch (const out_of_memory&) {
        failed = true;
      }
      memory.refuse_after(faulty::never);
      met = memory.refused();
      EXPECT_EQ(failed, met) << "it has no way that needs less";
      EXPECT_EQ(memory.allocated(), held) << "memory is kept, or given back twice";
      threw += met;
      if (failed) {
        const auto same = a.to_host();
        EXPECT_EQ(std::memcmp(same.data(), asked.data(), asked.size() * sizeof(key)), 0);
        this->verify(t, model, keys_by<key>(40, [&](u64) { return random.below(400); }));
      }
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(threw, 0U);
    if (own) {
      const auto last = into.to_host().back();
      EXPECT_EQ(std::memcmp(&last, &guard, sizeof guard), 0) << "beyond the array";
    }
  }
  EXPECT_EQ(memory.allocated(), before);
}

using multimap_verbs = multimaps<multi<u32, u32>>;

TEST_F(multimap_verbs, memory_that_runs_out_by_regions) {
  random_numbers random("memory");
  for (const u64 different : {30'000, 1 << 30}) {
    run_out_of_memory(*this, random, 40'000, different, grouping::by_regions, false);
    run_out_of_memory(*this, random, 40'000, different, grouping::automatic, false);
  }
}

TEST_F(multimap_verbs, values_are_an_array_for_kernels) {
  const u64 n = scaled(20'000, 1'000);
  std::vector<u32> k(n), v(n);
  std::vector<u64> expected(100);
  for (u64 i = 0; i < n; ++i) {
    k[i] = static_cast<u32>(mix64(i) % 97);
    v[i] = static_cast<u32>(i);
    expected[k[i]] += i;
  }
  const auto kb = there(k), vb = there(v);
  table_type t(space);
  EXPECT_EQ(t.build(space, kb.span(), vb.span()).inserted, n);
  std::vector<u32> all(100);
  for (u32 i = 0; i < 100; ++i) all[i] = i;
  const auto q = there(all);
  const buffer<u64, space_type> sums(space, 100);
  space.for_each(100, sum_values<table_type::view_type>{t.view(), q.data(), sums.data()});
  space.synchronize();
  EXPECT_EQ(sums.to_host(), expected);
}

// A sort leaves the keys in order.
TEST_F(multimap_verbs, the_build_is_chosen_by_how_often_keys_come) {
  const u64 n = u64(1) << 17;
  const auto sorted_by = [&](u64 copies, grouping how) {
    std::vector<u32> k(n);
    for (u64 i = 0; i < n; ++i)
      k[i] = static_cast<u32>(mix64(copies % 2 == 0 ? i / copies : i % (n / copies)));
    const auto kb = there(k);
    table_type t(space);
    EXPECT_EQ(t.build(space, kb.span(), kb.span(), how).inserted, n);
    const buffer<u32, space_type> every(space, t.key_count());
    t.retrieve_keys(space, every.span());
    return std::ranges::is_sorted(every.to_host());
  };
  EXPECT_FALSE(sorted_by(1, grouping::automatic));
  EXPECT_FALSE(sorted_by(7, grouping::automatic));
  for (int tables = 0; tables < 4;
       ++tables)  // with hash functions of their own: no region is too full by luck
    EXPECT_FALSE(sorted_by(8, grouping::automatic));
  EXPECT_TRUE(sorted_by(40, grouping::automatic));
  EXPECT_TRUE(sorted_by(41, grouping::automatic));
  EXPECT_FALSE(sorted_by(1, grouping::by_regions));
  EXPECT_TRUE(sorted_by(n / 4, grouping::by_regions));  // one key exceeds the capacity of any region
  EXPECT_TRUE(sorted_by(1, grouping::by_sort));
}

// Where nearly all keys differ, the table of ids gets capacity for one id an item, and is built from the
// regions. (They have 1024 items and capacity for 256 more, so a key may occur a hundred times.)
TEST_F(multimap_verbs, the_ids_take_over_the_regions) {
  const u64 n = u64(1) << 17;
  const auto capacity_of = [&](u64 repeated) {
    std::vector<u32> k(n);
    for (u64 i = 0; i < n; ++i) k[i] = static_cast<u32>(mix64(i < repeated ? 0 : i));
    const auto kb = there(k);
    table_type t(space);
    EXPECT_EQ(t.build(space, kb.span(), kb.span(), grouping::by_regions).inserted, n);
    return t.capacity();
  };
  using ids = tiled<u32, u32>;
  EXPECT_EQ(capacity_of(100), ids::capacity_for(n, 0.8));
  EXPECT_LT(capacity_of(3 * n / 4), ids::capacity_for(n / 2, 0.8));
}

TEST_F(multimap_verbs, retrieve_says_what_it_needs) {
  const auto k = there(std::vector<u32>{1, 2, 1}), v = there(std::vector<u32>{10, 20, 11});
  table_type t(space);
  EXPECT_EQ(t.build(space, k.span(), v.span()).inserted, 3U);
  const auto q = there(std::vector<u32>{1, 5});
  const buffer<u64, space_type> offsets(space, 3);
  const buffer<u32, space_type> out(space, 2);
  EXPECT_THROW(t.retrieve(space, q.span(), offsets.span(), out.first(1)), invalid_argument);
  EXPECT_EQ(offsets.to_host(), (std::vector<u64>{0, 2, 2}));
  EXPECT_EQ(t.retrieve(space, q.span(), offsets.span(), out.span()), 2U);
  EXPECT_TRUE(same_values(out.to_host(), {10, 11}));
  EXPECT_THROW(t.retrieve(space, q.span(), offsets.first(2), out.span()), invalid_argument);
  EXPECT_THROW(t.retrieve(space, q.span(), offsets.span(), q.span()), invalid_argument) << "over the keys";
  const std::span<u32> over(reinterpret_cast<u32*>(offsets.data()), 6);
  EXPECT_THROW(t.retrieve(space, q.span(), offsets.span(), over), invalid_argument) << "over the offsets";
  EXPECT_THROW(t.retrieve(space, over.first(2), offsets.span(), out.span()), invalid_argument);
  EXPECT_EQ(q.to_host(), (std::vector<u32>{1, 5}));
  EXPECT_THROW(std::ignore = t.build(space, k.span(), v.first(2)), invalid_argument);
  table<multi<wide, u32>, space_type> counted(space);
  EXPECT_THROW(std::ignore = counted.build(space, {}, {}, grouping::by_sort), invalid_argument);
}

}  // namespace tilehash::contract
