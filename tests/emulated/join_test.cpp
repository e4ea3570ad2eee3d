// SPDX-License-Identifier: Apache-2.0
// Joins under the GPU's schedule: by regions, some of which are left to the
// table, and by the table.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <contract/join_model.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

using contract::expect_joined, contract::row_pairs;

// Two regions of right rows or more, which the left ones meet once, often or
// never.
template <class Key>
void join_under(emulation::schedule s, join_options::ways way) {
  const u64 n = way == join_options::ways::by_regions ? 5'000 : small() ? 160 : sizeof(Key) > 8 ? 200 : 700;
  emulated space(s);
  std::vector<Key> left, right;
  for (u64 i = 0; i < n; ++i) right.push_back(contract::key_from<Key>(mix64(i % (n - 30))));
  for (u64 i = 0; i < n / 2; ++i) left.push_back(contract::key_from<Key>(mix64(3 * i)));
  expect_joined(space, left, right, way);
  if (way == join_options::ways::by_regions) return;
  for (u64 i = 0; i < n; i += 20) right[i] = left[0];
  expect_joined(space, left, right, way);
}

TEST(Join, ByRegions) {
  u64 seed = 0;
  for (const bool preempt : {true, false}) {
    join_under<u32>({.seed = ++seed, .preempt = preempt}, join_options::ways::by_regions);
    if (small()) continue;  // minutes under a sanitizer
    join_under<u64>({.seed = ++seed, .interleave = preempt}, join_options::ways::by_regions);
  }
  if (small()) join_under<u64>({.seed = ++seed, .interleave = true}, join_options::ways::by_regions);
}

TEST(Join, LeavesRegionsToTheTable) {
  const u64 n = 4'200;
  emulated space({.seed = 9, .preempt = true});
  std::vector<double> left(n), right(n);
  for (u64 i = 0; i < n; ++i) {
    left[i] = static_cast<double>(i % (n / 2));
    right[i] = i % 30 == 7 ? 5 : static_cast<double>(mix64(i) % n);
  }
  expect_joined(space, left, right, join_options::ways::by_regions);
  expect_joined(space, left, {}, join_options::ways::by_regions);
  expect_joined(space, {}, right, join_options::ways::by_regions);
  expect_joined(space, std::vector<double>(60, 4.), std::vector<double>(n, 4.),
                join_options::ways::by_regions);
}

// Right keys that come so often that regions are grouped; some left ones come
// often too, others have no match.
template <class Key>
void join_grouped(emulation::schedule s, u64 n, u64 copies) {
  SCOPED_TRACE(std::to_string(copies) + " of a key");
  emulated space(s);
  std::vector<Key> left, right;
  for (u64 i = 0; i < n; ++i) right.push_back(contract::key_from<Key>(mix64(i / copies)));
  for (u64 i = 0; i < n / 3; ++i)
    left.push_back(contract::key_from<Key>(mix64(i % 5 == 0 ? i % 100 / 50 : 3 * i / copies)));
  expect_joined(space, left, right, join_options::ways::by_regions);
}

TEST(Join, GroupsRegions) {
  u64 seed = 20;
  for (const u64 copies : {4, 7, 8, 31, 32, 33})
    join_grouped<u32>({.seed = ++seed, .preempt = copies % 2 == 0}, small() ? 1'000 : 3'000, copies);
  join_grouped<u64>({.seed = ++seed, .interleave = true}, small() ? 700 : 3'000, 8);
  join_grouped<double>({.seed = ++seed}, small() ? 700 : 3'000, 16);
}

// Regions that are to be grouped, and are left to the table: too many rows,
// keys whose hashes are neighbours, a key so frequent on both sides that its
// block would write for long.
TEST(Join, LeavesGroupsToTheTable) {
  using slot = remainder_slot<u32, u32>;
  const u64 n = 3'000, seed = 11;
  emulated space({.seed = 40, .preempt = true});
  const detail::hash_route<slot> route(2, seed);
  const auto joined = [&](const std::vector<u32>& left, const std::vector<u32>& right, bool all) {
    const buffer<u32, emulated> l(space, left), r(space, right);
    detail::region_join<u32, emulated> by_regions;
    EXPECT_TRUE(by_regions.count(space, l.span(), r.span(), join_kind::inner, seed, {}, 0, 8));
    detail::numbered_rows<u32, emulated> rest_left, rest_right;
    by_regions.rest(space, rest_left, rest_right);
    EXPECT_EQ(rest_right.keys.size() == 0, all);
    const u64 rest = join_size(space, rest_left.keys.span(), rest_right.keys.span());
    EXPECT_EQ(by_regions.size() + rest, contract::join_model<u32>(left, right).size(join_kind::inner));
  };
  std::vector<u32> right(n), left(n / 2);
  const auto fill = [&](std::vector<u32>& keys, const auto& hash) {
    for (u64 i = 0; i < keys.size(); ++i)
      keys[i] = slot::decode(route.unhash(static_cast<slot::key_bits>(hash(i))));
  };
  const auto spread = [](u64 i) { return mix64(i / 8); };
  fill(left, spread);
  fill(right, spread);
  joined(left, right, true);
  fill(right, [&](u64 i) { return spread(i) % (u64(1) << 31); });  // all of one region
  joined(left, right, false);
  fill(right, [&](u64 i) { return i % 8 == 0 ? i : spread(i); });  // 375 of one slot
  joined(left, right, false);
  fill(right, [&](u64 i) { return i % 16 == 0 ? 5 : spread(i); });
  joined(left, right, true);
  fill(left, [&](u64) { return 5; });
  joined(left, right, false);
}

// Few rows: all keys differ, or come some times, or are one key; with one left
// row or as many as the right ones.
template <class Key>
void join_few(emulation::schedule s, u64 n) {
  emulated space(s);
  const auto key = [](u64 i) { return contract::key_from<Key>(mix64(i)); };
  for (const u64 copies : {u64(1), u64(2), u64(7), u64(31), u64(32), u64(33), n}) {
    SCOPED_TRACE(std::to_string(copies) + " of a key");
    std::vector<Key> left, right;
    for (u64 i = 0; i < n; ++i) right.push_back(key(i / copies));
    for (u64 i = 0; i < n / 3; ++i) left.push_back(key(i % 4 == 0 ? n + i : 2 * i / copies));
    expect_joined(space, left, right, join_options::ways::automatic);
    expect_joined(space, right, left, join_options::ways::automatic);
    expect_joined(space, {key(0)}, right, join_options::ways::automatic);
    expect_joined(space, {key(n)}, right, join_options::ways::automatic);
  }
  expect_joined<Key>(space, {key(1), key(2)}, {}, join_options::ways::automatic);
  expect_joined<Key>(space, {}, {key(1), key(2)}, join_options::ways::automatic);
}

TEST(Join, OfFewRows) {
  join_few<u32>({.seed = 31, .preempt = true}, 700);
  join_few<u64>({.seed = 32, .interleave = true}, small() ? 100 : 520);
  join_few<u16>({.seed = 33, .lags = true}, 300);
  emulated space({.seed = 34, .preempt = true});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> left = {nan, 0.F, 1.F, nan}, right = {-0.F, nan, 1.F, 1.F};
  expect_joined(space, left, right, join_options::ways::automatic);
  expect_joined<float>(space, {nan}, {nan}, join_options::ways::automatic);
}

TEST(Join, ByTheTable) {
  join_under<u32>({.seed = 4, .preempt = true}, join_options::ways::by_table);
  join_under<std::array<u64, 3>>({.seed = 5}, join_options::ways::automatic);
}

// Segments of all lengths to outputs at all alignments, by blocks that search
// where their shares begin, and by those that get it from the host.
template <u32 PerThread>
void write_to_all_alignments() {
  constexpr u32 threads = 256;
  using work = detail::write_matches_of_shares<threads, PerThread>;
  contract::random_numbers random("matches");
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(contract::run_seed()));
  emulated space({.seed = 50, .preempt = true});
  for (const u64 longest : {u64(1), u64(3), u64(20), u64(1500)}) {
    const u64 values = 2'000, segments = 4'000 / longest + 3;
    std::vector<u64> offsets(1, 0);
    std::vector<u32> begins, numbers;
    row_pairs expected;
    for (u64 s = 0; s < segments; ++s) {
      const u64 length = s % 3 == 0 ? random.below(longest) + 1 : s % 7 == 1 ? 1 : 0;
      const bool matched = s % 3 == 0;
      begins.push_back(matched ? static_cast<u32>(random.below(values - length)) : no_match);
      numbers.push_back(static_cast<u32>(random.below(1'000'000)));
      offsets.push_back(offsets.back() + length);
      for (u64 k = 0; k < length; ++k)
        expected.emplace_back(numbers[s], matched ? static_cast<u32>(7 * (begins[s] + k)) : no_match);
    }
    std::vector<u32> of_values;
    for (u64 i = 0; i < values; ++i) of_values.push_back(static_cast<u32>(7 * i));
    const u64 n = offsets.back(), shares = detail::divide_up(segments + n, u64(work::share));
    const buffer<u64, emulated> o(space, offsets), splits(space, shares + 1);
    const buffer<u32, emulated> b(space, begins), l(space, numbers), v(space, of_values);
    space.for_each(shares + 1,
                   detail::find_splits<u64>{o.data() + 1, segments, n, work::share, splits.data()});
    for (const auto& [at, right_at, told] : {std::tuple(0, 0, true),
                                             {1, 1, false},
                                             {2, 2, true},
                                             {3, 3, false},
                                             {2, 1, false},
                                             {0, 3, true},
                                             {1, -1, true}}) {
      SCOPED_TRACE(std::to_string(longest) + " at most, to " + std::to_string(at) + " and " +
                   std::to_string(right_at));
      const buffer<u32, emulated> left(space, n + 8), right(space, n + 8);
      space.fill(left.data(), n + 8, 77U);
      space.fill(right.data(), n + 8, 77U);
      const detail::join_output out{left.data() + at, right_at < 0 ? nullptr : right.data() + right_at};
      space.for_each_block(shares, threads, work::scratch_bytes,
                           work{{o.data(), segments, b.data(), l.data(), v.data()},
                                n,
                                told ? splits.data() : nullptr,
                                out,
                                false});
      const auto lefts = left.to_host(), rights = right.to_host();
      bool same = true;
      for (u64 i = 0; i < n; ++i)
        same &= lefts[i + at] == expected[i].first &&
                (right_at < 0 || rights[i + right_at] == expected[i].second);
      EXPECT_TRUE(same);
      EXPECT_EQ(
          std::ranges::count(lefts, 77U) - std::ranges::count(expected, 77U, &std::pair<u32, u32>::first), 8);
      EXPECT_EQ(std::ranges::count(rights, 77U),
                right_at < 0 ? n + 8 : 8 + std::ranges::count(expected, 77U, &std::pair<u32, u32>::second));
    }
  }
}

TEST(Join, WritesMatches) {
  write_to_all_alignments<8>();
  write_to_all_alignments<16>();
}

TEST(Join, WithAGraph) {
  emulated space({.seed = 6, .preempt = true});
  std::vector<float> left, right;
  for (u64 i = 0; i < 600; ++i) right.push_back(static_cast<float>(mix64(i) % 300));
  for (u64 i = 0; i < 300; ++i) left.push_back(static_cast<float>(mix64(i + 400) % 500));
  left.push_back(std::numeric_limits<float>::quiet_NaN());
  contract::expect_probed(space, left, right);
}

}  // namespace
}  // namespace tilehash::designs_test
