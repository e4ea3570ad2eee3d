// What the contract tests of the toys (tests/toys/) do not ask: of the things that these designs are there to
// show, does each happen?
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <contract/cpu.hpp>
#include <contract/keys.hpp>
#include <tilehash/table.hpp>
#include <toys/toy_signpost.hpp>
#include <toys/toy_swapper.hpp>

namespace tilehash {
namespace {

using contract::faulty_host;
using contract::ground;
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
  // All of these are there, with their keys for values, and nothing else is.
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
  std::shuffle(k.begin(), k.end(), std::mt19937_64(n));
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
TEST(toy_swapper, many_keys_in_hand) {
  const keys k = some_keys(scaled(300'000, 60'000));
  toy_table<toy_swapper<u32, u32, 1>> t(k.size(), {.load_factor = 0.75, .grow = false});
  EXPECT_EQ(t.table.insert(t.space, k, k).refused, 0U);
  t.expect_holds(k);
}

// Where there is no memory for them, the call says so, and the table answers for all others.
TEST(toy_swapper, what_is_lost_is_said) {
  toy_table<toy_swapper<u32, u32, 1>> t(5'000, {.load_factor = 0.75, .grow = false});
  const keys k = some_keys(5'000);
  t.memory.refuse_after(3);  // the bits and the list are allocated before
  std::string said;
  try {
    t.memory.guarded([&] { std::ignore = t.table.insert(t.space, k, k); });
  } catch (const error& e) {
    said = e.what();
  }
  t.memory.refuse_after(faulty_host::never);
  EXPECT_NE(said.find("not in the table any more"), std::string::npos) << said;
  EXPECT_LT(t.table.size(), k.size());
  keys held;
  const values found = t.find(k, 1);
  std::ranges::copy_if(found, std::back_inserter(held), [](u32 x) { return x != 1; });
  t.expect_holds(held);
}

}  // namespace
}  // namespace tilehash
