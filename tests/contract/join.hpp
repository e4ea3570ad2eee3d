// SPDX-License-Identifier: Apache-2.0
// Joins of all kinds, by both ways: every family of keys, memory that runs out, bad arguments.
// length: one model of a join, asked of each family of keys and each kind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <contract/join_model.hpp>
#include <contract/message_of.hpp>

namespace tilehash::contract {

struct point {  // 12 packed bytes: joined by the table alone
  float x, y, z;
};
struct pixel {  // six bytes, and two of padding
  float depth;
  short layer;
};

}  // namespace tilehash::contract

namespace tilehash::keys {
using contract::pixel, contract::point;
template <>
struct members_of<point> : members<&point::x, &point::y, &point::z> {};
template <>
struct members_of<pixel> : members<&pixel::depth, &pixel::layer> {};
}  // namespace tilehash::keys

namespace tilehash::contract {

inline point key_of_numbers(const point&, float a, u32 b) { return {1, a, static_cast<float>(b)}; }
inline pixel key_of_numbers(const pixel&, float a, u32 b) { return {a, static_cast<short>(b)}; }
inline auto numbers_of(const point& p) { return std::tuple(p.x, p.y, p.z); }
inline auto numbers_of(const pixel& p) { return std::tuple(p.depth, p.layer); }

template <class Key>
std::vector<join_options::ways> ways_of() {
  if (sizeof(Key) > 8) return {join_options::ways::automatic};
  return {join_options::ways::by_regions, join_options::ways::by_table};
}

template <class Key>
class joins : public ::testing::Test {
 protected:
  using space_type = decltype(join_ground::space);
  join_ground ground;
  space_type& space = ground.space;

  void check(const std::vector<Key>& left, const std::vector<Key>& right) {
    for (const join_options::ways way : ways_of<Key>()) expect_joined(space, left, right, way);
  }
};
TYPED_TEST_SUITE_P(joins);

TYPED_TEST_P(joins, of_every_family_of_keys) {
  random_numbers random("joins of families");
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = scaled(6'000, 200);
  for (const auto& [name, keys] : families<TypeParam>(random, n)) {
    SCOPED_TRACE(name);
    this->check(keys, others(random, keys, n / 2));
    this->check(others(random, keys, n / 2), keys);
    this->check(keys, {});
    this->check({}, keys);
  }
  this->check({}, {});
  this->check(keys_by<TypeParam>(n, [](u64 i) { return 2 * i; }),
              keys_by<TypeParam>(n, [](u64 i) { return 2 * i + 1; }));  // disjoint
}

// A NaN equals no key, itself included.
TYPED_TEST_P(joins, of_no_numbers) {
  if constexpr (std::floating_point<TypeParam>) {
    auto left = keys_by<TypeParam>(3'000, [](u64 i) { return mix64(i); }), right = left;
    for (u64 i = 0; i < left.size(); i += 3) left[i] = std::numeric_limits<TypeParam>::quiet_NaN();
    for (u64 i = 0; i < right.size(); i += 4) right[i] = std::numeric_limits<TypeParam>::quiet_NaN();
    left[1] = TypeParam(0);
    right[2] = -TypeParam(0);
    this->check(left, right);
  } else {
    GTEST_SKIP() << "these keys have no NaN";
  }
}

// One NaN, the first or the last of the left rows, among rows that all have matches or none.
TYPED_TEST_P(joins, of_one_row_without_a_number) {
  if constexpr (std::floating_point<TypeParam>) {
    const auto keys = keys_by<TypeParam>(500, [](u64 i) { return mix64(i); });
    for (const u64 at : {u64(0), keys.size() - 1}) {
      auto left = keys;
      left[at] = std::numeric_limits<TypeParam>::quiet_NaN();
      this->check(left, keys);
      this->check(left, left);
      this->check({left[at]}, keys);
      this->check(keys, {left[at]});
      expect_probed(this->space, left, keys);
      expect_probed(this->space, {left[at]}, keys);
    }
  } else {
    GTEST_SKIP() << "these keys have no NaN";
  }
}

// As many rows as the counting pass has memory for, which is one for each left row; one less; and one more.
TYPED_TEST_P(joins, fill_their_output) {
  if constexpr (sizeof(TypeParam) > 2) {
    for (const u64 n : {u64(1), u64(2), u64(31), u64(32), u64(33), scaled(3'000, 500)}) {
      auto keys = keys_by<TypeParam>(n, [](u64 i) { return mix64(i); });
      this->check(keys, keys);
      auto others = keys;
      others.push_back(keys[n / 2]);
      this->check(keys, others);
      others.resize(n - 1);
      this->check(keys, others);
    }
  } else {
    GTEST_SKIP() << "there are too few such keys";
  }
}

// Keys whose hashes have equal high bits go to one region; some also share one of its lists.
TYPED_TEST_P(joins, of_keys_that_meet) {
  if constexpr (std::integral<TypeParam> && sizeof(TypeParam) >= 4) {
    using slot = remainder_slot<TypeParam, u32>;
    using run_space = typename TestFixture::space_type;
    const u64 n = 36'000, seed = 11;
    const detail::hash_route<slot> route(
        static_cast<u32>(detail::divide_up(n, detail::region_join<TypeParam, run_space>::largest)), seed);
    for (const auto& [apart, copies] :
         {std::pair(u64(1), 1U), {u64(1) << 9, 1U}, {u64(1), 8U}, {u64(1) << 9, 8U}}) {
      std::vector<TypeParam> right;
      for (u64 i = 0; i < n; ++i)
        right.push_back(slot::decode(route.unhash(static_cast<typename slot::key_bits>(i * apart))));
      const std::vector<TypeParam> left(right.rbegin(), right.rend() - 7);
      const buffer<TypeParam, run_space> l(this->space, left), r(this->space, right);
      detail::region_join<TypeParam, run_space> by_regions;
      ASSERT_TRUE(by_regions.count(this->space, l.span(), r.span(), join_kind::inner, seed, {}, 0, copies));
      detail::numbered_rows<TypeParam, run_space> rest_left, rest_right;
      by_regions.rest(this->space, rest_left, rest_right);
      EXPECT_GT(rest_right.keys.size(), n / 4);
      const u64 rest = join_size(this->space, rest_left.keys.span(), rest_right.keys.span());
      EXPECT_EQ(by_regions.size() + rest, left.size());
    }
    auto right = keys_by<TypeParam>(n, [](u64 i) { return mix64(i); });
    std::fill(right.begin(), right.begin() + 300, right[0]);  // these fit a region, and not one of its lists
    const buffer<TypeParam, run_space> r(this->space, right);
    detail::region_join<TypeParam, run_space> by_regions;
    ASSERT_TRUE(by_regions.count(this->space, r.first(1), r.span(), join_kind::inner, seed));
    EXPECT_EQ(by_regions.size(), 0U);
  } else {
    GTEST_SKIP() << "the hashes of such keys cannot be chosen";
  }
}

// A region with as many right rows as a block's scratch holds, and with one more, which is left to the table.
TYPED_TEST_P(joins, fill_a_region) {
  if constexpr (std::integral<TypeParam> && sizeof(TypeParam) >= 4) {
    using slot = remainder_slot<TypeParam, u32>;
    using bits = typename slot::key_bits;
    using run_space = typename TestFixture::space_type;
    using by_regions = detail::region_join<TypeParam, run_space>;
    const u64 n = 30'000, seed = 11;
    const u64 regions =
        std::max(detail::divide_up(n, by_regions::largest), detail::least_regions(this->space));
    const detail::hash_route<slot> route(static_cast<u32>(regions), seed);
    // Is a first region with so many of the keys left to the table?
    const auto leaves_out = [&](u64 of_first) {
      const bits end = static_cast<bits>(~bits(0) / regions), next = static_cast<bits>(end + end / 64);
      const bits others = static_cast<bits>(~bits(0) - next);
      std::vector<TypeParam> keys;
      for (u64 i = 0; i < n; ++i) {
        const u64 hash = i < of_first ? end / of_first * i : next + others / (n - of_first) * (i - of_first);
        keys.push_back(slot::decode(route.unhash(static_cast<bits>(hash))));
      }
      const buffer<TypeParam, run_space> rows(this->space, keys);
      by_regions join;
      EXPECT_TRUE(join.count(this->space, rows.span(), rows.span(), join_kind::inner, seed));
      detail::numbered_rows<TypeParam, run_space> left, right;
      join.rest(this->space, left, right);
      EXPECT_EQ(join.size() + right.keys.size(), n) << of_first << " of a region";
      return right.keys.size() != 0;
    };
    u64 fits = n / regions, too_many = 2 * fits + 200;
    ASSERT_FALSE(leaves_out(fits));
    ASSERT_TRUE(leaves_out(too_many));
    while (too_many - fits > 1) {
      const u64 middle = (fits + too_many) / 2;
      (leaves_out(middle) ? too_many : fits) = middle;
    }
    const double mean = static_cast<double>(n) / static_cast<double>(regions);
    EXPECT_EQ(fits, static_cast<u64>(mean + 8 * std::sqrt(mean)) + 32);
  } else {
    GTEST_SKIP() << "the hashes of such keys cannot be chosen";
  }
}

// So many rows that the automatic way goes by regions; some keys are too frequent for these.
TYPED_TEST_P(joins, of_keys_that_come_often) {
  random_numbers random("joins of frequent keys");
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = 40'000, few = scaled(60'000, 4'000);
  const auto distinct = keys_by<TypeParam>(n, [](u64 i) { return mix64(i); });
  std::vector<TypeParam> by_zipf, mixed = distinct, by_twenties;
  for (u64 i = 0; i < n; ++i) by_twenties.push_back(distinct[i / 20]);
  for (const u64 rank : zipf_ranks(random, few, n)) by_zipf.push_back(distinct[rank]);
  for (u64 i = 0; i < n; i += 5) mixed[i] = distinct[1];  // too frequent for a list, and for a bin
  const std::vector<TypeParam> equal(n, distinct[1]), one(1, distinct[1]);
  for (const join_options::ways way : {join_options::ways::automatic, join_options::ways::by_table}) {
    expect_joined(this->space, by_zipf, distinct, way);
    if (small_sizes() && way == join_options::ways::by_table) break;
    if (is_asked(0, 2)) {
      expect_joined(this->space, distinct, by_zipf, way);
      expect_joined(this->space, {distinct.begin(), distinct.begin() + 2'000}, by_twenties, way);
      expect_joined(this->space, distinct, mixed, way);
    }
    if (!is_asked(1, 2)) continue;
    expect_joined(this->space, mixed, distinct, way);
    expect_joined(this->space, one, equal, way);
    expect_joined(this->space, equal, one, way);
    expect_joined(this->space, equal, equal, way);
  }
}

// Right keys that all come so often: the automatic way chooses by this number, and by that of the rows.
TYPED_TEST_P(joins, of_keys_that_come_evenly) {
  if (sizeof(TypeParam) > 8) GTEST_SKIP() << "such keys are joined by the table alone";
  const u64 few = 2'000, many = scaled(300'000, 30'000);
  const auto distinct = keys_by<TypeParam>(many, [](u64 i) { return mix64(i); });
  const auto check = [&](u64 n, u64 copies, join_options::ways way) {
    SCOPED_TRACE(std::to_string(copies) + " of a key");
    std::vector<TypeParam> left, right;
    for (u64 i = 0; i < n; ++i) right.push_back(distinct[i / copies]);
    for (u64 i = 0; i < (copies > 100 ? 6 : 400); ++i)  // some twice, some absent
      left.push_back(distinct[i % 5 == 0 ? many - 1 - i : i * 3 / 4 % (n / copies + 1)]);
    expect_joined(this->space, left, right, way);
  };
  for (const u64 copies : {1, 2, 7, 8, 31, 32, 33, 1'000, 100'000})
    for (const join_options::ways way : {join_options::ways::automatic, join_options::ways::by_regions})
      check(few, copies, way);
  for (const u64 copies : {8, 1'000}) check(many, copies, join_options::ways::automatic);
}

// Outputs whose beginnings are not aligned to 16 bytes, alike or differently.
TYPED_TEST_P(joins, into_arrays_that_are_not_aligned) {
  using run_space = typename TestFixture::space_type;
  const auto distinct = keys_by<TypeParam>(100, [](u64 i) { return mix64(i); });
  std::vector<TypeParam> left, right;
  for (u64 i = 0; i < 211; ++i) left.push_back(distinct[i % 97]);
  for (u64 i = 0; i < 301; ++i) right.push_back(distinct[i % 9 == 0 ? 3 : i % 89]);
  const join_model<TypeParam> model(left, right);
  const buffer<TypeParam, run_space> l(this->space, left), r(this->space, right);
  for (const join_kind kind : {join_kind::inner, join_kind::left}) {
    const u64 n = model.size(kind);
    const buffer<u32, run_space> a(this->space, n + 8), b(this->space, n + 8);
    for (const auto& [la, ra] : {std::pair(0, 0), {1, 1}, {3, 3}, {2, 1}, {0, 3}}) {
      SCOPED_TRACE(std::to_string(la) + " and " + std::to_string(ra));
      this->space.fill(a.data(), n + 8, 77U);
      this->space.fill(b.data(), n + 8, 77U);
      EXPECT_EQ(
          join(this->space, l.span(), r.span(), a.span().subspan(la, n), b.span().subspan(ra, n), {kind}), n);
      const auto lefts = a.to_host(), rights = b.to_host();
      row_pairs got;
      for (u64 i = 0; i < n; ++i) got.emplace_back(lefts[la + i], rights[ra + i]);
      std::ranges::sort(got);
      EXPECT_TRUE(got == model.rows(kind));
      for (u64 i = 0; i < n + 8; ++i) {  // nothing is written outside
        if (i < u64(la) || i >= la + n) {
          EXPECT_EQ(lefts[i], 77U);
        }
        if (i < u64(ra) || i >= ra + n) {
          EXPECT_EQ(rights[i], 77U);
        }
      }
    }
  }
}

// The result is quadratic, the counting is not.
TYPED_TEST_P(joins, count_without_writing) {
  const u64 n = scaled(400'000, 40'000);
  const buffer<TypeParam, typename TestFixture::space_type> keys(
      this->space, std::vector<TypeParam>(n, key_from<TypeParam>(7)));
  for (const join_options::ways way : {join_options::ways::automatic, join_options::ways::by_table}) {
    EXPECT_EQ(join_size(this->space, keys.span(), keys.span(), {join_kind::inner, way}), n * n);
    EXPECT_EQ(join_size(this->space, keys.span(), keys.span(), {join_kind::semi, way}), n);
  }
}

TYPED_TEST_P(joins, with_a_graph) {
  random_numbers random("joins with a graph");
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const u64 n = scaled(1'500, 100);
  for (const auto& [name, keys] : families<TypeParam>(random, n)) {
    SCOPED_TRACE(name);
    auto asked = others(random, keys, 200);
    if constexpr (std::floating_point<TypeParam>)
      asked.resize(asked.size() + 3, std::numeric_limits<TypeParam>::quiet_NaN());
    expect_probed(this->space, asked, keys);
    expect_probed(this->space, {}, keys);
    expect_probed(this->space, asked, {});
  }
  const auto distinct = keys_by<TypeParam>(40'000, [](u64 i) { return mix64(i); });  // built by regions
  expect_probed(this->space, distinct, distinct);
  table<hash_graph<TypeParam, u32>, typename TestFixture::space_type> graph(this->space);
  const auto taken = std::move(graph);
  const buffer<TypeParam, typename TestFixture::space_type> keys(this->space, distinct);
  for (const join_options::probes probe : {join_options::probes::standard, join_options::probes::intersect})
    EXPECT_EQ(
        join(this->space, keys.span(), graph, {.kind = join_kind::anti, .probe = probe}).size(),  // NOLINT
        keys.size());
}

TYPED_TEST_P(joins, into_arrays_of_the_callers) {
  using run_space = typename TestFixture::space_type;
  const std::vector<TypeParam> left = {key_from<TypeParam>(1), key_from<TypeParam>(2),
                                       key_from<TypeParam>(3)},
                               right = {key_from<TypeParam>(2), key_from<TypeParam>(2)};
  auto& here = this->space;
  const buffer<TypeParam, run_space> l(here, left), r(here, right);
  const buffer<u32, run_space> a(here, 4), b(here, 4);
  const auto reset = [&] {
    here.fill(a.data(), 4, 77U);
    here.fill(b.data(), 4, 77U);
  };
  const std::vector<u32> untouched(4, 77);
  reset();
  EXPECT_EQ(join(here, l.span(), r.span(), a.first(3), b.span(), {join_kind::left}), 4U);
  EXPECT_EQ(join(here, l.span(), r.span(), a.span(), b.first(3), {join_kind::left}), 4U);
  EXPECT_EQ(a.to_host(), untouched);
  EXPECT_EQ(b.to_host(), untouched);
  EXPECT_EQ(join(here, l.span(), r.span(), a.span(), b.span(), {join_kind::left}), 4U);
  EXPECT_TRUE(in_order(a, b, join_kind::left) == (row_pairs{{0, no_match}, {1, 0}, {1, 1}, {2, no_match}}));
  reset();
  EXPECT_EQ(join(here, l.span(), r.span(), a.first(2), {}, {join_kind::anti}), 2U);
  auto rows = a.to_host();
  std::ranges::sort(rows);
  EXPECT_EQ(rows, (std::vector<u32>{0, 2, 77, 77}));
}

REGISTER_TYPED_TEST_SUITE_P(joins, of_every_family_of_keys, of_no_numbers, of_one_row_without_a_number,
                            fill_their_output, of_keys_that_meet, fill_a_region, of_keys_that_come_often,
                            of_keys_that_come_evenly, count_without_writing, with_a_graph,
                            into_arrays_of_the_callers, into_arrays_that_are_not_aligned);

// Keys with floats inside: a NaN in any of them equals nothing, and -0.0 is 0.0.
template <class Key>
void join_structs(u64 n) {
  join_ground ground;
  auto& space = ground.space;
  using space_type = decltype(join_ground::space);
  random_numbers random("joins of structs");
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const float special[] = {0.0F, -0.0F, 1.5F, std::numeric_limits<float>::quiet_NaN(),
                           -std::numeric_limits<float>::infinity()};
  const auto some = [&](u64 count) {
    std::vector<Key> keys(count);
    for (Key& key : keys)
      key = key_of_numbers(key, special[random.below(5)], static_cast<u32>(random.below(n / 4)));
    return keys;
  };
  const std::vector<Key> left = some(n), right = some(n / 2);
  const auto may_equal = [](const Key& key) { return numbers_of(key) == numbers_of(key); };
  std::multimap<decltype(numbers_of(Key())), u32> rows;
  for (u32 i = 0; i < right.size(); ++i)
    if (may_equal(right[i])) rows.emplace(numbers_of(right[i]), i);
  const buffer<Key, space_type> l(space, left), r(space, right);
  for (const join_kind kind : join_kinds) {
    SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)));
    row_pairs expected;
    for (u32 i = 0; i < left.size(); ++i) {
      const auto [first, last] =
          may_equal(left[i]) ? rows.equal_range(numbers_of(left[i])) : std::pair(rows.end(), rows.end());
      const bool lists = kind == join_kind::inner || (kind == join_kind::left && first != last);
      if (lists)
        for (auto at = first; at != last; ++at) expected.emplace_back(i, at->second);
      else if (detail::joined_rows(kind, first != last) != 0)
        expected.emplace_back(i, no_match);
    }
    std::ranges::sort(expected);
    std::vector<join_options::ways> ways = {join_options::ways::automatic, join_options::ways::by_table};
    if (sizeof(Key) <= 8) ways.push_back(join_options::ways::by_regions);
    for (const join_options::ways way : ways) {
      EXPECT_EQ(join_size(space, l.span(), r.span(), {kind, way}), expected.size());
      const auto got = join(space, l.span(), r.span(), {kind, way});
      EXPECT_TRUE(in_order(got.left, got.right, kind) == expected) << static_cast<int>(way);
    }
  }
}
TEST(joins_of_structs, with_floats) {
  join_structs<point>(scaled(4'000, 400));
  join_structs<pixel>(scaled(40'000, 4'000));
}

TEST(join_arguments, are_refused) {
  join_ground ground;
  auto& space = ground.space;
  using space_type = decltype(join_ground::space);
  const buffer<u32, space_type> keys(space, std::vector<u32>{1, 2, 3});
  const buffer<std::array<u64, 2>, space_type> wide(space, 2);
  const std::span<const u32> nowhere(static_cast<const u32*>(nullptr), 3),
      too_many(keys.data(), u64(1) << 32);
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_TRUE(message.starts_with("tilehash: ") && message.find(part) != std::string::npos) << message;
  };
  says(message_of<invalid_argument>([&] { std::ignore = join(space, nowhere, keys.span()); }),
       "join: the left keys");
  says(message_of<invalid_argument>([&] { std::ignore = join_size(space, keys.span(), nowhere); }),
       "join: the right keys");
  says(message_of<invalid_argument>([&] { std::ignore = join_size(space, keys.span(), too_many); }),
       "at most 2^32 - 2 rows");
  says(message_of<invalid_argument>([&] {
         std::ignore = join_size(space, wide.span(), wide.span(), {.way = join_options::ways::by_regions});
       }),
       "up to 8 bytes");
  const std::span<u32> no_rows(static_cast<u32*>(nullptr), 3);
  says(message_of<invalid_argument>(
           [&] { std::ignore = join(space, keys.span(), keys.span(), no_rows, no_rows); }),
       "join: the left rows");
  const buffer<u32, space_type> rows(space, 3), more_rows(space, 3);
  const auto joins_to = [&](std::span<u32> left_rows, std::span<u32> right_rows, join_kind kind) {
    return message_of<invalid_argument>([&] {
      std::ignore = join(space, keys.span(), more_rows.span(), left_rows, right_rows, {.kind = kind});
    });
  };
  says(joins_to(keys.span(), rows.span(), join_kind::inner), "join: the rows overlap the left keys");
  says(joins_to(rows.span(), more_rows.span(), join_kind::inner), "join: the rows overlap the right keys");
  says(joins_to(rows.span(), rows.span(), join_kind::inner), "join: the left rows overlap the right rows");
  EXPECT_EQ(keys.to_host(), (std::vector<u32>{1, 2, 3}));

  // 160 000 x 160 000 rows of 8 bytes exceed the memory.
  const buffer<u32, space_type> equal(space, std::vector<u32>(160'000, 5));
  ground.memory.refuse_larger_than(u64(1) << 30);
  says(message_of<out_of_memory>([&] { std::ignore = join(space, equal.span(), equal.span()); }),
       "25600000000 rows of 8 bytes each");
}

}  // namespace tilehash::contract
