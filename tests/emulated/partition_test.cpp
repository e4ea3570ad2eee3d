// SPDX-License-Identifier: Apache-2.0
// Items partitioned block by block, with and without combining, on both kinds of space.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/algorithm/ordered_bins.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/space/cpu.hpp>

#include "designs_test.hpp"
#include "numbered_keys.hpp"

namespace tilehash::designs_test {
namespace {

using i64 = std::int64_t;

// n items of `distinct` keys, some of which are NaN where there is such a thing; a value is 1 plus its
// number.
template <class Slot, class Space>
struct given_items {
  using key = typename Slot::key_type;
  using value = typename Slot::mapped_type;

  given_items(Space& space, u64 n, u64 distinct) : keys(n), values(n) {
    for (u64 i = 0; i < n; ++i) {
      keys[i] = static_cast<key>(static_cast<u32>(mix64(mix64(i) % distinct)));
      if constexpr (std::floating_point<key>) {
        if (i % 7 == 3) keys[i] = std::numeric_limits<key>::quiet_NaN(), ++illegal;
      }
      values[i] = static_cast<value>(i + 1);
    }
    k = buffer<key, Space>(space, keys);
    v = buffer<value, Space>(space, values);
  }
  detail::array_source<Slot> source() const { return {k.data(), v.data()}; }

  std::vector<key> keys;
  std::vector<value> values;
  u64 illegal = 0;
  buffer<key, Space> k;
  buffer<value, Space> v;
};

// The items in bins and on the list of those that did not fit, each as (key, value).
template <class Route, class Bins>
auto items_in(const Route& route, const Bins& bins, const typename Route::slot_type::word* spilled, u64 n) {
  using slot = typename Route::slot_type;
  using item = detail::routed_item<slot>;
  std::vector<std::pair<typename slot::key_type, typename slot::mapped_type>> all;
  const auto add = [&](typename slot::word e) {
    all.emplace_back(slot::decode(route.unhash(item::hash_of(e))),
                     detail::from_bits<typename slot::mapped_type>(item::value_of(e)));
  };
  u64 astray = 0;
  for (u32 r = 0; r < route.regions(); ++r) {
    for (u32 i = 0; i < bins.size(r); ++i) {
      const auto e = bins.at(r)[i];
      add(e);
      astray += route.region_of(item::hash_of(e)) != r;
    }
  }
  EXPECT_EQ(astray, 0U);
  for (u64 i = 0; i < n; ++i) add(spilled[i]);
  return all;
}

// No item, one, a share and one more or less, and several shares.
std::vector<u64> sizes_around(u64 share) { return {0, 1, share - 1, share, share + 1, 2 * share + 77}; }

// Neighbours count as likely of one region: a group counts a run of them together.
template <class Slot>
struct route_of_runs : detail::hash_route<Slot> {
  using detail::hash_route<Slot>::hash_route;
  static constexpr bool neighbours_go_together = true;
};

template <class Slot, class Space, class Route = detail::hash_route<Slot>>
void partition_items(u32 regions) {
  using word = typename Slot::word;
  using route_type = Route;
  using source_type = detail::array_source<Slot>;
  using work =
      detail::partition_in<route_type, source_type, Space, detail::even_bins<word>, detail::spill_list<word>>;
  for (const u64 n : sizes_around(work::share)) {
    SCOPED_TRACE(std::to_string(n) + " items, " + std::to_string(regions) + " regions");
    Space space = make_space<Space>();
    const given_items<Slot, Space> given(space, n, n + 1);
    std::vector<std::pair<typename Slot::key_type, typename Slot::mapped_type>> expected;
    for (u64 i = 0; i < n; ++i)
      if (given.keys[i] == given.keys[i]) expected.emplace_back(given.keys[i], given.values[i]);
    std::ranges::sort(expected);
    const u64 legal = n - given.illegal;
    const route_type route(regions, 5);
    const u32 capacity = static_cast<u32>(n / regions + 1);  // about half of the bins get more
    const buffer<u32, Space> fill(space, regions);
    const buffer<u64, Space> counters(space, 2);
    const buffer<word, Space> spilled(space, n);
    u64 *const length = counters.data(), *const illegal = length + 1;
    {
      const buffer<word, Space> entries(space, u64(capacity) * regions);
      const detail::even_bins<word> bins{entries.data(), capacity, fill.data()};
      space.fill(fill.data(), regions, u32(0));
      space.fill(counters.data(), 2, u64(0));
      detail::send_by_blocks(space, route, given.source(), n, bins,
                             detail::spill_list<word>{spilled.data(), length, n}, illegal);
      EXPECT_EQ(*illegal, given.illegal);
      const auto came = fill.to_host();
      EXPECT_EQ(std::accumulate(came.begin(), came.end(), u64(0)), legal);
      u64 too_many = 0;
      for (const u32 c : came) too_many += c > capacity ? c - capacity : 0;
      ASSERT_EQ(*length, too_many);
      auto got = items_in(route, bins, spilled.data(), too_many);
      std::ranges::sort(got);
      EXPECT_TRUE(got == expected);
    }
    {  // a list that is too short is not written beyond its end, and says how long it had to be
      const buffer<word, Space> entries(space, regions);
      const detail::even_bins<word> bins{entries.data(), 1, fill.data()};
      space.fill(fill.data(), regions, u32(0));
      space.fill(counters.data(), 2, u64(0));
      if (n != 0) space.fill(spilled.data(), n, word(0));
      detail::send_by_blocks(space, route, given.source(), n, bins,
                             detail::spill_list<word>{spilled.data(), length, n / 4}, illegal);
      u64 held = 0;
      for (u32 r = 0; r < regions; ++r) held += bins.size(r);
      EXPECT_EQ(*length, legal - held);
      for (u64 i = n / 4; i < n; ++i) ASSERT_TRUE(spilled.data()[i] == 0);
    }
    {  // bins that grow, the last of which has no capacity at first
      buffer<word, Space> entries(space, u64(capacity) * regions);
      buffer<u64, Space> starts;
      detail::uneven_bins<word> bins{{entries.data(), capacity, fill.data()}, regions - 1, 0};
      space.fill(counters.data(), 2, u64(0));
      detail::send_to_bins(space, route, given.source(), n, bins, illegal);
      EXPECT_EQ(bins.size(regions - 1), 0U);
      const bool grew = detail::grow_bins(space, bins, fill.to_host(), entries, starts);
      if (grew) detail::send_to_bins(space, route, given.source(), n, bins, illegal);
      EXPECT_EQ(*illegal, given.illegal * (grew ? 2 : 1));
      auto got = items_in(route, bins, spilled.data(), 0);
      std::ranges::sort(got);
      EXPECT_TRUE(got == expected);
    }
  }
}

TEST(Partition, KeepsItemsOfRuns) {
  using slot_type = remainder_slot<u32, u32>;
  partition_items<slot_type, emulated, route_of_runs<slot_type>>(2);
}

TEST(Partition, KeepsItemsExactly) {
  if (contract::is_asked(0, 2)) {
    partition_items<remainder_slot<u32, u32>, emulated>(5);
    partition_items<remainder_slot<double, i64>, cpu>(3000);
  }
  if (!contract::is_asked(1, 2)) return;
  partition_items<remainder_slot<double, i64>, emulated>(40);
  partition_items<remainder_slot<u32, u32>, cpu>(1);
}

// More regions than a block can count: the items are written one by one.
template <class Space>
void partition_into_too_many() {
  using slot = remainder_slot<double, u32>;
  using word = typename slot::word;
  Space space = make_space<Space>();
  const u64 n = 3000;
  const given_items<slot, Space> given(space, n, u64(1) << 40);
  const u32 regions = static_cast<u32>(detail::most_regions<slot>(space)) + 1;
  const detail::hash_route<slot> route(regions, 5);
  const buffer<word, Space> entries(space, u64(32) * regions);
  const buffer<u32, Space> fill(space, regions);
  const buffer<u64, Space> illegal(space, 1);
  space.fill(illegal.data(), 1, u64(0));
  const detail::even_bins<word> bins{entries.data(), 32, fill.data()};
  detail::send_to_bins(space, route, given.source(), n, bins, illegal.data());
  EXPECT_EQ(*illegal.data(), given.illegal);
  EXPECT_EQ(items_in(route, bins, entries.data(), 0).size(), n - given.illegal);

  // Items of few keys, whose bins are full then; no other bin gets an item.
  const u64 some = 60;
  const given_items<slot, Space> few(space, some, 5);
  std::vector<u32> counts(regions);
  for (u64 i = 0; i < some; ++i)
    if (few.keys[i] == few.keys[i]) ++counts[route.region_of(route.hash(slot::encode(few.keys[i])))];
  for (const u32 capacity : {*std::ranges::max_element(counts), *std::ranges::max_element(counts) - 1}) {
    const buffer<word, Space> own(space, u64(capacity) * regions);
    space.fill(own.data(), own.size(), word(0));
    detail::send_to_bins(space, route, few.source(), some,
                         detail::even_bins<word>{own.data(), capacity, fill.data()}, illegal.data());
    EXPECT_EQ(fill.to_host(), counts);
    for (u32 r = 0; r < regions; ++r) {
      const word* const bin = own.data() + u64(r) * capacity;
      ASSERT_EQ(static_cast<u32>(capacity - std::count(bin, bin + capacity, word(0))),
                std::min(capacity, counts[r]))
          << r;
    }
  }
}

TEST(Partition, ToMoreRegionsThanABlockCanCount) {
  partition_into_too_many<emulated>();
  partition_into_too_many<cpu>();
}

// The items that leave give every key's sum, for any pairs that were combined; and of keys that are all equal one
// leaves each share.
template <class Slot, class Space>
void combine_shares(u32 parts, u64 distinct, u64 several) {
  using word = typename Slot::word;
  using source_type = detail::array_source<Slot>;
  using at_cells = detail::combine_at_cells<Slot, op::sum>;
  using work = detail::partition_in<detail::splitter<Slot>, source_type, Space, detail::even_bins<word>,
                                    detail::spill_list<word>, at_cells>;
  auto sizes = sizes_around(work::share);
  if (several == 1) sizes = {work::share + 1};
  for (const u64 n : sizes) {
    SCOPED_TRACE(std::to_string(n) + " items of " + std::to_string(distinct) + " keys");
    Space space = make_space<Space>();
    const given_items<Slot, Space> given(space, n, distinct);
    std::map<typename Slot::key_type, typename Slot::mapped_type> expected, sums;
    for (u64 i = 0; i < n; ++i)
      if (given.keys[i] == given.keys[i]) expected[given.keys[i]] += given.values[i];
    const detail::splitter<Slot> split(parts, 0);
    const u32 capacity = static_cast<u32>(n / parts / 2 + 1);
    const buffer<word, Space> entries(space, u64(capacity) * parts), spilled(space, n);
    const buffer<u32, Space> fill(space, parts);
    const buffer<u64, Space> counters(space, 3);
    u64 *const length = counters.data(), *const illegal = length + 1, *const sent = length + 2;
    space.fill(fill.data(), parts, u32(0));
    space.fill(counters.data(), 3, u64(0));
    const detail::even_bins<word> bins{entries.data(), capacity, fill.data()};
    detail::send_by_blocks(space, split, given.source(), n, bins,
                           detail::spill_list<word>{spilled.data(), length, n}, illegal,
                           at_cells{op::sum(), sent});
    EXPECT_EQ(*illegal, given.illegal);
    const auto got = items_in(split, bins, spilled.data(), *length);
    EXPECT_EQ(got.size(), *sent);
    EXPECT_LE(got.size(), n - given.illegal);
    if (distinct == 1) {
      EXPECT_EQ(got.size(), detail::divide_up(n, work::share));
    }
    for (const auto& [key, sum] : got) sums[key] += sum;
    EXPECT_TRUE(sums == expected);
  }
}

TEST(Partition, CombinesAShareBeforeItLeaves) {
  combine_shares<remainder_slot<u32, u32>, emulated>(64, 900, 1);
  combine_shares<remainder_slot<double, i64>, emulated>(9, 20'000, 6);
  combine_shares<slot<u64, u32>, emulated>(64, 1, 1);
  combine_shares<remainder_slot<u32, u32>, cpu>(64, 900, 6);
  combine_shares<remainder_slot<double, i64>, cpu>(9, 20'000, 6);
  combine_shares<slot<u32, u32>, cpu>(4096, 1, 6);
}

// In a bin that keeps the order, the first entry of a key is its first item, and all follow each other. Only one
// of a share's items of a key is sent.
template <class Slot, class Space>
void partition_in_order(u64 n, u32 regions, which_key which, u64 least_dropped = 0) {
  SCOPED_TRACE(std::to_string(n) + " items, " + std::to_string(regions) + " regions");
  using word = typename Slot::word;
  using key = typename Slot::key_type;
  using route_type = detail::hash_route<Slot>;
  using routed = detail::routed_item<Slot>;
  using before = detail::before_ordered_bins<Slot, Space>;
  Space space = make_space<Space>();
  given_items<Slot, Space> given(space, n, n);
  std::unordered_map<key, u64> first;
  for (u64 i = 0; i < n; ++i) {
    given.k.data()[i] = static_cast<key>(mix64(which(i, n)));
    first.try_emplace(given.k.data()[i], i + 1);  // (values are 1 and the number)
  }
  const route_type route(regions, 5);
  const u32 capacity = static_cast<u32>(3 * n / regions);
  const buffer<u32, Space> fill(space, regions);
  const buffer<u64, Space> counters(space, 2);
  const buffer<word, Space> entries(space, u64(capacity) * regions);
  space.fill(fill.data(), regions, u32(0));
  space.fill(counters.data(), 2, u64(0));
  std::unordered_map<key, u64> last;
  u64 came = 0, wrong = 0;
  const auto check = [&](u64 number, auto hash) {
    const key its = given.k.data()[number - 1];
    ++came;
    const auto [at, is_first] = last.try_emplace(its, number);
    wrong +=
        hash != route.hash(Slot::encode(its)) || (is_first ? number != first.at(its) : number <= at->second);
    at->second = number;
  };
  const auto check_all = [&] {
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(last.size(), first.size());
    EXPECT_LE(came, n - least_dropped);
    EXPECT_TRUE(Space::has_lanes || came == n);
    came = wrong = 0;
    last.clear();
  };
  const detail::spill_list<word> none{nullptr, counters.data(), 0};
  {
    using bins_type = detail::ordered_bins<Slot>;
    const bins_type bins{{entries.data(), capacity, fill.data()}, bins_type::block_bits_for(regions)};
    detail::send_by_blocks(space, route, given.source(), n, bins, none, counters.data() + 1, before());
    u64 blocks = 0;
    for (u32 r = 0; r < regions; ++r) {
      const auto items = bins.items_of(route.first_of(r));
      std::vector<std::pair<u32, u32>> order;
      for (u32 i = 0; i < bins.size(r); ++i) {
        order.emplace_back(items.order_of(bins.at(r)[i], i), i);
        blocks = std::max(blocks, u64(items.block_of(bins.at(r)[i])) + 1);
      }
      std::ranges::sort(order);
      for (const auto& [at, i] : order) check(routed::value_of(bins.at(r)[i]), items.hash_of(bins.at(r)[i]));
    }
    check_all();
    EXPECT_GT(blocks, 1U);  // else it says little
  }
  {  // each block has a part of a bin for itself
    const u32 blocks = static_cast<u32>(std::min<u64>(space.large_blocks_at_once(), 4));
    const buffer<u32, Space> parts(space, u64(blocks) * regions);
    space.fill(parts.data(), parts.size(), u32(0));
    const detail::bins_of_parts<word> bins{entries.data(), capacity, regions - 1,
                                           capacity,       blocks,   parts.data()};
    detail::send_by_blocks(space, route, given.source(), n, bins, none, counters.data() + 1, before());
    const auto sizes = parts.to_host();
    for (u32 r = 0; r < regions; ++r) {
      u32 most = 0;
      for (u32 b = 0; b < blocks; ++b) most = std::max(most, sizes[b * regions + r]);
      const detail::parts_source<Slot> source{bins, r, most};
      for (u64 i = 0; i < source.size(); ++i) {
        const auto x = source(i);
        if (x.valid) check(x.value, x.key.bits);
      }
    }
    check_all();
  }
  EXPECT_EQ(counters.data()[0], 0U);
}
TEST(Partition, KeepsOrder) {
  using narrow_slot = remainder_slot<u32, u32>;
  using wide_slot = remainder_slot<u64, u64>;
  u64 number = 0;
  for (const auto& [which, dropped] : {std::pair<which_key, u64>(random_key<1'000'000>, 0),
                                       {twice<1>, 2},  // every second item
                                       {one_key_often<2>, 4}}) {
    if (!contract::is_asked(number++, 3)) continue;
    const auto least = [d = dropped](u64 n) { return d == 0 ? 0 : n / d; };
    // blocks of several shares
    partition_in_order<narrow_slot, emulated>(37'000, 9, which, least(37'000));
    if (small() && which == twice<1>) continue;
    partition_in_order<wide_slot, emulated>(19'000, 700, which, least(19'000));
    if (dropped == 4) continue;  // its bin would be too small for all
    partition_in_order<narrow_slot, cpu>(200'000, 9, which);
    partition_in_order<wide_slot, cpu>(100'000, 40, which);
  }
}

}  // namespace
}  // namespace tilehash::designs_test
