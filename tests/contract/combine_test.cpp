// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct combining_space : cpu {
  combining_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <atomic>
#include <span>
#include <tuple>

#include <contract/combine.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, combining, combining_designs);

// Throws at one of its calls.
struct counted_sum {
  static constexpr bool is_associative = true;
  std::atomic<u64>* left;
  u64 operator()(u64 a, u64 b) const {
    if (left->load() != 0 && left->fetch_sub(1) == 1) throw out_of_memory("of an op");
    return a + b;
  }
};

// While items of equal keys are combined, nothing has changed yet; afterwards each value has some of them.
TEST(an_op_that_throws, while_items_are_combined) {
  const u64 n = 40'000, distinct = 60, held = distinct / 2;
  cpu space(2);
  std::vector<u32> keys(n), all(distinct);
  for (u64 i = 0; i < distinct; ++i) all[i] = ~static_cast<u32>(i);
  for (u64 i = 0; i < n; ++i) keys[i] = all[mix64(i) % distinct];
  const std::vector<u64> ones(n, 1);
  std::vector<u64> copies(distinct), out(distinct), before(distinct);
  for (const u32 key : keys) ++copies[~key];
  u64 strong = 0;
  for (u64 call = 1, threw = 1; threw != 0; call = call < 1'000 ? 10 * call : call + 3'947) {
    SCOPED_TRACE(call);
    table<tiled<u32, u64>, cpu> t(space, 0);
    ASSERT_EQ(t.insert(space, std::span(all).first(held), std::span(ones).first(held)).inserted, held);
    std::atomic<u64> left = call;
    threw = 0;
    try {
      std::ignore = t.insert_or_apply(space, keys, ones, counted_sum{&left});
    } catch (const out_of_memory& e) {
      EXPECT_STREQ(e.what(), "of an op");
      threw = 1;
    }
    t.find_or(space, all, out, 0);
    u64 found = 0, changed = 0;
    for (u64 i = 0; i < distinct; ++i) {
      found += out[i] != 0;
      changed += out[i] != (i < held ? 1 : 0);
      EXPECT_LE(out[i], copies[i] + (i < held ? 1 : 0));
      EXPECT_TRUE(i >= held || out[i] != 0);
    }
    EXPECT_EQ(t.size(), found);
    strong += threw != 0 && changed == 0;
    left = 0;
    before = out;
    EXPECT_EQ(t.insert_or_apply(space, keys, ones, counted_sum{&left}).inserted, distinct - found);
    t.find_or(space, all, out, 0);
    for (u64 i = 0; i < distinct; ++i) EXPECT_EQ(out[i], before[i] + copies[i]);
  }
  EXPECT_GT(strong, 3U);
}
}  // namespace tilehash::contract
