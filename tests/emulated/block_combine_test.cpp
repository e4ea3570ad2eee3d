// SPDX-License-Identifier: Apache-2.0
// Blocks combine the items of equal keys before an asynchronous call inserts them, under the GPU's schedule.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <contract/random.hpp>
#include <contract/repeats.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/equal_keys.hpp>
#include <tilehash/kernel/block_combine.hpp>
#include <tilehash/space/buffer.hpp>

#include "emulated.hpp"

namespace tilehash::contract {
namespace {

template <class Key, class Value, class Op>
struct asked {
  using design = tiled<Key, Value>;
  using op_type = Op;
};
template <class Asked>
class BlockCombine : public ::testing::Test {};
using all_asked = ::testing::Types<asked<u32, u32, op::sum>, asked<u64, u64, op::sum>,
                                   asked<float, double, op::maximum>, asked<u64, u64, op::minimum>>;
TYPED_TEST_SUITE(BlockCombine, all_asked);

template <class Op>
struct model_of {
  template <class Value>
  static Value of(const std::vector<Value>& given) {
    Value all = given[0];
    for (u64 i = 1; i < given.size(); ++i) all = Op()(all, given[i]);
    return all;
  }
};

// The list has each key with the values of all its items, combined in some way; or no list was made.
template <class Design, class Op>
void expect_list(u64 n, repeats how, bool made, u64 seed) {
  SCOPED_TRACE("repeats " + std::to_string(static_cast<int>(how)) + ", " + std::to_string(n) +
               " items, TILEHASH_SEED=" + std::to_string(seed));
  using slot = typename Design::slot_type;
  using value = typename Design::mapped_type;
  emulated space({.seed = seed, .preempt = true});
  random_numbers random(seed);
  repeating_items<typename Design::key_type, value> items(n, how, random);
  if constexpr (std::same_as<value, u64>) {  // sums carry from one half to the other
    for (u64 i = 0; i < n; ++i) items.values[i] = items.values[i] << 24 | 0xFFF000;
    for (auto& [key, values] : items.of_key)
      for (u64& v : values) v = v << 24 | 0xFFF000;
  }
  const buffer<typename Design::key_type, emulated> k(space, items.keys);
  const buffer<value, emulated> v(space, items.values);
  const buffer<u64, emulated> counters(space, detail::call_counters::words);
  space.fill(counters.data(), counters.size(), u64(0));
  const detail::array_source<slot> all{k.data(), v.data()};
  const auto memory = detail::start_combining(space, all, n, Op(), {counters.data()});
  ASSERT_TRUE(memory);
  const detail::combined_items<slot> list{all, memory->list()};
  EXPECT_EQ(*list.list.repeats != 0, made);
  std::map<typename slot::key_bits, std::vector<value>> given, got;
  u64 valid = 0, illegal = 0;
  for (u64 i = 0; i < n; ++i) {
    const auto x = list(i);
    valid += x.valid;
    if (x.valid && x.key.legal) got[x.key.bits].push_back(detail::from_bits<value>(x.value));
  }
  for (const u64 count : counters.to_host()) illegal += count;
  EXPECT_EQ(illegal, made ? items.illegal : 0);
  EXPECT_EQ(valid, made ? *list.list.length : n);
  for (const auto& [key, values] : items.of_key) given[detail::query<slot>(key).bits] = values;
  ASSERT_EQ(got.size(), given.size());
  u64 wrong = 0;
  for (const auto& [bits, values] : given)
    wrong += model_of<Op>::of(values) != model_of<Op>::of(got.at(bits));
  EXPECT_EQ(wrong, 0U);
  if (how == repeats::one_key || how == repeats::few) {
    EXPECT_LE(valid, 2 * given.size()) << "a block joins the replicas of a key";
  }
}

TYPED_TEST(BlockCombine, KeepsEveryItem) {
  using design = typename TypeParam::design;
  using op = typename TypeParam::op_type;
  for (const repeats how :
       {repeats::one_key, repeats::two_in_turn, repeats::few, repeats::some, repeats::half_of_one})
    expect_list<design, op>(9'001, how, true, run_seed());
  expect_list<design, op>(45'000, repeats::distinct, false, run_seed());
}
// A block has slots for fewer keys than these.
TEST(BlockCombineOfMoreKeys, ThanSlots) {
  expect_list<tiled<u64, u64>, op::sum>(45'000, repeats::half_of_one, true, run_seed());
}

// A list of few keys has each key once, with the values of all its items.
template <class Design, class Op>
void expect_few(u64 n, repeats how, bool made, u64 seed) {
  SCOPED_TRACE("repeats " + std::to_string(static_cast<int>(how)) + ", " + std::to_string(n) +
               " items, TILEHASH_SEED=" + std::to_string(seed));
  using slot = typename Design::slot_type;
  using value = typename Design::mapped_type;
  emulated space({.seed = seed, .preempt = true});
  random_numbers random(seed);
  const repeating_items<typename Design::key_type, value> items(n, how, random);
  const buffer<typename Design::key_type, emulated> k(space, items.keys);
  const buffer<value, emulated> v(space, items.values);
  const auto list = detail::combine_few(space, detail::array_source<slot>{k.data(), v.data()}, n, Op());
  ASSERT_EQ(list.has_value(), made);
  if (!made) return;
  EXPECT_TRUE(list->complete && list->unique);
  EXPECT_EQ(list->left, 0U);
  EXPECT_EQ(list->illegal, items.illegal);
  ASSERT_EQ(list->size, items.of_key.size());
  std::map<typename slot::key_bits, value> got;
  for (u64 i = 0; i < list->size; ++i) {
    const auto x = list->source()(i);
    got[x.key.bits] = detail::from_bits<value>(x.value);
  }
  u64 wrong = 0;
  for (const auto& [key, values] : items.of_key)
    wrong += model_of<Op>::of(values) != got[detail::query<slot>(key).bits];
  EXPECT_EQ(wrong, 0U);
}
TYPED_TEST(BlockCombine, ListsEachOfFewKeysOnce) {
  using design = typename TypeParam::design;
  using op = typename TypeParam::op_type;
  for (const repeats how : {repeats::one_key, repeats::two_in_turn, repeats::few, repeats::some})
    expect_few<design, op>(20'001, how, true, run_seed());
  for (const repeats how : {repeats::half_of_one, repeats::distinct})
    expect_few<design, op>(45'000, how, false, run_seed());
}

template <class Asked>
class BlockCombineInCalls : public ::testing::Test {};
#if TILEHASH_FEW_TYPES  // a sum counts items, and a float may be NaN
using asked_in_calls = ::testing::Types<asked<float, double, op::sum>>;
#else
using asked_in_calls = all_asked;
#endif
TYPED_TEST_SUITE(BlockCombineInCalls, asked_in_calls);

// A call of many items that does not synchronize.
TYPED_TEST(BlockCombineInCalls, WithoutWaiting) {
  using design = typename TypeParam::design;
  using op = typename TypeParam::op_type;
  emulated space({.seed = run_seed(), .preempt = true});
  random_numbers random(run_seed());
  const u64 n = detail::least_to_sample(space);
  for (const repeats how : {repeats::some, repeats::half_of_one}) {
    SCOPED_TRACE("repeats " + std::to_string(static_cast<int>(how)) +
                 ", TILEHASH_SEED=" + std::to_string(run_seed()));
    const repeating_items<typename design::key_type, typename design::mapped_type> items(n, how, random);
    const u64 keys = items.of_key.size();
    if (!is_asked(how == repeats::some ? 1 : 0, 2)) continue;
    if (how != repeats::some || !small_sizes())
      insert_repeats<design, emulated, op>(space, items, keys, false, false, false);
    if (how == repeats::some || !small_sizes())
      insert_repeats<design, emulated, op>(space, items, keys / 3, false, false, false);
  }
}

// Keys of the whole list are displaced for.
TEST(BlockCombineOfFewSlots, FindsSlotsForAllKeys) {
  emulated space({.seed = run_seed(), .preempt = true});
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(run_seed()));
  random_numbers random(run_seed());
  const repeating_items<u64, u64> items(12'000, repeats::some, random);
  const buffer<u64, emulated> k(space, items.keys), v(space, items.values);
  const buffer<insert_report, emulated> report(space, 1);
  table<tiled<u64, u64>, emulated> t(space, items.of_key.size(),
                                     {.load_factor = 0.95, .seed = run_seed(), .grow = false});
  t.insert_async(space, k.span(), v.span(), report.data());
  EXPECT_EQ(report.to_host()[0].refused, 0U);
  EXPECT_EQ(t.size(), items.of_key.size());
}

// Many more items than slots are combined whatever becomes of their values, and fewer of them suffice.
TEST(BlockCombineOfFewSlots, ServesInsertsAndAssignments) {
  using design = tiled<u64, u64>;
  emulated space({.seed = run_seed(), .preempt = true});
  SCOPED_TRACE("TILEHASH_SEED=" + std::to_string(run_seed()));
  random_numbers random(run_seed());
  u64 number = 0;
  for (const repeats how : {repeats::one_key, repeats::few, repeats::some, repeats::distinct}) {
    if (!is_asked(number++, 4)) continue;
    // Most of the distinct ones are refused.
    const u64 n = how == repeats::distinct ? scaled(3'000, 700) : 12'345;
    ASSERT_LT(n, detail::least_to_sample(space));
    const repeating_items<u64, u64> items(n, how, random);
    const u64 keys = items.of_key.size();
    const u64 enough = how == repeats::distinct ? n / 16 : keys;
    for (const u64 made_for : {enough, keys / 16 + 1}) {
      if (made_for != enough && small_sizes()) {  // a refused item costs a long search
        if (how == repeats::some)
          insert_repeats<design, emulated, op::sum>(space, items, made_for, false, false, false);
        continue;
      }
      insert_repeats<design, emulated, op::sum>(space, items, made_for, false, false, true);
      insert_repeats<design, emulated, op::assign>(space, items, made_for, false, false, false);
      insert_repeats<design, emulated, op::sum>(space, items, made_for, false, false, false);
    }
  }
}

}  // namespace
}  // namespace tilehash::contract
