// SPDX-License-Identifier: Apache-2.0
// The contract tests of the toys (tests/toys/) do not check this: each of the things that these designs are meant
// to show happens.
// length: a few tests of each toy, which share their helpers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <contract/cpu.hpp>
#include <contract/keys.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/papers/mega_kv.hpp>
#include <tilehash/table.hpp>
#include <toys/toy_signpost.hpp>
#include <toys/toy_swapper.hpp>

namespace tilehash {
namespace {

using contract::faulty_host;
using contract::ground;
using contract::run_seed;
using contract::scaled;
using toys::toy_signpost;
using toys::toy_swapper;
using keys = std::vector<u32>;
using values = std::vector<u32>;

keys some_keys(u64 n, u32 first = 0) {
  keys k(n);
  for (u64 i = 0; i < n; ++i) k[i] = mix32(first + static_cast<u32>(i));
  return k;
}

void expect_counts(const insert_report& report, const std::vector<outcome>& became) {
  const auto times = [&](outcome o) { return static_cast<u64>(std::ranges::count(became, o)); };
  EXPECT_EQ(report.inserted, times(outcome::inserted));
  EXPECT_EQ(report.present, times(outcome::present));
  EXPECT_EQ(report.refused, times(outcome::refused));
}

template <class Design>
class toy_table {
 public:
  toy_table(u64 items, table_options options) : table(ground_.space, items, options) {}

  values find(const keys& k, u32 missing) {
    values v(k.size());
    table.find_or(space, k, v, missing);
    return v;
  }
  std::vector<u32> probe_counts(const keys& k) {
    std::vector<u32> n(k.size());
    table.probe_counts(space, k, n);
    return n;
  }
  // All of these are present, with their keys for values, and nothing else is.
  void expect_holds(const keys& k) {
    EXPECT_EQ(table.size(), k.size());
    EXPECT_EQ(find(k, 1), k);
    keys out(table.size());
    values beside(table.size());
    ASSERT_EQ(table.retrieve_all(space, out, beside), k.size());
    EXPECT_EQ(out, beside);
    keys sorted = k;
    std::ranges::sort(sorted);
    std::ranges::sort(out);
    EXPECT_EQ(out, sorted);
  }
  // The report of call(), which may allocate so many times and no more; none where it threw.
  template <class Call>
  std::optional<insert_report> with_allocations(u64 allocations, Call call) {
    std::optional<insert_report> report;
    memory.refuse_after(allocations);
    memory.guarded([&] {
      try {
        report = call();
      } catch (const out_of_memory&) {
      }
    });
    memory.refuse_after(faulty_host::never);
    return report;
  }
  // Keys that were refused are absent, and no others. Those that were inserted join `held`.
  void expect_outcomes(const keys& k, const std::vector<outcome>& became, keys& held) {
    const values found = find(k, 1);
    for (u64 i = 0; i < k.size(); ++i) {
      EXPECT_EQ(became[i] == outcome::refused, found[i] == 1) << i;
      if (became[i] == outcome::inserted) held.push_back(k[i]);
    }
  }
  // Calls insert(outcomes) of keys k, which may allocate so many times and no more: each outcome is right, the
  // keys in `held` stay, and with memory all others come. Returns how many items were refused.
  template <class Insert>
  u64 refused_without_memory(const keys& k, keys held, u64 allocations, const Insert& insert) {
    std::vector<outcome> became(k.size(), static_cast<outcome>(0xee));
    const auto report = with_allocations(allocations, [&] { return insert(became); });
    if (report) {
      expect_outcomes(k, became, held);
      expect_counts(*report, became);
    }
    expect_holds(held);
    EXPECT_EQ(table.insert(space, k, k).refused, 0U);
    return report ? report->refused : 0;
  }

 private:
  ground<cpu, faulty_host> ground_{2};

 public:
  cpu& space = ground_.space;
  faulty_host& memory = ground_.memory;
  tilehash::table<Design, cpu> table;
};

// The key that a signpost looks like, and others that share its bucket: they fill it first.
keys crowd(const toy_signpost<u32, u32>& design, u64 n) {
  const u32 lookalike = u32(1) << 31;
  keys k;
  for (u32 i = 0; k.size() < n; ++i) {
    const u32 key = mix32(i);
    if (key != lookalike && design.locate(key).bucket == design.locate(lookalike).bucket) k.push_back(key);
  }
  k.push_back(lookalike);
  return k;
}

TEST(toy_signpost, a_key_that_looks_like_a_signpost) {
  for (const u64 n : {u64(3), u64(7), u64(8), u64(12)}) {
    SCOPED_TRACE(n);
    toy_table<toy_signpost<u32, u32>> t(1'000, {.load_factor = 0.25, .grow = false});
    const keys k = crowd(t.table.view().design, n), lookalike = {k.back()};
    for (const u32 key : k) EXPECT_EQ(t.table.insert(t.space, keys{key}, values{key}).inserted, 1U);
    EXPECT_EQ(t.probe_counts(lookalike)[0], n < 7 ? 1U : 2U);
    t.expect_holds(k);

    EXPECT_EQ(t.table.insert_or_apply(t.space, lookalike, values{5}, op::sum{}).present, 1U);
    EXPECT_EQ(t.find(lookalike, 1), values{k.back() + 5});
    EXPECT_EQ(t.table.insert_or_assign(t.space, lookalike, lookalike).present, 1U);
    t.expect_holds(k);
    EXPECT_EQ(t.table.erase(t.space, lookalike), 1U);
    t.expect_holds(keys(k.begin(), k.end() - 1));
    EXPECT_EQ(t.table.insert_or_assign(t.space, lookalike, lookalike).inserted, 1U);
    t.expect_holds(k);
  }
}

TEST(toy_signpost, no_more_than_two_buckets_for_a_key) {
  toy_table<toy_signpost<u32, u32>> t(1'000, {.load_factor = 0.25, .grow = false});
  const keys k = crowd(t.table.view().design, 20);
  std::vector<outcome> became(k.size());
  EXPECT_EQ(t.table.insert(t.space, k, k, became).inserted, 15U);
  EXPECT_EQ(std::ranges::count(became, outcome::refused), 6);
  EXPECT_EQ(t.table.size(), 15U);
}

TEST(toy_signpost, without_waiting) {
  toy_table<toy_signpost<u32, u32>> t(20'000, {.load_factor = 0.25, .seed = 1, .grow = false});
  const keys k = some_keys(20'000);
  const auto two = t.probe_counts(k);
  EXPECT_EQ(std::ranges::count(two, 2U), 0);
  insert_report first, second;
  t.table.insert_async(t.space, k, k, &first);
  t.table.insert_or_apply_async(t.space, k, k, op::maximum{}, &second);
  t.expect_holds(k);
  EXPECT_EQ(first, insert_report{.inserted = k.size()});
  EXPECT_EQ(second, insert_report{.present = k.size()});
  EXPECT_GT(std::ranges::count(t.probe_counts(k), 2U), 0);
}

// Each key comes often, in a call that makes many others move.
template <class Design>
void sum_up(u64 n, bool grow) {
  toy_table<Design> t(grow ? 0 : n, {.load_factor = Design::max_load_factor, .grow = grow});
  const keys distinct = some_keys(n);
  keys k;
  for (u32 copies = 0; copies < 4; ++copies) k.insert(k.end(), distinct.begin(), distinct.end());
  std::shuffle(k.begin(), k.end(), std::mt19937_64(run_seed()));
  u32 times = 0;
  for (int round = 0; round < 2; ++round) {
    const auto report = t.table.insert_or_apply(t.space, k, values(k.size(), 1), op::sum{});
    times += 4;
    EXPECT_EQ(report.inserted, round == 0 ? n : 0);
    EXPECT_EQ(report.refused, 0U);
    EXPECT_EQ(t.find(distinct, 0), values(n, times));
  }
}
TEST(toys, values_change_when_no_key_moves) {
  for (const bool grow : {false, true}) {
    sum_up<toy_signpost<u32, u32>>(scaled(20'000, 5'000), true);
    sum_up<toy_swapper<u32, u32>>(scaled(20'000, 5'000), grow);
    sum_up<toy_swapper<u32, u32, 12>>(scaled(20'000, 5'000), grow);
  }
}

TEST(toy_swapper, keys_stand_in_both_buckets) {
  toy_table<toy_swapper<u32, u32>> t(20'000, {.load_factor = 0.75, .grow = false});
  const keys k = some_keys(20'000);
  EXPECT_EQ(t.table.insert(t.space, k, k), insert_report{.inserted = k.size()});
  EXPECT_GT(std::ranges::count(t.probe_counts(k), 2U), 2'000);
  t.expect_holds(k);
}

// With few tries many a key is in hand when they are over.
TEST(toy_swapper, no_key_is_lost) {
  for (const bool grow : {false, true}) {
    toy_table<toy_swapper<u32, u32, 2>> t(grow ? 0 : 5'000, {.load_factor = 0.75, .grow = grow});
    keys all;
    u64 restarts = 0;
    for (u32 round = 0; round < 10; ++round) {
      const keys k = some_keys(500, 500 * round);
      all.insert(all.end(), k.begin(), k.end());
      const auto report = t.table.insert(t.space, k, k);
      EXPECT_EQ(report.inserted, k.size());
      restarts += report.restarts;
      t.expect_holds(all);
    }
    EXPECT_GT(restarts, 0U);
  }
}

// ... nor one that lost its place to another in a call whose op throws.
TEST(toy_swapper, no_key_is_lost_when_an_op_throws) {
  const keys k = some_keys(5'000), held = keys(k.begin(), k.begin() + 2'500);
  for (const u32 call : {1U, 2U, 100U, 2'500U}) {
    SCOPED_TRACE(call);
    toy_table<toy_swapper<u32, u32, 2>> t(k.size(), {.load_factor = 0.75, .grow = false});
    ASSERT_EQ(t.table.insert(t.space, held, held).inserted, held.size());
    std::atomic<u32> calls = 0;
    const auto throws = [&](u32 stored, u32 /*given*/) {
      if (++calls == call) throw call;
      return stored;
    };
    EXPECT_THROW(std::ignore = t.table.insert_or_apply(t.space, k, k, throws), u32);
    const values found = t.find(k, 1);
    EXPECT_TRUE(std::ranges::equal(held, std::span(found).first(held.size())));
    EXPECT_EQ(t.table.size(), k.size() - static_cast<u64>(std::ranges::count(found, 1U)));
    EXPECT_EQ(t.table.insert(t.space, k, k).refused, 0U);
    t.expect_holds(k);
  }
}

// More of them than the list takes: what did not begin gets its turn in the new table.
TEST(toy_swapper, many_keys_evicted) {
  const keys k = some_keys(scaled(300'000, 60'000));
  toy_table<toy_swapper<u32, u32, 1>> t(k.size(), {.load_factor = 0.75, .grow = false});
  EXPECT_EQ(t.table.insert(t.space, k, k).refused, 0U);
  t.expect_holds(k);
}

// Where there is no memory for them, new keys are refused, each item by name, and no other is lost.
TEST(toy_swapper, no_key_is_lost_without_memory) {
  const u64 n = scaled(4'000, 1'000);
  u64 refused = 0;
  for (u64 allocations = 0; allocations < 5; ++allocations) {
    SCOPED_TRACE(allocations);
    toy_table<toy_swapper<u32, u32, 1>> t(2 * n, {.load_factor = 0.75, .grow = false});
    const keys fresh = some_keys(n, static_cast<u32>(n));
    keys held = some_keys(n), k = fresh;
    EXPECT_EQ(t.table.insert(t.space, held, held).inserted, n);
    k.insert(k.end(), held.begin(), held.begin() + 100);    // that are present
    k.insert(k.end(), fresh.begin(), fresh.begin() + 100);  // that come twice
    refused += t.refused_without_memory(k, held, allocations, [&](std::vector<outcome>& became) {
      return t.table.insert(t.space, k, k, became);
    });
  }
  EXPECT_GT(refused, 0U);
}

// Keys by kernel/exact_placement.hpp alone: each finds a place where there are places for it and all before,
// as a search on the host says, which records each key's slot.
template <class Design>
class slot_model {
 public:
  explicit slot_model(const Design& design)
      : design_(design), held_(design.capacity() / Design::bucket_slots) {}
  bool put(u32 key) {
    std::vector<bool> seen(held_.size());
    return put(key, seen);
  }

 private:
  static constexpr u64 capacity = [] {
    if constexpr (requires { Design::item_slots; })
      return u64(std::popcount(Design::item_slots));
    else
      return u64(Design::bucket_slots);
  }();
  bool put(u32 key, std::vector<bool>& seen) {
    auto p = design_.locate(key);
    for (u32 step = 1;; ++step) {
      if (const u64 b = design_.where(p); !seen[b]) {
        seen[b] = true;
        if (held_[b].size() < capacity) {
          held_[b].push_back(key);
          return true;
        }
        for (u32& other : held_[b]) {
          if (!put(other, seen)) continue;
          other = key;
          return true;
        }
      }
      if (step >= design_.max_steps()) return false;
      if constexpr (requires { design_.next(p); })
        design_.next(p);
      else
        design_.advance(p, step);
    }
  }
  const Design& design_;
  std::vector<keys> held_;
};
template <class Design>
void place_all_that_can_be(u64 items, u64 offered) {
  for (u32 round = 0; round < 2; ++round) {
    toy_table<Design> t(items, {.load_factor = 0.75, .seed = round, .grow = false});
    const Design& design = t.table.view().design;
    const u64 buckets = design.capacity() / Design::bucket_slots;
    const detail::exact_placement<Design> exact{design, design.marks(), 0, buckets};
    slot_model<Design> model(design);
    // More keys of a few buckets than of others, so that some find no slot although slots are free.
    keys k;
    for (u32 i = 0; k.size() < offered; ++i) {
      const u32 key = mix32(1'000'000 * round + i);
      if (design.where(design.locate(key)) < 2 || i % 4 == 0) k.push_back(key);
    }
    keys held;
    for (const u32 key : k) {
      const bool placed = exact.put(key, key);
      ASSERT_EQ(placed, model.put(key)) << Design::name << ", " << held.size() << " keys";
      if (placed) held.push_back(key);
    }
    EXPECT_EQ(t.find(held, 1), held);
    EXPECT_LT(held.size(), k.size());
  }
}
TEST(exact_placement, finds_each_place_that_there_is) {
  place_all_that_can_be<toy_swapper<u32, u32>>(100, 160);
  place_all_that_can_be<papers::mega_kv<u32, u32>>(80, 120);
  place_all_that_can_be<tiled<u32, u32>>(300, 700);
  place_all_that_can_be<robin_hood<u32, u32>>(200, 1'100);
}

// The buckets in which a key may be stored, in order.
template <class Design>
std::vector<u64> buckets_of(const Design& design, u32 key) {
  std::vector<u64> all;
  auto p = design.locate(key);
  for (u32 step = 1;; ++step) {
    all.push_back(design.where(p));
    if (step >= design.max_steps()) break;
    if constexpr (requires { design.next(p); })
      design.next(p);
    else
      design.advance(p, step);
  }
  std::ranges::sort(all);
  return all;
}
// Keys of the same few buckets, more than these have slots.
template <class Design>
keys crowd_of(const Design& design, u64 n) {
  keys k = {12'345};
  const auto first = buckets_of(design, k[0]);
  for (u32 i = 0; k.size() < n; ++i) {
    const u32 key = mix32(i);
    if (key != k[0] && buckets_of(design, key) == first) k.push_back(key);
  }
  return k;
}
// ... of the first buckets, any of these.
template <class Design>
keys crowd_of_first(const Design& design, u64 buckets, u64 n) {
  keys k;
  for (u32 i = 0; k.size() < n; ++i)
    if (buckets_of(design, mix32(i)).back() < buckets) k.push_back(mix32(i));
  return k;
}
// Some of them are in the table; the others, some twice, and the first ones again come without memory for a
// new table, in which all would find a place. The items in the table stay, and each item's outcome is right.
template <class Design>
void crowd_without_memory(u64 items, u64 crowded) {
  SCOPED_TRACE(Design::name);
  u64 refused = 0;
  const table_options options{.load_factor = Design::max_load_factor * 0.9, .seed = 1, .grow = false};
  const keys all = crowd_of(toy_table<Design>(items, options).table.view().design, crowded);
  for (const bool applies : {false, true}) {
    for (u64 allocations = 0; allocations < 4; ++allocations) {
      SCOPED_TRACE(allocations);
      toy_table<Design> t(items, options);
      keys held(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(crowded / 2)), k = all;
      k.insert(k.end(), all.end() - 10, all.end());
      const keys others = some_keys(items / 3);
      held.insert(held.end(), others.begin(), others.end());
      std::ranges::sort(held);
      held.erase(std::ranges::unique(held).begin(), held.end());
      ASSERT_EQ(t.table.insert(t.space, held, held).refused, 0U);
      refused += t.refused_without_memory(k, held, allocations, [&](std::vector<outcome>& became) {
        return applies ? t.table.insert_or_apply(t.space, k, k, op::maximum{}, became)
                       : t.table.insert(t.space, k, k, became);
      });
    }
  }
  EXPECT_GT(refused, 0U) << "all found a place";
}
// A few of these at a time, until there is a slot for no other, without memory for a new table: the last ones
// need the only ways that there are, which tries at random do not find.
template <class Design>
void crowd_until_none_fits(u64 items, u64 slots, const auto& crowd) {
  SCOPED_TRACE(Design::name);
  const table_options options{.load_factor = Design::max_load_factor * 0.9, .seed = 1, .grow = false};
  const keys all = crowd(toy_table<Design>(items, options).table.view().design);
  for (u64 allocations = 0, done = 0; done == 0;
       ++allocations) {  // until the list of those in hand has memory
    SCOPED_TRACE(allocations);
    ASSERT_LT(allocations, 10U);
    toy_table<Design> t(items, options);
    keys held;
    bool threw = false;
    for (const u64 at_once : {u64(9), u64(1)}) {
      for (u64 i = 0; i < all.size() && !threw; i += at_once) {
        const keys k(all.begin() + static_cast<std::ptrdiff_t>(i),
                     all.begin() + static_cast<std::ptrdiff_t>(std::min<u64>(i + at_once, all.size())));
        std::vector<outcome> became(k.size(), static_cast<outcome>(0xee));
        const auto report =
            t.with_allocations(allocations, [&] { return t.table.insert(t.space, k, k, became); });
        threw = !report;
        if (report) {
          t.expect_outcomes(k, became, held);
          EXPECT_EQ(report->restarts, 0U);
        }
        ASSERT_NO_FATAL_FAILURE(t.expect_holds(held));
      }
    }
    if (threw) continue;
    done = 1;
    EXPECT_EQ(held.size(), slots) << "slots are free, and keys were refused";
    EXPECT_EQ(t.table.insert(t.space, all, all).refused, 0U) << "with memory";
    t.expect_holds(all);
  }
}
TEST(keys_that_crowd, find_the_only_ways) {
  const auto of_first = [](u64 buckets, u64 n) {
    return [=](const auto& design) { return crowd_of_first(design, buckets, n); };
  };
  crowd_until_none_fits<toy_swapper<u32, u32, 1>>(600, 24 * 7, of_first(24, 210));
  crowd_until_none_fits<toy_swapper<u32, u32, 2>>(600, 24 * 7, of_first(24, 210));
  crowd_until_none_fits<papers::mega_kv<u32, u32>>(600, 10 * 8, of_first(10, 90));
  crowd_until_none_fits<robin_hood<u32, u32>>(900, 15 * 8,
                                              [](const auto& design) { return crowd_of(design, 130); });
}
TEST(keys_that_crowd, are_not_lost_without_memory) {
  crowd_without_memory<papers::mega_kv<u32, u32>>(100, 24);
  crowd_without_memory<robin_hood<u32, u32>>(900, 130);
  crowd_without_memory<toy_swapper<u32, u32>>(100, 20);
}

}  // namespace
}  // namespace tilehash
