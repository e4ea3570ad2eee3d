// SPDX-License-Identifier: Apache-2.0
// The rules of `cuckoo` alone: the least size for each number of functions, the stash, restarts.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include <contract/bad_hash.hpp>
#include <contract/random.hpp>
#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>
#include <tilehash/papers/cuckoo.hpp>
#include <tilehash/tilehash.hpp>

namespace tilehash {
namespace {

using contract::run_seed;
using contract::scaled;

template <u32 Functions, u32 Stash = 101>
using map_of = papers::cuckoo<u32, u32, Functions, murmur, Stash>;

std::vector<u32> numbers(u64 first, u64 n) {  // all different: the mixer is a bijection
  std::vector<u32> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(first + i));
  return keys;
}

template <class Design>
class least_size : public ::testing::Test {};
using all_functions = ::testing::Types<map_of<2>, map_of<3>, map_of<4>, map_of<5>>;
TYPED_TEST_SUITE(least_size, all_functions);

constexpr double least_slots[] = {0, 0, 2.1, 1.1, 1.03, 1 / 0.98};
template <class Design>
constexpr u32 functions_of = 0;
template <u32 Functions, u32 Stash>
constexpr u32 functions_of<map_of<Functions, Stash>> = Functions;

// The smallest table that is documented holds all items; a fuller one is refused, or made larger. One in 350
// tables of 10 000 items with three functions has an item that finds no place: other functions have one,
// at the same size.
TYPED_TEST(least_size, is_enough) {
  cpu space(2);
  const u64 n = scaled(100'000, 10'000), seed = run_seed();
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(seed));
  const double size = least_slots[functions_of<TypeParam>], load = TypeParam::max_load_factor;
  EXPECT_NEAR(load, 1 / size, 1e-9);
  const auto keys = numbers(seed, n);
  table<TypeParam, cpu> least(space, n, {.load_factor = load, .seed = seed});
  const u64 capacity = least.capacity(), slots = capacity - TypeParam::stash_slots;
  EXPECT_NEAR(static_cast<double>(slots), size * static_cast<double>(n), 2);
  const auto report = least.insert(space, keys, keys);
  EXPECT_EQ(report, (insert_report{.inserted = n, .restarts = report.restarts}));
  EXPECT_LE(report.restarts, 2U);
  EXPECT_EQ(least.capacity(), capacity);
  std::vector<u32> found(n);
  least.find(space, keys, found);
  EXPECT_EQ(found, keys);

  table<TypeParam, cpu> fuller(space, n, {.load_factor = 0.98});
  EXPECT_EQ(fuller.capacity(), capacity);
}
TEST(least_size, is_asked_for) {
  cpu space(1);
  try {
    const table<map_of<2>, cpu> t(space, 100, {.load_factor = 0.8, .grow = false});
    ADD_FAILURE() << "no error";
  } catch (const invalid_argument& e) {
    EXPECT_STREQ(e.what(),
                 "tilehash: cuckoo_2 has at least 2.1 slots an item: ask for a lower load factor, or let the "
                 "table grow");
  }
  EXPECT_THROW((table<map_of<4>, cpu>(space, 0, {.load_factor = 1.5})), invalid_argument);
}

// More keys than there are slots, so that the stash is used; then they go and come back. All as a map has it.
TYPED_TEST(least_size, then_the_stash) {
  cpu space(2);
  using map = table<TypeParam, cpu>;
  constexpr u32 functions = functions_of<TypeParam>;
  map t(space, 200, {.load_factor = 0.4, .seed = run_seed(), .grow = false});
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const auto keys = numbers(0, 900);
  std::vector<outcome> outcomes(keys.size());
  std::vector<u32> probes(keys.size());
  const auto stashed = [&] {
    t.probe_counts(space, keys, probes);
    return static_cast<u64>(std::ranges::count(probes, functions + 1));
  };
  EXPECT_EQ(stashed(), 0U);
  auto report = t.insert(space, keys, keys, outcomes);
  EXPECT_GT(report.refused, 0U);
  EXPECT_GT(t.size(), t.capacity() - TypeParam::stash_slots);  // all slots, and then some
  std::unordered_map<u32, u32> model;
  for (u64 i = 0; i < keys.size(); ++i) {
    if (outcomes[i] == outcome::inserted) model[keys[i]] = keys[i];
  }
  const auto expect_like_the_model = [&] {
    ASSERT_EQ(t.size(), model.size());
    std::vector<u32> found(keys.size()), all(t.size()), values(t.size());
    t.count(space, keys, found);
    for (u64 i = 0; i < keys.size(); ++i) ASSERT_EQ(found[i], model.count(keys[i])) << i;
    ASSERT_EQ(t.retrieve_all(space, all, values), model.size());
    for (u64 i = 0; i < all.size(); ++i) ASSERT_EQ(model.at(all[i]), values[i]);
  };
  expect_like_the_model();
  EXPECT_EQ(t.insert(space, keys, keys).present, model.size());

  // Those in the stash have been looked up there, behind all their slots.
  std::vector<u32> gone;
  EXPECT_GT(stashed(), 0U);
  for (u64 i = 0; i < keys.size(); ++i) {
    if ((probes[i] == functions + 1 || i % 3 == 0) && model.erase(keys[i]) != 0) gone.push_back(keys[i]);
  }
  EXPECT_EQ(t.erase(space, gone), gone.size());
  expect_like_the_model();
  report = t.insert(space, gone, gone, std::span(outcomes).first(gone.size()));
  for (u64 i = 0; i < gone.size(); ++i) {
    if (outcomes[i] == outcome::inserted) model[gone[i]] = gone[i];
  }
  EXPECT_EQ(report.present, 0U);
  expect_like_the_model();
  t.clear(space);
  EXPECT_EQ(stashed(), 0U);
}

// A key in the stash while one of its slots is free again: it is present, and not inserted twice.
TEST(stash, is_looked_at_before_a_free_slot_is_taken) {
  cpu space(1);
  table<map_of<3>, cpu> t(space, 40, {.load_factor = 0.5, .grow = false});
  const auto keys = numbers(0, 400);
  EXPECT_NE(t.insert(space, keys, keys).refused, 0U);
  std::vector<u32> probes(keys.size()), others, in_stash;
  std::vector<u32> there(keys.size());
  t.probe_counts(space, keys, probes);
  t.count(space, keys, there);
  for (u64 i = 0; i < keys.size(); ++i) {
    if (there[i] != 0) (probes[i] == 4 ? in_stash : others).push_back(keys[i]);
  }
  ASSERT_FALSE(in_stash.empty());
  t.erase(space, others);
  EXPECT_EQ(t.insert(space, in_stash, in_stash), (insert_report{.present = in_stash.size()}));
  EXPECT_EQ(t.erase(space, in_stash), in_stash.size());
  EXPECT_EQ(t.erase(space, in_stash), 0U);
  EXPECT_TRUE(t.empty());
}

// Keys twice in one call to a table that gets full: both copies are on their way at once, and one may be in
// the stash when the other has found a way to a slot.
template <class Map>
void insert_pairs_into_full_tables(cpu& space, u64 seed) {
  SCOPED_TRACE(seed);
  const auto keys = numbers(seed << 20, 120);
  std::vector<u32> twice;
  for (const u32 key : keys) twice.insert(twice.end(), {key, key});
  if (seed % 2 == 0) std::ranges::reverse(twice), twice.insert(twice.end(), keys.begin(), keys.end());
  table<Map, cpu> t(space, 40, {.load_factor = 0.4, .seed = seed, .grow = false});
  std::vector<outcome> outcomes(twice.size());
  std::vector<u32> there(keys.size()), all, values;
  const auto report = t.insert(space, twice, twice, outcomes);
  t.count(space, keys, there);
  const u64 found = static_cast<u64>(std::ranges::count(there, 1U));
  EXPECT_EQ(report.inserted, found);
  EXPECT_EQ(t.size(), found);
  std::unordered_map<u32, u32> inserted, refused;
  for (u64 i = 0; i < twice.size(); ++i) {
    inserted[twice[i]] += outcomes[i] == outcome::inserted;
    refused[twice[i]] += outcomes[i] == outcome::refused && inserted[twice[i]] != 0;
  }
  for (u64 i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(inserted[keys[i]], there[i]);
    EXPECT_EQ(refused[keys[i]], 0U) << "a key that is in the table was refused";
  }
  all.resize(twice.size());
  values.resize(twice.size());
  EXPECT_EQ(t.retrieve_all(space, all, values), found);
  std::sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(found));
  EXPECT_EQ(std::adjacent_find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(found)),
            all.begin() + static_cast<std::ptrdiff_t>(found));
  EXPECT_EQ(t.erase(space, keys), found);
  EXPECT_EQ(t.erase(space, keys), 0U);
  EXPECT_TRUE(t.empty());
}
TEST(stash, keeps_keys_that_come_twice_from_being_stored_twice) {
  cpu space(1);
  for (u64 seed = 1; seed <= scaled(40, 3); ++seed) {
    insert_pairs_into_full_tables<map_of<2>>(space, seed);
    insert_pairs_into_full_tables<map_of<3>>(space, seed);
    insert_pairs_into_full_tables<map_of<4>>(space, seed);
  }
}

// A key walks on only where that may help, or tables that are too full would take ten times as long to say
// so: not when keys with the same slots take all of them, and not when the stash is
// full.
template <class Map>
double hopeless_share(const Map& t, const std::vector<u32>& keys) {
  using design = typename Map::design_type;
  using verdict = typename design::displacement::verdict;
  u64 hopeless = 0;
  for (const u32 key : keys) {
    const auto bits = detail::query<typename design::slot_type>(key).bits;
    const auto d = t.view().design.displacement_of(bits, design::slot_type::pack(bits, key));
    const auto v = d.attempt(solo_tile{}, design::max_searches, true);
    EXPECT_TRUE(v == verdict::hopeless || v == verdict::no_free_slot);
    hopeless += v == verdict::hopeless;
  }
  return static_cast<double>(hopeless) / static_cast<double>(keys.size());
}
TEST(stash, tells_when_to_give_up) {
  cpu space(1);
  const auto keys = numbers(0, 900);
  std::vector<u32> there(keys.size()), refused;
  table<papers::cuckoo<u32, u32, 4, contract::bad_at_first<1>>, cpu> equals(space, 200,
                                                                            {.seed = 0, .grow = false});
  EXPECT_EQ(equals.insert(space, std::span(keys).first(5), std::span(keys).first(5)).inserted, 5U);
  EXPECT_EQ(hopeless_share(equals, {keys.begin() + 5, keys.begin() + 25}), 1);

  table<map_of<4>, cpu> full(space, 200, {.load_factor = 0.4, .seed = 1, .grow = false});
  EXPECT_NE(full.insert(space, keys, keys).refused, 0U);
  full.count(space, keys, there);
  for (u64 i = 0; i < keys.size(); ++i) {
    if (there[i] == 0) refused.push_back(keys[i]);
  }
  ASSERT_GT(refused.size(), 200U);
  EXPECT_GT(hopeless_share(full, refused), 0.9);
}

// Any hash function serves.
TEST(restarts, of_a_weak_hash_function) {
  cpu space(2);
  const auto keys = numbers(0, 10'000);
  table<papers::cuckoo<u32, u32, 4, xor_polynomial>, cpu> t(space, 0, {.load_factor = 0.95});
  const auto report = t.build(space, keys, keys);
  EXPECT_EQ(report.inserted, keys.size());
  std::vector<u32> found(keys.size());
  t.find(space, keys, found);
  EXPECT_EQ(found, keys);
}

// A table that grows goes on growing, and takes other functions, until all items have a place; also when,
// with capacity for all, some find no slot by moving others.
template <class Design>
void expect_growth_until_all_fit() {
  SCOPED_TRACE(Design::name);
  cpu space(2);
  const auto keys = numbers(0, 500);
  table<Design, cpu> t(space, 100, {.seed = 0});
  std::vector<outcome> outcomes(keys.size());
  const auto report = t.insert(space, keys, keys, outcomes);
  EXPECT_EQ(report.inserted, keys.size());
  EXPECT_GE(report.restarts, 2U);
  EXPECT_EQ(static_cast<u64>(std::ranges::count(outcomes, outcome::inserted)), keys.size());
  EXPECT_EQ(t.size(), keys.size());
  std::vector<u32> found(keys.size());
  t.find(space, keys, found);
  EXPECT_EQ(found, keys);
}
TEST(restarts, go_on_until_all_items_have_a_place) {
  expect_growth_until_all_fit<papers::cuckoo<u32, u32, 4, contract::bad_at_first<2>>>();
  expect_growth_until_all_fit<bucketed_cuckoo<u32, u32, contract::bad_at_first<2>>>();
  expect_growth_until_all_fit<papers::bucketed_cuckoo_balanced<u32, u32, contract::bad_at_first<3>>>();
}

// Sections 5.5 and 6.1.1: small tables fail most, fuller ones more, and hardly any with a stash. A restart
// takes other hash functions and, the first times, no more memory.
struct constructions {
  u64 restarted = 0, larger = 0, lost = 0;
};
template <class Design>
constructions of_many(u64 n, double size) {
  cpu space(1);
  constructions all;
  const u64 trials = scaled(1'000, 200);
  for (u64 i = 0; i < trials; ++i) {
    const auto keys = numbers(run_seed() + i * n, n);
    table<Design, cpu> t(space, n, {.load_factor = 1 / size, .seed = run_seed() + 100 * i});
    const u64 before = t.capacity();
    const auto report = t.insert(space, keys, keys);
    all.restarted += report.restarts != 0;
    all.larger += t.capacity() != before;
    all.lost += n - report.inserted;
    EXPECT_TRUE(report.restarts != 0 || t.capacity() == before);
  }
  return all;
}
TEST(restarts, are_rare_with_a_stash) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  const auto tight = of_many<map_of<4, 0>>(500, 1.03), loose = of_many<map_of<4, 0>>(500, 1.25);
  const auto saved = of_many<map_of<4>>(500, 1.03);
  EXPECT_EQ(tight.lost + loose.lost + saved.lost, 0U);
  EXPECT_GT(tight.restarted, 5 * saved.restarted);
  EXPECT_GT(tight.restarted, 5 * loose.restarted);
  EXPECT_LE(tight.larger, tight.restarted / 2);
}

// A key whose slot of the stash is taken walks on. (10 of these same tables start again, and 28 without that; of the
// first 300, 4 and 8.)
TEST(restarts, are_few_where_slots_of_the_stash_are_taken) {
  cpu space(1);
  const u64 n = 2'000;
  u64 restarted = 0;
  for (u64 i = 0; i < scaled(1'200, 100); ++i) {
    const auto keys = numbers(i * n, n);
    table<map_of<3>, cpu> t(space, n, {.load_factor = map_of<3>::max_load_factor, .seed = 100 * i});
    restarted += t.insert(space, keys, keys).restarts != 0;
    EXPECT_EQ(t.size(), n);
  }
  EXPECT_LE(restarted, scaled(20, 5));
}

}  // namespace
}  // namespace tilehash
