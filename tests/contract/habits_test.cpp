// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include <contract/faulty.hpp>

namespace tilehash::contract {
struct habits_space : cpu {
  explicit habits_space(faulty_host& memory) : cpu(2, memory) {}
};
using habits_memory = faulty_host;
}  // namespace tilehash::contract

#include <contract/habits.hpp>

// ---- the first of equal keys, where buckets are crowded ----
namespace tilehash::contract {
namespace {

// More keys than both buckets of a pair have slots for, each of them in many copies, among others: a build by
// regions leaves some of them over, and of a key that it left over another copy may be in the table.
TEST(first_of_equal_keys, wins_where_buckets_are_crowded) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  using design = tiled<u32, u32>;
  random_numbers random("crowded buckets");
  cpu space(2);
  const u64 n = 60'000, crowds = 40, of_a_crowd = 24, copies = 6;
  const table_options options{.load_factor = 0.9, .seed = run_seed()};
  const design layout = table<design, cpu>(space, n, options).view().design;
  std::vector<u32> keys;
  for (u64 crowd = 0; crowd < crowds; ++crowd) {
    const u32 first_hash = static_cast<u32>(random());
    const auto home = layout.location_of(first_hash);
    auto other = home;
    layout.turn(other);
    u64 met = 0;
    for (u32 hash = first_hash; met < of_a_crowd && layout.location_of(hash).bucket == home.bucket; ++hash) {
      auto second = layout.location_of(hash);
      layout.turn(second);
      if (second.bucket != other.bucket) continue;
      ++met;
      keys.insert(keys.end(), copies, layout.unhash(hash));
    }
  }
  ASSERT_GT(keys.size(), crowds * copies * 10);
  while (keys.size() < n) keys.push_back(static_cast<u32>(random()));
  std::shuffle(keys.begin(), keys.end(), random);
  std::vector<u32> values(n), found(n);
  std::unordered_map<u32, u32> first;
  for (u64 i = 0; i < n; ++i) {
    values[i] = static_cast<u32>(~i);
    first.try_emplace(keys[i], values[i]);
  }
  for (const bool builds : {false, true}) {
    table<design, cpu> t(space, n, options);
    const auto report =
        builds ? t.build(space, keys, values, keep::first) : t.insert(space, keys, values, keep::first);
    EXPECT_EQ(report.inserted, first.size());
    EXPECT_EQ(report.present, n - first.size());
    t.find_or(space, keys, found, 0U);
    u64 wrong = 0;
    for (u64 i = 0; i < n; ++i) wrong += found[i] != first.at(keys[i]);
    EXPECT_EQ(wrong, 0U);
  }
}

}  // namespace
}  // namespace tilehash::contract

// ---- one key at a time ----
namespace tilehash::contract {
namespace {

template <class Design>
class one_by_one : public ::testing::Test {};
using designs_by_one =
#if TILEHASH_FEW_TYPES
    ::testing::Types<tiled<u64, u64>, linear_probing<u32, u32>, dynamic_cuckoo<u32, u32>, indexed<u64, u32>>;
#else
    ::testing::Types<tiled<u32, u32>, tiled<u64, u64>, linear_probing<u32, u32>, bucketed_cuckoo<u32, u32>,
                     dynamic_cuckoo<u32, u32>, indexed<u64, u32>>;
#endif
TYPED_TEST_SUITE(one_by_one, designs_by_one);

TYPED_TEST(one_by_one, like_the_model) {
  using key = typename TypeParam::key_type;
  using value = typename TypeParam::mapped_type;
  random_numbers random("one_by_one");
  cpu space(1);
  table<TypeParam, cpu> t(space);
  std::unordered_map<key, value> model;
  const u64 n = scaled(20'000, 2'000);
  for (u64 i = 0; i < n; ++i) {
    const key k = i == 0 ? static_cast<key>(~u64(0)) : static_cast<key>(mix64(random() % n));
    const bool fresh = model.emplace(k, static_cast<value>(i)).second;
    ASSERT_EQ(t.insert(space, k, static_cast<value>(i)), fresh ? outcome::inserted : outcome::present);
    ASSERT_EQ(t.at(k), model.at(k));
  }
  EXPECT_EQ(t.size(), model.size());
  for (u64 i = 0; i < 2 * n; ++i) {
    const key k = static_cast<key>(mix64(i));
    const auto there = model.find(k);
    ASSERT_EQ(t.contains(k), there != model.end());
    ASSERT_EQ(t.find(k), there != model.end() ? std::optional(there->second) : std::nullopt);
    if (there == model.end()) {
      ASSERT_THROW(static_cast<void>(t.at(k)), invalid_argument);
    }
  }
}
template <class Table>
void expect_refusals_when_full() {
  cpu space(1);
  Table t(space, 100, {.grow = false});
  u64 inserted = 0, refused = 0;
  for (u32 i = 0; i < 1000; ++i) {
    const outcome became = t.insert(space, mix32(i), i);
    inserted += became == outcome::inserted;
    refused += became == outcome::refused;
    ASSERT_EQ(t.contains(mix32(i)), became == outcome::inserted);
  }
  EXPECT_EQ(inserted, t.size());
  EXPECT_GE(inserted, 100U);
  EXPECT_EQ(inserted + refused, 1000U);
}
TEST(one_by_one_key, is_refused_when_full) {
  if (is_asked(0, 2)) expect_refusals_when_full<map<u32, u32, cpu>>();
  if (is_asked(1, 2)) expect_refusals_when_full<dynamic_map<u32, u32, cpu>>();
}
TEST(one_by_one_key, where_others_must_move_they_are_found_again) {
  cpu space(1);
  map<u64, u64, cpu> t(space, 1000, {.load_factor = 0.95, .seed = 5, .grow = false});
  std::vector<u64> there;
  for (u64 i = 0; i < t.capacity(); ++i) {
    if (t.insert(space, mix64(i), i) == outcome::inserted) there.push_back(i);
    if (there.size() * 20 > t.capacity() * 18) break;
  }
  EXPECT_GT(there.size() * 20, t.capacity() * 18) << "so full that one in ten had to move";
  EXPECT_EQ(t.size(), there.size());
  for (const u64 i : there) ASSERT_EQ(t.find(mix64(i)), std::optional(i));
}
// After erases a key may be in its second bucket although its first has a free slot.
template <class Word>
void expect_present_beyond_free_slots() {
  cpu space(1);
  set<Word, cpu> keys_only(space, 1000, {.load_factor = 0.9, .seed = 5, .grow = false});
  map<Word, Word, cpu> t(space, 1000, {.load_factor = 0.9, .seed = 5, .grow = false});
  std::vector<Word> kept, erased;
  for (u32 i = 0; i < 1000; ++i) {
    const Word key = mix32(i);
    ASSERT_EQ(t.insert(space, key, i), outcome::inserted);
    ASSERT_EQ(keys_only.insert(space, key), outcome::inserted);
    (i % 2 == 0 ? kept : erased).push_back(key);
  }
  ASSERT_EQ(t.erase(space, erased), erased.size());
  ASSERT_EQ(keys_only.erase(space, erased), erased.size());
  for (const Word key : kept) {
    ASSERT_EQ(t.insert(space, key, 0), outcome::present);
    ASSERT_EQ(keys_only.insert(space, key), outcome::present);
  }
  for (const Word key : erased) {
    ASSERT_EQ(t.insert(space, key, 7), outcome::inserted);
    ASSERT_EQ(t.at(key), 7U);
    ASSERT_EQ(keys_only.insert(space, key), outcome::inserted);
  }
  EXPECT_EQ(t.size(), 1000U);
  EXPECT_EQ(keys_only.size(), 1000U);
}
TEST(one_by_one_key, in_its_second_bucket_is_present) {
  expect_present_beyond_free_slots<u32>();
  expect_present_beyond_free_slots<u64>();
}
template <class Set>
void expect_keys_of_a_set_and_of_what_was_moved_from() {
  cpu space(1);
  Set t(space);
  EXPECT_EQ(t.insert(space, u64(7)), outcome::inserted);
  EXPECT_EQ(t.insert(space, u64(7)), outcome::present);
  const auto moved = std::move(t);
  EXPECT_TRUE(moved.contains(7));
  EXPECT_FALSE(t.contains(7));  // NOLINT(bugprone-use-after-move): this is what is asked
  EXPECT_EQ(t.insert(space, u64(8)), outcome::inserted);
}
TEST(one_by_one_key, of_a_set_and_of_what_was_moved_from) {
  expect_keys_of_a_set_and_of_what_was_moved_from<set<u64, cpu>>();
  expect_keys_of_a_set_and_of_what_was_moved_from<key_index<u64, cpu>>();
}

// With few threads items are put in one after the other; with more they are combined.
template <class Word>
void expect_firsts(int threads) {
  SCOPED_TRACE(threads);
  cpu space(threads);
  const u64 n = scaled(200'000, 40'000);
  std::vector<Word> keys(n), values(n), out(n);
  std::unordered_map<Word, Word> model;
  for (u32 i = 0; i < n; ++i) {
    keys[i] = mix32(mix32(i) % (i % 3 == 0 ? 50 : 30'000));
    values[i] = i;
    model.emplace(keys[i], i);
  }
  map<Word, Word, cpu> t(space);
  const insert_report report = t.build(space, keys, values, keep::first);
  EXPECT_EQ(report, (insert_report{.inserted = model.size(), .present = n - model.size()}));
  t.find_or(space, keys, out, ~Word(0));
  for (u64 i = 0; i < n; ++i) ASSERT_EQ(out[i], model.at(keys[i]));
}
TEST(first_of_equal_keys, on_one_thread) {
  expect_firsts<u32>(1);
  expect_firsts<u64>(1);
}
TEST(first_of_equal_keys, on_many_threads) {
  expect_firsts<u32>(4);
  expect_firsts<u64>(4);
}

}  // namespace
}  // namespace tilehash::contract
