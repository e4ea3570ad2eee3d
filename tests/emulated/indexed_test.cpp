// SPDX-License-Identifier: Apache-2.0
// Rows behind a table of ids, under the GPU's schedule, compared with std::map.
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/engine/records.hpp>

#include <array>
#include <map>
#include <set>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

using wide = std::array<u64, 3>;
using block = std::array<u32, 5>;

struct add_blocks {
  TILEHASH_FN block operator()(const block& a, const block& b) const {
    block c{};
    for (u32 i = 0; i < 5; ++i) c[i] = a[i] + b[i];
    return c;
  }
};

// Given values may be combined before they are applied.
struct add_blocks_first : add_blocks {
  static constexpr bool is_associative = true;
};
// Counts its calls, so given values may not be combined.
struct add_and_count {
  TILEHASH_FN block operator()(const block& a, const block& b) const {
    block c = add_blocks{}(a, b);
    c[4] = a[4] + 1;
    return c;
  }
};

template <class Design>
class driven_index {
 public:
  explicit driven_index(u64 seed) : space_({.seed = seed, .preempt = true}), table_(space_) {}

  // Adds items of so many keys, from one on, several of each.
  template <class Op = add_blocks>
  void add(u64 first, u64 distinct, u64 n, const Op& op = {}) {
    std::vector<wide> keys(n);
    std::vector<block> values(n);
    for (u64 i = 0; i < n; ++i) {
      keys[i] = key(first + mix64(i) % distinct);
      values[i] = {static_cast<u32>(i), 1, 2, 3, static_cast<u32>(first)};
    }
    const u64 before = model_.size();
    for (u64 i = 0; i < n; ++i) {
      const auto [at, is_new] = model_.try_emplace(keys[i], values[i]);
      if (!is_new) at->second = op(at->second, values[i]);
    }
    buffer<wide, emulated> k(space_, keys);
    buffer<block, emulated> v(space_, values);
    const auto report = table_.insert_or_apply(space_, k.span(), v.span(), op);
    EXPECT_EQ(report.inserted, model_.size() - before);
    EXPECT_EQ(report.inserted + report.present, n);
    compare();
  }
  // Assigns items of so many keys. The values of a key in the call are alike in no word.
  void assign(u64 distinct, u64 n) {
    std::vector<wide> keys(n);
    std::vector<block> values(n);
    std::map<wide, std::set<block>> given;
    for (u64 i = 0; i < n; ++i) {
      keys[i] = key(i % distinct);
      for (u32& word : values[i]) word = static_cast<u32>(i);
      given[keys[i]].insert(values[i]);
    }
    buffer<wide, emulated> k(space_, keys);
    buffer<block, emulated> v(space_, values);
    EXPECT_EQ(table_.insert_or_assign(space_, k.span(), v.span()).present, n);
    table_.find_or(space_, k.span(), v.span(), block{});
    const auto stored = v.to_host();
    for (u64 i = 0; i < n; ++i) {
      ASSERT_TRUE(given[keys[i]].contains(stored[i])) << "key " << i % distinct;
      model_[keys[i]] = stored[i];
    }
    compare();
  }
  void erase(u64 first, u64 n) {
    std::vector<wide> keys;
    u64 gone = 0;
    for (u64 i = 0; i < n; ++i) {
      keys.push_back(key(first + i));
      keys.push_back(key(first + i));
      gone += model_.erase(key(first + i));
    }
    buffer<wide, emulated> k(space_, keys);
    EXPECT_EQ(table_.erase(space_, k.span()), gone);
    compare();
  }

 private:
  static wide key(u64 i) { return {mix64(i), i, 5}; }

  void compare() {
    ASSERT_EQ(table_.size(), model_.size());
    buffer<wide, emulated> k(space_, table_.size());
    buffer<block, emulated> v(space_, table_.size());
    ASSERT_EQ(table_.retrieve_all(space_, k.span(), v.span()), model_.size());
    const auto keys = k.to_host();
    EXPECT_TRUE((std::map<wide, block>(model_) == zip(keys, v.to_host())));
    buffer<bool, emulated> found(space_, keys.size());
    table_.find(space_, k.span(), v.span(), found.span());
    EXPECT_TRUE((std::map<wide, block>(model_) == zip(keys, v.to_host())));
    EXPECT_EQ(std::ranges::count(found.to_host(), 0), 0);
  }
  static std::map<wide, block> zip(const std::vector<wide>& keys, const std::vector<block>& values) {
    std::map<wide, block> all;
    for (u64 i = 0; i < keys.size(); ++i) all[keys[i]] = values[i];
    return all;
  }

  emulated space_;
  table<Design, emulated> table_;
  std::map<wide, block> model_;
};

TEST(Indexed, AnswersLikeTheModel) {
  for (u64 seed = 1; seed < (small() ? 2U : 4U); ++seed) {
    driven_index<indexed<wide, block>> d(seed);
    d.add(0, 300, 800);
    d.erase(0, 100);
    d.add(200, 200, 500);
    d.erase(390, 50);
    d.add(0, 50, 50);
  }
}
TEST(Indexed, OverAnotherDesign) {
  driven_index<indexed<wide, block, murmur, linear_probing<u64, u32>>> d(1);
  d.add(0, 300, 800);
  d.erase(0, 100);
  d.add(50, 300, 500);
}

// Threads that would wait for a lock list their items.
TEST(Indexed, ManyItemsOfFewKeys) {
  for (const u64 distinct : {1, 3}) {
    driven_index<indexed<wide, block>> d(distinct);
    for (const u64 n : {33, 300}) {
      SCOPED_TRACE(testing::Message() << distinct << " keys, " << n << " items");
      d.add(0, distinct, n);
      d.add(0, distinct, n, add_blocks_first{});
      d.add(0, distinct, n, add_and_count{});
      d.assign(distinct, n);
      d.add(0, distinct, n);  // all locks are free
    }
  }
}
// Values of one word, of few keys in warps: any one of those given is assigned, and each counts once.
struct thrice_and_one {  // not associative
  TILEHASH_FN u64 operator()(u64 stored, u64 given) const { return stored * 3 + given; }
};
TEST(Indexed, WordsOfFewKeys) {
  for (const u64 distinct : {1, 40}) {
    SCOPED_TRACE(distinct);
    constexpr u64 n = 500;
    emulated space({.seed = distinct, .preempt = true});
    table<indexed<wide, u64>, emulated> words(space);
    std::vector<wide> keys(n);
    std::vector<u64> values(n);
    for (u64 i = 0; i < n; ++i) keys[i] = {mix64(i) % distinct, 1, 2}, values[i] = i * distinct + keys[i][0];
    const buffer<wide, emulated> k(space, keys);
    const buffer<u64, emulated> v(space, values);
    buffer<u64, emulated> found(space, n);
    const auto stored = [&] {
      words.find_or(space, k.span(), found.span(), ~u64(0));
      std::map<u64, u64> of;
      const auto all = found.to_host();
      for (u64 i = 0; i < n; ++i) of[keys[i][0]] = all[i];
      return of;
    };
    for (u32 again = 0; again < 2; ++again) {
      EXPECT_EQ(words.insert_or_assign(space, k.span(), v.span()).inserted, again == 0 ? distinct : 0);
      for (const auto& [key, value] : stored()) ASSERT_EQ(value % distinct, key);
    }
    auto expected = stored();
    for (u64 i = 0; i < n; ++i) expected[keys[i][0]] += values[i];
    EXPECT_EQ(words.insert_or_apply(space, k.span(), v.span(), op::sum{}).present, n);
    ASSERT_EQ(stored(), expected);
    for (u64 i = 0; i < n; ++i) ++expected[keys[i][0]];
    EXPECT_EQ(words.insert_or_apply(space, k.span(), op::count{}).present, n);
    ASSERT_EQ(stored(), expected);
    // No atomic operation of the machine does this op, and its result depends on each call.
    const buffer<u64, emulated> odd(space, std::vector<u64>(n, 1));
    for (u64 i = 0; i < n; ++i) expected[keys[i][0]] = thrice_and_one{}(expected[keys[i][0]], 1);
    EXPECT_EQ(words.insert_or_apply(space, k.span(), odd.span(), thrice_and_one{}).present, n);
    ASSERT_EQ(stored(), expected);
  }
}

// A list of all items: records of one part and of many, groups of several records, rounds after the first.
template <class Op>
void change_listed_items(u64 n, u32 records, u64 memory, const Op& op) {
  SCOPED_TRACE(testing::Message() << n << " items of " << records << " records");
  using design = indexed<wide, block>;
  std::vector<design::record> before(records);
  for (u32 r = 0; r < records; ++r) before[r] = {{r, r, r}, {r, 2, 3, 4, 5}};
  std::vector<block> expected(records), values(n);
  for (u32 r = 0; r < records; ++r) expected[r] = before[r].value;
  std::vector<u32> ids(n), list(n);
  for (u64 i = 0; i < n; ++i) {
    list[i] = static_cast<u32>(i);
    ids[i] = static_cast<u32>(mix64(i + n) % records);
    values[i] = {static_cast<u32>(mix64(i)), 1, static_cast<u32>(i), 7, 0};
    expected[ids[i]] = op(expected[ids[i]], values[i]);
  }
  emulated space({.seed = n, .preempt = true}, memory);
  buffer<design::record, emulated> to(space, before);
  const buffer<block, emulated> v(space, values);
  const buffer<u32, emulated> of(space, ids), listed(space, list);
  buffer<u32, emulated> locks(space, std::vector<u32>(records / 32 + 1));
  using changer = detail::value_changer<design, Op>;
  const changer change{v.data(), of.data(), nullptr, to.data(), locks.data(), op};
  ASSERT_EQ(detail::change_by_groups(space, change, listed.data(), n, records), memory == ~u64(0));
  const auto after = to.to_host();
  for (u32 r = 0; r < records; ++r) {
    ASSERT_EQ(after[r].value, memory == ~u64(0) ? expected[r] : before[r].value) << "record " << r;
    ASSERT_EQ(after[r].key, before[r].key);
  }
  for (const u32 lock : locks.to_host()) ASSERT_EQ(lock, 0U);
}
TEST(Indexed, ListedChanges) {
  for (const u64 n : {1, 32, 33, 65, 1'025}) {
    for (const u32 records : {1, 7, 1'000}) {
      change_listed_items(n, records, ~u64(0), add_blocks{});
      change_listed_items(n, records, ~u64(0), add_blocks_first{});
      change_listed_items(n, records, ~u64(0), add_and_count{});
    }
  }
}
// Items whose record another thread has locked are listed. A thread that applies a group in turn asks for no lock.
TEST(Indexed, ChangesOfLockedRecords) {
  using design = indexed<wide, block>;
  constexpr u32 records = 40;
  constexpr u64 n = 900;
  std::vector<design::record> before(records);
  std::vector<block> expected(records), values(n);
  std::vector<u32> ids(n), locked{0x00f0'0001, 0x80};
  std::vector<outcome> became(n, outcome::present);
  for (u64 i = 0; i < n; ++i) {
    ids[i] = static_cast<u32>(mix64(i) % records);
    values[i] = {static_cast<u32>(i), 1, 2, 3, 0};
    became[i] = i % 7 == 0 ? outcome::inserted : outcome::present;
    if (became[i] == outcome::present) expected[ids[i]] = add_and_count{}(expected[ids[i]], values[i]);
  }
  emulated space({.seed = 5, .preempt = true});
  buffer<design::record, emulated> to(space, before);
  const buffer<block, emulated> v(space, values);
  const buffer<u32, emulated> of(space, ids);
  const buffer<outcome, emulated> results(space, became);
  buffer<u32, emulated> locks(space, locked);
  detail::change_records(space, n, records,
                         detail::value_changer<design, add_and_count>{
                             v.data(), of.data(), results.data(), to.data(), locks.data(), {}});
  const auto after = to.to_host();
  for (u32 r = 0; r < records; ++r) ASSERT_EQ(after[r].value, expected[r]) << "record " << r;
  EXPECT_EQ(locks.to_host(), locked);
}
// Without memory for the groups nothing has changed.
TEST(Indexed, ListedChangesWithoutMemory) {
  const u64 given = 500 * (sizeof(block) + 2 * sizeof(u32)) + 7 * sizeof(indexed<wide, block>::record) + 4;
  for (const u64 more : {0, 100, 2'000, 4'000, 6'000}) {
    change_listed_items(500, 7, given + more, add_blocks_first{});
    change_listed_items(500, 7, given + more, add_and_count{});
  }
}

struct keys_and_slots {
  u64 keys, slots;
  u64 size() const { return keys; }
  u64 capacity() const { return slots; }
  // It has all keys that it is asked for, if it has any.
  static void look_up(emulated& /*space*/, const wide* /*asked*/, u64 /*n*/, detail::missing_sink /*sink*/) {}
};
// The keys of a short first window are found by the other items.
TEST(Indexed, FirstWindow) {
  emulated space;
  const u64 window = space.large_blocks_at_once() * detail::tuning::gpu::first_window_items;
  const u64 n = detail::tuning::gpu::leaders_windows * window + 5;
  using design = indexed<wide, block>;
  for (const u64 distinct : {u64(1), u64(300), n}) {
    std::vector<wide> keys(n);
    for (u64 i = 0; i < n; ++i) keys[i] = {mix64(i) % distinct, 1, 2};
    const buffer<wide, emulated> k(space, keys);
    EXPECT_EQ(detail::first_window<design>(space, keys_and_slots{0, 300}, k.data(), n),
              distinct < n ? window : n);
    EXPECT_EQ(detail::first_window<design>(space, keys_and_slots{200, 300}, k.data(), n), n);
    EXPECT_EQ(detail::first_window<design>(space, keys_and_slots{0, 300}, k.data(), n - 6), n - 6);
    EXPECT_EQ(detail::first_window<design>(space, keys_and_slots{0, n / 4}, k.data(), n), n);
  }
  driven_index<design> grown(1);
  grown.add(0, 300, n, add_blocks_first{});
  grown.add(200, 300, n, add_blocks_first{});  // of a table that has some of the keys
}

}  // namespace
}  // namespace tilehash::designs_test
