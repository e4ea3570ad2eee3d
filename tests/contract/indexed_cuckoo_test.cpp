// SPDX-License-Identifier: Apache-2.0
// The purpose of the words of indexed_cuckoo: its items are read once, however often their words move.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/papers/indexed_cuckoo.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {
namespace {

// A key is hashed when its item is read.
std::atomic<u64> hashed = 0;
struct counting_hash : murmur {
  using murmur::murmur;
  u64 operator()(u64 key) const noexcept {
    ++hashed;
    return murmur::operator()(key);
  }
};
struct one_hash {  // all keys meet
  one_hash() = default;
  explicit one_hash(u64) {}
  u64 operator()(u64) const noexcept { return 12345; }
};

template <u32 Functions, class Hash = counting_hash>
using design = papers::indexed_cuckoo<u64, void, Functions, Hash>;

std::vector<u64> fresh_keys(u64 n) {
  random_numbers random("indexed cuckoo");
  std::vector<u64> keys(n);
  for (u64& key : keys) key = random();
  return keys;
}

// A word at function f has moved f times or more, and a bare index would have had its item read each time.
template <u32 Functions>
void read_once(double load, double least_moves) {
  SCOPED_TRACE(std::to_string(Functions) + " functions, load " + std::to_string(load));
  cpu space(2);
  const u64 n = scaled(200'000, 20'000);
  const auto keys = fresh_keys(n);
  table<design<Functions>, cpu> t(space, 0, {.load_factor = load, .seed = run_seed()});
  hashed = 0;
  const auto report = t.build(space, keys);
  ASSERT_EQ(report.inserted, n);
  EXPECT_EQ(hashed, n * (1 + report.restarts));
  u64 moves = 0;
  const auto& made = t.view().design;
  for (u64 slot = 0; slot < made.capacity(); ++slot)
    moves += made.holds(slot) ? design<Functions>::function_in(made.slots()[slot]) : 0;
  EXPECT_GT(static_cast<double>(moves), least_moves * static_cast<double>(n));
}
TEST(indexed_cuckoo, reads_each_item_once) {
  SCOPED_TRACE(run_seed());
  read_once<6>(0.5, 0.25);
  read_once<6>(0.98, 2);
  read_once<5>(0.98, 1.5);
  read_once<4>(0.95, 1);
  read_once<3>(0.88, 0.7);
}

// Failed lookups read slots up to an empty one, and items by mistake once in 2^29 slots.
TEST(indexed_cuckoo, looks_at_no_item_in_vain) {
  SCOPED_TRACE(run_seed());
  cpu space(2);
  const u64 n = scaled(200'000, 20'000);
  auto keys = fresh_keys(2 * n);
  const std::vector<u64> missing(keys.begin() + static_cast<std::ptrdiff_t>(n), keys.end());
  keys.resize(n);
  table<design<6>, cpu> t(space, 0, {.load_factor = 0.8, .seed = run_seed()});
  ASSERT_EQ(t.build(space, keys).inserted, n);
  std::vector<u32> probes(n);
  t.probe_counts(space, missing, probes);
  u64 slots = 0;
  for (const u64 key : missing) {
    const auto& made = t.view().design;
    auto p = made.locate(key);
    const auto r = made.row(p);
    slots += r.here.function_number < 6 ? r.here.function_number + 1 : 6;
  }
  EXPECT_LE(std::accumulate(probes.begin(), probes.end(), u64(0)), slots + 2);
}

TEST(indexed_cuckoo, keys_of_one_hash_leave_the_table_as_it_was) {
  cpu space(2);
  table<design<6, one_hash>, cpu> t(space);
  std::vector<u64> keys{1, 2, 3, 4, 5, 6};
  ASSERT_EQ(t.build(space, keys).inserted, 6U);
  try {
    keys.push_back(7);
    std::ignore = t.build(space, keys);
    FAIL() << "seven keys in six slots";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("found no place by 16 hash functions"), std::string::npos);
  }
  EXPECT_EQ(t.size(), 6U);
  const auto found = std::make_unique<bool[]>(keys.size());
  t.contains(space, keys, std::span(found.get(), keys.size()));
  for (u64 i = 0; i < keys.size(); ++i) EXPECT_EQ(found[i], keys[i] != 7) << keys[i];
}

}  // namespace
}  // namespace tilehash::contract
