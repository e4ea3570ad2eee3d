// SPDX-License-Identifier: Apache-2.0
// Values side by side behind a table of ids, under the GPU's schedule: all builds, and rows of any lengths.
#include <tilehash/engine/multi.hpp>

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

using wide = std::array<u64, 3>;

template <class Key>
Key key(u64 i) {
  if constexpr (sizeof(Key) > 8)
    return {mix64(i), i, 5};
  else
    return static_cast<Key>(mix64(i));
}

// Builds from n items of `distinct` keys, the first of which has every `favoured`-th, and asks for
// everything.
template <class Design>
void build_and_ask(emulation::schedule s, u64 n, u64 distinct, grouping how, u64 favoured = 2) {
  SCOPED_TRACE("seed " + std::to_string(s.seed) + ", " + std::to_string(n) + " items of " +
               std::to_string(distinct) + " keys");
  using key_type = typename Design::key_type;
  emulated space(s);
  table<Design, emulated> t(space);
  std::vector<key_type> keys(n), asked;
  std::vector<u32> values(n);
  std::map<key_type, std::vector<u32>> model;
  for (u64 i = 0; i < n; ++i) {
    keys[i] = key<key_type>(i % favoured == 0 ? 0 : mix64(i) % distinct);
    values[i] = static_cast<u32>(i);
    model[keys[i]].push_back(values[i]);
  }
  buffer<key_type, emulated> k(space, keys);
  buffer<u32, emulated> v(space, values);
  EXPECT_EQ(t.build(space, k.span(), v.span(), how), (insert_report{.inserted = n}));
  ASSERT_EQ(t.key_count(), model.size());

  const u64 step = small() && distinct > 10'000 ? 5 : 1;
  for (u64 i = 0; i < 2 * distinct; i += step)
    asked.push_back(key<key_type>(i));  // half are strangers, or more
  buffer<key_type, emulated> q(space, asked);
  const auto got = t.retrieve(space, q.span());
  for (u64 i = 0; i < asked.size(); ++i) {
    const u64 from = got.offsets.data()[i], to = got.offsets.data()[i + 1];
    std::vector<u32> its(got.values.data() + from, got.values.data() + to);
    std::ranges::sort(its);
    ASSERT_EQ(its, model[asked[i]]);
  }
  buffer<key_type, emulated> all_keys(space, n);
  buffer<u32, emulated> all_values(space, n);
  ASSERT_EQ(t.retrieve_all(space, all_keys.span(), all_values.span()), n);
  std::map<key_type, std::vector<u32>> back;
  for (u64 i = 0; i < n; ++i) back[all_keys.data()[i]].push_back(all_values.data()[i]);
  std::erase_if(model, [](const auto& item) { return item.second.empty(); });
  for (auto& [one, its] : back) std::ranges::sort(its);
  EXPECT_TRUE(back == model);
}

// So many items that they are grouped by regions; one key has 330 of them.
TEST(Multi, ByRegions) {
  if (contract::is_asked(0, 2))
    build_and_ask<multi<u32, u32>>({.seed = 5, .preempt = true}, 33'000, 66'000, grouping::by_regions,
                                   33'000);
  if (contract::is_asked(1, 2))
    build_and_ask<multi<u32, u32>>({.seed = 6, .preempt = true}, 33'000, 9'000, grouping::by_regions, 100);
}

// Few keys are retrieved in two kernels, unless a block's keys have many values: one value each or up to `most`, one
// with 3000; blocks that are full and not; outputs that are exact, longer, or short by one.
template <class Value, class Offset>
void retrieve_few(u64 keys, u64 most, u64 favoured) {
  SCOPED_TRACE(std::to_string(keys) + " keys, " + std::to_string(most) + " values, " +
               std::to_string(favoured));
  emulated space({.seed = keys + most, .preempt = true});
  table<multi<u32, Value, tiled<u32, u32>, Offset>, emulated> t(space);
  std::vector<u32> items, asked;
  std::vector<Value> values;
  std::vector<u64> offsets(1, 0);
  const auto add = [&](u64 k, u64 times) {
    for (u64 v = 0; v < times; ++v) {
      items.push_back(key<u32>(k));
      values.push_back(static_cast<Value>(10'000 * k + v));
    }
  };
  for (u64 k = 0; k < keys; ++k) add(k, k == 5 && favoured != 0 ? favoured : 1 + k % most);
  for (u64 i = 0; i < keys; ++i) {  // from both ends; every third is absent, if they come more than once
    const bool absent = most > 1 && i % 3 == 0;
    const u64 k = i % 2 == 0 ? i : keys - i;
    asked.push_back(key<u32>(absent ? keys + i : k));
    offsets.push_back(offsets.back() + (absent ? 0 : k == 5 && favoured != 0 ? favoured : 1 + k % most));
  }
  const buffer<u32, emulated> k(space, items), q(space, asked);
  const buffer<Value, emulated> v(space, values);
  std::ignore = t.build(space, k.span(), v.span());
  const auto expect = [&](const auto& its_offsets, const auto& its_values) {
    ASSERT_EQ(its_offsets, offsets);
    for (u64 i = 0; i < asked.size(); ++i) {
      std::vector<Value> its(its_values.begin() + offsets[i], its_values.begin() + offsets[i + 1]);
      std::ranges::sort(its);
      const u64 from = i % 2 == 0 ? i : keys - i;
      for (u64 n = 0; n < its.size(); ++n) ASSERT_EQ(its[n], static_cast<Value>(10'000 * from + n));
    }
  };
  const auto got = t.retrieve(space, q.span());
  EXPECT_EQ(got.values.size(), offsets.back());
  expect(got.offsets.to_host(), got.values.to_host());
  const u64 n = offsets.back();
  const buffer<u64, emulated> to(space, keys + 1);
  const buffer<Value, emulated> into(space, n + 3);
  for (const u64 size : {n, n + 3}) {
    EXPECT_EQ(t.retrieve(space, q.span(), to.span(), into.first(size)), n);
    expect(to.to_host(), into.to_host());
  }
  if (n == 0) return;
  space.fill(into.data(), n + 3, Value(77));
  EXPECT_THROW(t.retrieve(space, q.span(), to.span(), into.first(n - 1)), invalid_argument);
  EXPECT_EQ(to.to_host(), offsets);
  EXPECT_EQ(into.to_host(), std::vector<Value>(n + 3, Value(77)));
}

TEST(Multi, RetrievesFew) {
  for (const u64 keys : {1, 255, 256, 257, 512, 700}) {
    retrieve_few<u32, u32>(keys, 1, 0);
    retrieve_few<u32, u32>(keys, 4, 0);
  }
  retrieve_few<u64, u64>(300, 1, 0);
  retrieve_few<u64, u32>(300, 3, 0);
  retrieve_few<u32, u32>(600, 1, 3'000);
  retrieve_few<u32, u32>(520, 17, 0);  // more than 2048 of a block's keys
}

TEST(Multi, AnswersLikeTheModel) {
  const u64 n = small() ? 1500 : 6000;  // two shares of a block's and a bit
  u64 seed = 0;
  for (const u64 distinct : {u64(1), u64(40), 2 * n}) {
    ++seed;
    const emulation::schedule s{.seed = seed, .interleave = seed != 2, .preempt = seed != 1};
    build_and_ask<multi<u32, u32>>(s, n, distinct, grouping::by_sort);
    build_and_ask<multi<u32, u32>>(s, n, distinct, grouping::by_count);
    build_and_ask<multi<wide, u32>>(s, n / 3, distinct, grouping::automatic);
  }
}

}  // namespace
}  // namespace tilehash::designs_test
