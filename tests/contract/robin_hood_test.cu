// SPDX-License-Identifier: Apache-2.0
// Robin Hood tables on a GPU: of many builds at loads up to 0.99 none fails; and the bulk build, in which
// thousands of lanes ask for slots at once, gives slot by slot the ages that a CPU's inserts give.
#include <gtest/gtest.h>

#include <contract/random.hpp>
#include <string>
#include <vector>

#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/papers/robin_hood_random.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/table.hpp>

namespace tilehash {
namespace {

using contract::run_seed;
using contract::scaled;
using paper = robin_hood<u32, u32, 1>;  // one slot a bucket

// Different keys for each `first`, as far apart as they are many; a value is its key's complement.
std::vector<u32> keys_from(u64 first, u64 n) {
  std::vector<u32> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(first + i + run_seed()));
  return keys;
}
std::vector<u32> complements(std::vector<u32> keys) {
  for (u32& key : keys) key = ~key;
  return keys;
}

template <class Design>
void expect_no_failure(u64 tables) {
  const double loads[] = {0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99};
  constexpr u64 most = 1400;
  tilehash::cuda space;
  const auto keys = keys_from(0, tables + most);
  const buffer<u32, tilehash::cuda> k(space, keys), v(space, complements(keys));
  const buffer<u32, tilehash::cuda> out(space, std::vector<u32>(most));  // it is copied whole
  u64 restarts = 0;
  for (u64 i = 0; i < tables; ++i) {
    const double load = loads[i % 10];
    const u64 n = static_cast<u64>(load * 1024) + i % 300;
    SCOPED_TRACE("load " + std::to_string(load) + ", TILEHASH_SEED=" + std::to_string(run_seed()));
    table<Design, tilehash::cuda> t(space, n, {.load_factor = load, .seed = run_seed() + i});
    const auto its = [&](const buffer<u32, tilehash::cuda>& all) {
      return std::span<const u32>(all.data() + i,
                                  n);  // one other key than the table before, and its own seed
    };
    const auto report = t.insert(space, its(k), its(v));
    ASSERT_EQ(report.inserted, n);
    restarts += report.restarts;
    if (i % 16 != 0) continue;
    t.find_or(space, its(k), std::span<u32>(out.data(), n), 0U);
    const auto values = out.to_host();
    for (u64 j = 0; j < n; ++j) ASSERT_EQ(values[j], ~keys[i + j]);
  }
  EXPECT_LE(restarts, tables / 100);
}
TEST(cuda_robin_hood, does_not_fail_in_lines) { expect_no_failure<robin_hood<u32, u32>>(scaled(4000, 50)); }
TEST(cuda_robin_hood, does_not_fail_at_random) {
  expect_no_failure<papers::robin_hood_random<u32, u32>>(scaled(2000, 50));
}
TEST(cuda_robin_hood, does_not_fail_slot_by_slot) { expect_no_failure<paper>(scaled(4000, 50)); }

TEST(cuda_robin_hood, is_built_as_a_cpu_inserts) {
  const u64 most = scaled(1'000'000, 40'000);
  const auto keys = keys_from(u64(1) << 20, most);
  tilehash::cuda space;
  cpu host(2);
  const auto values = complements(keys);
  const buffer<u32, tilehash::cuda> k(space, keys), v(space, values), out(space, std::vector<u32>(most));
  for (const double load : {0.5, 0.85, 0.97, 0.99, 1.0}) {
    const u64 n = load < 1 ? most : scaled(200'000, 40'000);  // the last keys look at all slots
    SCOPED_TRACE("load " + std::to_string(load) + ", TILEHASH_SEED=" + std::to_string(run_seed()));
    const table_options options{.load_factor = load, .seed = run_seed()};
    table<paper, tilehash::cuda> t(space, n, options);
    table<paper, cpu> model(host, n, options);
    EXPECT_EQ(t.insert(space, k.span().first(n), v.span().first(n)).inserted, n);
    EXPECT_EQ(model.insert(host, std::span(keys).first(n), std::span(values).first(n)).inserted, n);
    const paper d = model.view().design;
    std::vector<paper::word> slots(t.capacity());
    ASSERT_EQ(slots.size(), model.capacity());
    space.copy_to_host(slots.data(), t.view().design.slots(), slots.size() * sizeof(paper::word));
    u64 other_ages = 0, other_maxima = 0;
    for (u64 i = 0; i < slots.size(); ++i) {
      other_ages += d.age_in(slots[i]) != d.age_in(d.slots()[i]);
      other_maxima += paper::slot_type::max_code_in(slots[i]) != paper::slot_type::max_code_in(d.slots()[i]);
    }
    EXPECT_EQ(other_ages, 0U);
    EXPECT_EQ(other_maxima, 0U);
    t.find_or(space, k.span().first(n), out.span().first(n), 0U);
    const auto found = out.to_host();
    u64 wrong = 0;
    for (u64 i = 0; i < n; ++i) wrong += found[i] != values[i];
    EXPECT_EQ(wrong, 0U);
  }
}

}  // namespace
}  // namespace tilehash
