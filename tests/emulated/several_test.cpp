// SPDX-License-Identifier: Apache-2.0
// Routes of several ranks by a GPU's lanes: every item goes to its owner, in order.
#include <algorithm>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <contract/random.hpp>
#include <emulated/emulated.hpp>
#include <tilehash/map.hpp>
#include <tilehash/several/distributed.hpp>
#include <tilehash/several/frequent.hpp>
#include <tilehash/several/route.hpp>
#include <tilehash/several/threads.hpp>
#include <tilehash/several/windows.hpp>

namespace tilehash::contract {
namespace {

// The keys below `frequents` are frequent, and are sent once with the value that is given here.
void expect_routed(emulated& space, u32 ranks, u32 n, u32 frequents, random_numbers& random) {
  const u32 all = n + frequents;
  std::vector<u32> keys(n), values(n), routed_keys(all), routed_values(all), positions(all);
  for (u32 i = 0; i < n; ++i) keys[i] = static_cast<u32>(random.below(n / 2 + 1)), values[i] = i;
  detail::frequent_items<u32, u32, emulated> often{buffer<u32, emulated>(space, frequents),
                                                   buffer<u32, emulated>(space, frequents)};
  for (u32 f = 0; f < frequents; ++f) often.keys.data()[f] = f, often.values.data()[f] = n + f;
  detail::routing<u32, u32, emulated> route(space, keys.data(), values.data(), n, ranks, often);
  const auto key_of = [&](u32 i) { return i < n ? keys[i] : i - n; };
  std::vector<std::vector<u32>> expected(ranks);
  for (u32 i = 0; i < all; ++i)
    if (i >= n || keys[i] >= frequents)
      expected[several::rank_of(several::shard_of(key_of(i)), ranks)].push_back(i);
  route.send(space, {routed_keys.data(), routed_values.data(), positions.data()});
  u32 at = 0;
  for (u32 r = 0; r < ranks; ++r) {
    ASSERT_EQ(route.counts()[r], expected[r].size());
    for (const u32 i : expected[r]) {
      ASSERT_EQ(routed_values[at], i) << "rank " << r << " of " << ranks;
      ASSERT_EQ(routed_keys[at], key_of(i));
      ASSERT_EQ(positions[i], at);
      ++at;
    }
  }
  std::vector<u32> out(n);
  space.for_each(n, detail::return_answers<u32>{routed_keys.data(), positions.data(), n, out.data()});
  EXPECT_EQ(out, keys);
}

TEST(SeveralRoutes, ItemsGoToTheirOwnersInOrder) {
  emulated space({.seed = 3});
  random_numbers random("routes");
  for (const u32 ranks : {1, 2, 3, 31, 32, 33, 4096})
    for (const u32 n : {0, 1, 31, 32, 33, 1000, 5003})
      for (const u32 frequents : {0, 3}) expect_routed(space, ranks, n, frequents, random);
}
// So many items that blocks take tiles of them.
TEST(SeveralRoutes, TilesGoToTheirOwnersInOrder) {
  random_numbers random("tiles");
  for (const u64 seed : {3, 4}) {
    emulated space({.seed = seed});
    for (const u32 ranks : {2, 3, 31, 32})
      for (const u32 frequents : {0, 3})
        expect_routed(space, ranks, 8192 + static_cast<u32>(random.below(4096)), frequents, random);
  }
}

// Pushes a rank's items to windows. Each part has capacity for so many items.
struct pushed_items {
  emulated& space;
  u32 ranks, capacity;
  std::vector<u32> keys, values;
  detail::frequent_items<u32, u32, emulated> often;
  std::vector<u32> window_keys, window_values, counters, positions;

  template <bool WithValues, bool Frequent>
  void push() {
    using places_type = detail::window_places<u32, u32>;
    using body = detail::route_by_blocks<u32, u32, WithValues, Frequent, places_type>;
    const u64 n = keys.size() + often.size();
    window_keys.assign(u64(ranks) * capacity, 0);
    window_values.assign(u64(ranks) * capacity, 0);
    counters.assign(ranks, 0);
    positions.assign(n, 0);
    places_type places;
    for (u32 r = 0; r < ranks; ++r) {
      const u64 first = u64(r) * capacity;
      places.to[r] = {window_keys.data() + first, WithValues ? window_values.data() + first : nullptr,
                      capacity, static_cast<u32>(first)};
    }
    places.counters = counters.data();
    places.answers_at = positions.data();
    const detail::route_of<u32, u32> all{keys.data(),
                                         values.data(),
                                         keys.size(),
                                         often.keys.data(),
                                         often.values.data(),
                                         often.size(),
                                         ranks,
                                         0,
                                         0,
                                         nullptr,
                                         {}};
    space.for_each_block(detail::divide_up(n, body::tile_items), body::block_size, body::scratch_bytes,
                         body{all, places});
    expect_pushed<WithValues>(all);
  }
  template <bool WithValues>
  void expect_pushed(const detail::route_of<u32, u32>& all) const {
    std::vector<u32> sent(ranks, 0);
    std::vector<bool> taken(window_keys.size(), false);
    for (u32 i = 0; i < all.size(); ++i) {
      const u32 owner = all.owner(i, all.key(i));
      if (owner == ranks) {
        ASSERT_EQ(positions[i], ~all.frequent(all.key(i)));
        continue;
      }
      ++sent[owner];
      ASSERT_EQ(positions[i] / capacity, owner);
      if (counters[owner] > capacity) continue;
      ASSERT_FALSE(taken[positions[i]]);
      taken[positions[i]] = true;
      ASSERT_EQ(window_keys[positions[i]], all.key(i));
      if constexpr (WithValues) {
        ASSERT_EQ(window_values[positions[i]], all.value(i));
      }
    }
    ASSERT_EQ(counters, sent);
  }
};
TEST(SeveralRoutes, WindowsGetAllItemsThatFit) {
  random_numbers random("windows");
  emulated space({.seed = 5});
  u32 too_many = 0;
  for (const u32 ranks : {2, 3, 32})
    for (const u32 n : {1, 33, 5003})
      for (const u32 frequents : {0, 3})
        for (const u32 capacity : {n / ranks + 8, n + 64}) {
          pushed_items items{space, ranks, capacity, std::vector<u32>(n), std::vector<u32>(n), {}, {},
                             {},    {},    {}};
          for (u32 i = 0; i < n; ++i) items.keys[i] = static_cast<u32>(random.below(n)), items.values[i] = i;
          items.often = {buffer<u32, emulated>(space, frequents), buffer<u32, emulated>(space, frequents)};
          for (u32 f = 0; f < frequents; ++f)
            items.often.keys.data()[f] = f, items.often.values.data()[f] = n + f;
          frequents == 0 ? items.push<true, false>() : items.push<true, true>();
          frequents == 0 ? items.push<false, false>() : items.push<false, true>();
          for (const u32 sent : items.counters) too_many += sent > capacity;
        }
  EXPECT_GT(too_many, 0U);
}
// Two ranks, each on an emulated GPU of its own and in a thread.
class emulated_ranks : public several::thread_ranks::member<> {
 public:
  using several::thread_ranks::member<>::member;
  bool windows = false;
  bool has_windows() const { return windows; }
  void fence() { meet("fence"); }
};
TEST(SeveralRoutes, TablesOfTwoRanksAnswer) {
  for (const bool windows : {false, true}) {
    several::thread_ranks all(2);
    std::vector<std::thread> threads;
    for (u32 rank = 0; rank < 2; ++rank)
      threads.emplace_back([&, rank] {
        emulated space({.seed = 7 + rank});
        emulated_ranks exchange(all, rank);
        exchange.windows = windows;
        several::distributed<map<u32, u32, emulated>, emulated_ranks> table(space, exchange);
        const buffer<u32, emulated> all_keys(space, 4000);
        const buffer<u8, emulated> found(space, 4000);
        for (u32 i = 0; i < all_keys.size(); ++i) all_keys.data()[i] = i;
        for (const u32 n : {0U, 33U, 3000U}) {
          const buffer<u32, emulated> keys(space, n), out(space, n);
          for (u32 i = 0; i < n; ++i) keys.data()[i] = i + 1000 * rank;
          const u64 expected = n == 0 ? 0 : n == 33 ? 66 : 4000;
          EXPECT_EQ(table.build(space, keys.span(), keys.span()).inserted, expected);
          const auto owned = [&](u32 key) {
            return table.owner(key) == rank && (key < n || (key >= 1000 && key < 1000 + n));
          };
          table.local().contains(space, all_keys.span(), found.span());
          for (u32 key = 0; key < all_keys.size(); ++key) ASSERT_EQ(found.data()[key], u8(owned(key)));
          if (windows) continue;  // an emulated GPU does not write to another one's memory
          table.find_or(space, keys.span(), out.span(), 7);
          EXPECT_EQ(out.to_host(), keys.to_host());
        }
      });
    for (std::thread& t : threads) t.join();
  }
}
// The parts of a window become one array: no item is lost.
TEST(SeveralRoutes, HolesBetweenPartsAreClosed) {
  random_numbers random("holes");
  emulated space({.seed = 6});
  for (u32 turn = 0; turn < 200; ++turn) {
    const u32 parts = 1 + static_cast<u32>(random.below(5));
    std::vector<u64> firsts, counts;
    std::vector<u32> keys, expected;
    u64 all = 0;
    for (u32 r = 0; r < parts; ++r) {
      const u64 capacity = random.below(100);
      firsts.push_back(keys.size());
      counts.push_back(random.one_in(4) ? random.below(2) * capacity : random.below(capacity + 1));
      for (u64 i = 0; i < capacity; ++i) {
        keys.push_back(i < counts[r] ? static_cast<u32>(random()) : 0);
        if (i < counts[r]) expected.push_back(keys.back());
      }
      all += counts[r];
    }
    std::vector<u32> values = keys;
    const detail::item_holes holes(firsts, counts, all);
    space.for_each(holes.items, detail::close_holes<u32, u32>{holes, keys.data(), values.data()});
    EXPECT_EQ(keys, values);
    keys.resize(all);
    std::sort(keys.begin(), keys.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(keys, expected);
  }
}
TEST(SeveralRoutes, CountsAbsentKeys) {
  emulated space({.seed = 3});
  random_numbers random("absent");
  for (const u64 n : {0, 1, 31, 33, 1000}) {
    std::vector<u8> flags(n);
    for (u8& f : flags) f = random.one_in(3) ? 0 : 1;
    EXPECT_EQ(detail::count_absent(space, flags.data(), n), u64(std::count(flags.begin(), flags.end(), 0)));
  }
}

}  // namespace
}  // namespace tilehash::contract
