// SPDX-License-Identifier: Apache-2.0
// The rules of open addressing alone: the most probes allowed, and restarts with another hash function
// (Alcantara's thesis, section 3.1.1). Inserts after construction are the contract's.
#include <gtest/gtest.h>

#include <contract/bad_hash.hpp>
#include <contract/random.hpp>
#include <vector>

#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/papers/quadratic_probing.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
namespace {

// All keys at one place: no more of them than probes are allowed find a slot.
template <u64 Bad>
using design = linear_probing<u32, u32, contract::bad_at_first<Bad>>;

constexpr u64 n = 10'300, most = probe::linear::max_probes(n);
static_assert(n > most);

std::vector<u32> different_keys() {
  std::vector<u32> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(i));
  return keys;
}
template <class Table>
u64 found(cpu& space, const Table& t, const std::vector<u32>& keys) {
  std::vector<u32> out(n, 0);
  t.find_or(space, keys, out, 0);
  u64 right = 0;
  for (u64 i = 0; i < n; ++i) right += out[i] == keys[i] + 1;
  return right;
}
std::vector<u32> values_for(const std::vector<u32>& keys) {
  std::vector<u32> values = keys;
  for (u32& x : values) ++x;
  return values;
}

TEST(restarts, take_another_hash_function_at_the_same_size) {
  cpu space(2);
  const auto keys = different_keys();
  table<design<2>, cpu> t(space, n, {.load_factor = 0.7, .seed = 0});
  const u64 capacity = t.capacity();
  EXPECT_EQ(t.insert(space, keys, values_for(keys)), (insert_report{.inserted = n, .restarts = 2}));
  EXPECT_EQ(t.capacity(), capacity);
  EXPECT_EQ(found(space, t, keys), n);

  EXPECT_EQ(t.build(space, keys, values_for(keys)), (insert_report{.inserted = n})) << "the good one is kept";
}

TEST(restarts, not_of_a_table_that_keeps_its_capacity) {
  if (!contract::is_asked(1, 2))
    GTEST_SKIP() << "every second run of small sizes has it: a key's walk is long";
  cpu space(2);
  const auto keys = different_keys();
  table<design<2>, cpu> t(space, n, {.load_factor = 0.7, .seed = 0, .grow = false});
  std::vector<outcome> outcomes(n);
  EXPECT_EQ(t.insert(space, keys, values_for(keys), outcomes),
            (insert_report{.inserted = most, .refused = n - most}));
  std::vector<u32> out(n, 0);
  t.find_or(space, keys, out, 0);
  for (u64 i = 0; i < n; ++i) ASSERT_EQ(out[i], outcomes[i] == outcome::inserted ? keys[i] + 1 : 0) << i;
}

TEST(restarts, make_a_larger_table_after_four) {
  if (!contract::is_asked(0, 2))
    GTEST_SKIP() << "every second run of small sizes has it: a key's walk is long";
  cpu space(1);
  const auto keys = different_keys();
  table<design<5>, cpu> t(space, n, {.load_factor = 0.7, .seed = 0});
  const u64 capacity = t.capacity();
  EXPECT_EQ(t.insert(space, keys, values_for(keys)), (insert_report{.inserted = n, .restarts = 5}));
  EXPECT_GT(t.capacity(), capacity);
  EXPECT_EQ(found(space, t, keys), n);
}

// A full table reads so many slots before it refuses a key, and no more. Where jumps grow, each costs a line.
template <class Design>
void expect_walks_of_a_full_table(u64 slots, u64 longest) {
  cpu space(2);
  table<Design, cpu> t(space, slots / 2, {.load_factor = 0.5, .grow = false});
  const u64 capacity = t.capacity(), full = capacity + capacity / 100, new_keys = 100;
  std::vector<u32> keys(full + new_keys), probes(new_keys);
  for (u64 i = 0; i < keys.size(); ++i) keys[i] = mix32(static_cast<u32>(i));
  const std::span<const u32> all = keys;
  const insert_report report = t.insert(space, all.first(full), all.first(full));
  EXPECT_EQ(report.inserted + report.refused, full);
  EXPECT_GE(static_cast<double>(report.inserted), 0.99 * static_cast<double>(capacity));
  t.probe_counts(space, all.last(new_keys), probes);
  for (const u32 read : probes) ASSERT_LE(read, longest);
}
TEST(full_tables, refuse_after_a_bounded_walk) {
  const u64 slots = contract::scaled(100'000, 40'000);
  expect_walks_of_a_full_table<linear_probing<u32, u32>>(slots, 10'000);
  expect_walks_of_a_full_table<papers::quadratic_probing<u32, u32>>(slots, 4096);
  expect_walks_of_a_full_table<double_hashing<u32, u32>>(slots, 4096);
}

}  // namespace
}  // namespace tilehash
