// SPDX-License-Identifier: Apache-2.0
// Keys that repeat in one call, under the GPU's schedule, and some on a CPU.
#include <gtest/gtest.h>

#include <string>
#include <unordered_set>
#include <vector>

#include <contract/random.hpp>
#include <contract/repeats.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

#include "emulated.hpp"

namespace tilehash::contract {
namespace {

// Its items have few tries.
template <class Design>
struct hasty : Design {
  static constexpr u32 max_searches = 1;
  template <class Space>
  using engine = tilehash::engine::insertion<hasty, Space>;
  using Design::Design;
};

// Of many copies of a key that needs displacement some find a slot, and some have spent their tries before. These
// are present, too.
template <class Design, class Space>
void insert_copies(Space space, u64 seed) {
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(seed));
  const u64 keys = 600, last = 30, n = 1'000;
  random_numbers random(seed);
  table<hasty<Design>, Space> t(space, keys, {.load_factor = 0.95, .seed = seed, .grow = false});
  std::vector<u64> host(n);
  for (u64& key : host) key = mix64(keys + 1 + random() % last);
  std::vector<u64> others(keys);
  for (u64 i = 0; i < others.size(); ++i) others[i] = mix64(i + 1);
  const buffer<u64, Space> o(space, others);
  const u64 before = t.insert(space, o.span(), o.span()).inserted;
  const buffer<u64, Space> k(space, host), out(space, n);
  const buffer<u8, Space> found(space, n);
  const buffer<insert_report, Space> report(space, 1);
  t.insert_async(space, k.span(), k.span(), report.data());
  const insert_report r = report.to_host()[0];
  t.find(space, k.span(), out.span(), std::span(reinterpret_cast<bool*>(found.data()), n));
  const auto is = found.to_host();
  std::unordered_set<u64> stored;
  u64 refused = 0;
  for (u64 i = 0; i < n; ++i) {
    refused += is[i] == 0;
    if (is[i] != 0) stored.insert(host[i]);
  }
  EXPECT_EQ(r.inserted, stored.size());
  EXPECT_EQ(t.size(), before + stored.size());
  EXPECT_EQ(r.refused, refused);
  EXPECT_EQ(r.present, n - stored.size() - refused);
}
TEST(RepeatedKeys, ThatAreStoredAreNotRefused) {
  for (u64 round = 0; round < 3; ++round) {
    const u64 seed = run_seed() + round;
    insert_copies<tiled<u64, u64>>(emulated({.seed = seed, .preempt = true}), seed);
    insert_copies<bucketed_cuckoo<u64, u64>>(emulated({.seed = seed, .preempt = true}), seed);
    insert_copies<tiled<u64, u64>>(cpu(2), seed);
  }
}

template <class Design, class Op>
struct asked {
  using design = Design;
  using op_type = Op;
};
template <class Asked>
class EmulatedRepeats : public ::testing::Test {};
using all_asked =
    ::testing::Types<asked<tiled<u32, u32>, op::sum>, asked<tiled<u64, u64>, op::assign>,
                     asked<tiled<float, u32>, op::maximum>, asked<bucketed_cuckoo<u64, u64>, count_and_add>>;
TYPED_TEST_SUITE(EmulatedRepeats, all_asked);

TYPED_TEST(EmulatedRepeats, EveryItemCounts) {
  emulated space({.seed = run_seed(), .preempt = true});
  constexpr repeats kinds[] = {repeats::one_key, repeats::two_in_turn, repeats::some, repeats::half_of_one};
  insert_all_repeats<typename TypeParam::design, typename TypeParam::op_type>(space, 8'500, kinds);
}

}  // namespace
}  // namespace tilehash::contract
