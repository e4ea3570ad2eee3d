// SPDX-License-Identifier: Apache-2.0
// Turnover on a CPU by each form of the verbs, one key at a time among them, and of adversarial keys.
#include <unordered_map>

#include <contract/bad_hash.hpp>
#include <contract/faulty.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct turnover_space : cpu {
  explicit turnover_space(faulty_host& memory) : cpu(1, memory) {}
};
using turnover_memory = faulty_host;
inline constexpr u64 turnover_items = 1'000, turnover_rounds = 200;
}  // namespace tilehash::contract

#include <contract/turnover_forms.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, turnover_forms, turnover_designs);

namespace {

template <class Design>
class turnover_by_key : public ::testing::Test {};
TYPED_TEST_SUITE(turnover_by_key, turnover_designs);

TYPED_TEST(turnover_by_key, leaves_lookups_short) {
  using key = typename TypeParam::key_type;
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  ground<turnover_space, turnover_memory> here;
  for (const double load : {0.5, 0.8}) {
    SCOPED_TRACE(load);
    turned_over<TypeParam> t(here.space, scaled(1'000, 300), {.load_factor = load, .grow = false});
    for (u64 round = 0; round < scaled(300, 30); ++round) {
      t.choose(40);
      for (u64 i = 0; i < t.out.size(); ++i) {
        ASSERT_EQ(t.tested.erase(here.space, std::span<const key>(&t.out[i], 1)), 1U);
        outcome became{};
        if constexpr (std::is_void_v<typename TypeParam::mapped_type>)
          became = t.tested.insert(here.space, t.in[i]);
        else
          became =
              t.tested.insert(here.space, t.in[i], static_cast<typename TypeParam::mapped_type>(t.in[i]));
        ASSERT_EQ(became, outcome::inserted);
      }
    }
    t.verify();
    t.measure();
    t.expect_short_lookups();
  }
}

// Keys of few homes: walks are as long as there are keys, and every sweep walks them.
template <class Design>
class turnover_of_colliding_keys : public ::testing::Test {};
using colliding =
    ::testing::Types<linear_probing<u32, u32, of_seven_places>, double_hashing<u32, u32, of_seven_places>,
                     papers::quadratic_probing<u32, u32, of_seven_places>>;
TYPED_TEST_SUITE(turnover_of_colliding_keys, colliding);

TYPED_TEST(turnover_of_colliding_keys, loses_none) {
  random_numbers random("turnover of colliding keys");
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  cpu space(2);
  constexpr u32 n = 300;
  table<TypeParam, cpu> t(space, 2 * n, {.load_factor = 0.6, .grow = false});
  std::unordered_map<u32, u32> model;
  for (u64 round = 0; round < scaled(300, 60); ++round) {
    std::vector<u32> in, out, all(4 * n), values;
    std::iota(all.begin(), all.end(), 0U);
    for (u64 i = 0; i < 30; ++i) out.push_back(static_cast<u32>(random.below(4 * n)));
    u64 gone = 0;
    for (const u32 key : out) gone += model.erase(key);
    ASSERT_EQ(t.erase(space, std::span<const u32>(out)), gone);
    while (model.size() < n) {
      const u32 key = static_cast<u32>(random.below(4 * n)), value = static_cast<u32>(random());
      if (model.try_emplace(key, value).second) in.push_back(key), values.push_back(value);
    }
    ASSERT_EQ(t.insert(space, std::span<const u32>(in), std::span<const u32>(values)).inserted, in.size());
    std::vector<u32> found(all.size());
    t.find_or(space, std::span<const u32>(all), std::span<u32>(found), ~0U);
    for (const u32 key : all) ASSERT_EQ(found[key], model.contains(key) ? model[key] : ~0U) << key;
  }
}

// A table that may grow keeps its capacity while its size is constant.
TEST(turnover_of_a_table_that_grows, keeps_the_capacity) {
  ground<turnover_space, turnover_memory> here;
  turned_over<double_hashing<u32, u32>> t(here.space, 2'000, {.load_factor = 0.8});
  const u64 capacity = t.tested.capacity();
  for (u64 round = 0; round < scaled(300, 60); ++round) {
    t.choose(200);
    t.erase(t.out);
    t.insert(t.in);
  }
  EXPECT_EQ(t.tested.capacity(), capacity);
  t.verify();
  t.measure();
  t.expect_short_lookups();
}

}  // namespace
}  // namespace tilehash::contract
