// SPDX-License-Identifier: Apache-2.0
// A bad argument leads to one clear line, and the table stays as it was.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <contract/message_of.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/tilehash.hpp>

namespace tilehash {
namespace {

using contract::message_of;

testing::AssertionResult says(const std::string& message, const std::string& part) {
  if (message.starts_with("tilehash: ") && message.find(part) != std::string::npos &&
      message.find('\n') == std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the message is: " << message;
}

const std::vector<u32> two = {1, 2}, three = {1, 2, 3};

template <class Design>
class arguments : public ::testing::Test {};
using maps = ::testing::Types<linear_probing<u32, u32>, bucketed_cuckoo<u32, u32>, tiled<u32, u32>,
                              hash_graph<u32, u32>>;
TYPED_TEST_SUITE(arguments, maps);

TYPED_TEST(arguments, of_different_lengths) {
  cpu space(1);
  std::vector<u32> out(2);
  std::array<bool, 2> flag_array{};
  const std::span<bool> flags = flag_array;
  std::vector<outcome> outcomes(2);
  table<TypeParam, cpu> t(space);
  EXPECT_EQ(t.build(space, three, three).inserted, 3U);
  EXPECT_TRUE(says(message_of<invalid_argument>([&] { std::ignore = t.build(space, three, two); }),
                   "build: keys and values differ in length"));
  EXPECT_TRUE(says(message_of<invalid_argument>([&] { t.find(space, three, out); }), "find: "));
  EXPECT_TRUE(says(message_of<invalid_argument>([&] { t.find(space, two, out, flags.first(1)); }),
                   "flags differ in length"));
  EXPECT_TRUE(says(message_of<invalid_argument>([&] { t.find_or(space, three, out, 0U); }), "find_or: "));
  EXPECT_TRUE(says(message_of<invalid_argument>([&] { t.contains(space, three, flags); }), "contains: "));
  EXPECT_TRUE(says(message_of<invalid_argument>([&] { t.count(space, three, out); }), "count: "));
  EXPECT_TRUE(
      says(message_of<invalid_argument>([&] { t.probe_counts(space, three, out); }), "probe_counts: "));
  if constexpr (insertable<TypeParam>) {
    EXPECT_TRUE(says(message_of<invalid_argument>([&] { std::ignore = t.insert(space, three, two); }),
                     "insert: keys and values"));
    EXPECT_TRUE(
        says(message_of<invalid_argument>([&] { std::ignore = t.insert(space, three, three, outcomes); }),
             "insert: keys and outcomes"));
  }
  std::vector<u32> keys(3), values(3);
  EXPECT_TRUE(
      says(message_of<invalid_argument>([&] { t.retrieve_all(space, out, values); }), "smaller than size()"));
  EXPECT_TRUE(
      says(message_of<invalid_argument>([&] { t.retrieve_all(space, keys, out); }), "smaller than size()"));
  EXPECT_EQ(t.retrieve_all(space, keys, values), 3U);
  t.find(space, two, out, flags);
  EXPECT_EQ(out, two);
  EXPECT_TRUE(flags[0] && flags[1]);
}

// Arrays that are written overlap nothing else, but for answers over their keys (tests/contract/habits.hpp): here
// arrays begin an element later, or have elements of another width.
TYPED_TEST(arguments, that_overlap) {
  cpu space(1);
  table<TypeParam, cpu> t(space);
  EXPECT_EQ(t.build(space, three, three).inserted, 3U);
  std::vector<u32> memory = {1, 2, 3, 0};
  const auto before = memory;
  const std::span<const u32> keys = std::span(memory).first(3);
  const std::span<u32> later = std::span(memory).last(3);
  std::vector<u32> out(3);
  const std::span over_out(reinterpret_cast<bool*>(out.data()), 3),
      over(reinterpret_cast<bool*>(memory.data()), 3);
  const auto refuses = [&](const char* message, const std::function<void()>& call) {
    EXPECT_TRUE(says(message_of<invalid_argument>(call), message));
    EXPECT_EQ(memory, before);
  };
  refuses("find: the results overlap the keys", [&] { t.find(space, keys, later); });
  refuses("find: the results overlap the keys",
          [&] { t.find(space, std::span<const u32>(later), std::span(memory).first(3)); });
  refuses("find: the flags overlap the keys", [&] { t.find(space, keys, out, over); });
  refuses("find: the flags overlap the results", [&] { t.find(space, keys, out, over_out); });
  refuses("find_or: the results overlap the keys", [&] { t.find_or(space, keys, later, 0U); });
  refuses("contains: the results overlap the keys", [&] { t.contains(space, keys, over); });
  refuses("count: the results overlap the keys", [&] { t.count(space, keys, later); });
  refuses("probe_counts: the results overlap the keys", [&] { t.probe_counts(space, keys, later); });
  refuses("retrieve_all: the values overlap the keys",
          [&] { t.retrieve_all(space, std::span(memory).first(3), later); });
  refuses("retrieve_all: the values overlap the keys", [&] { t.retrieve_all(space, later, later); });
  if constexpr (insertable<TypeParam>) {
    const std::span outcomes(reinterpret_cast<outcome*>(memory.data()), 3);
    refuses("insert: the outcomes overlap the keys",
            [&] { std::ignore = t.insert(space, keys, three, outcomes); });
    refuses("insert: the outcomes overlap the values",
            [&] { std::ignore = t.insert_or_assign(space, three, keys, outcomes); });
    table<TypeParam, cpu> fixed(space, 10, {.grow = false});
    std::array<u64, 4> words{};
    const std::span<const u32> in_words(reinterpret_cast<const u32*>(words.data()), 8);
    std::array<u32, 8> others{};
    auto* const report = reinterpret_cast<insert_report*>(words.data());
    refuses("insert_async: the report overlap the keys",
            [&] { fixed.insert_async(space, in_words, others, report); });
    refuses("insert_async: the report overlap the values",
            [&] { fixed.insert_async(space, others, in_words, report); });
    refuses("erase_async: the result overlap", [&] { fixed.erase_async(space, in_words, words.data() + 3); });
    EXPECT_EQ(fixed.size(), 0U);
    EXPECT_EQ(t.apply(space, {}, {}, {}, {}, {}), apply_report{});
    const std::vector<operation> finds(3, operation::find);
    refuses("apply: the flags overlap the results",
            [&] { std::ignore = t.apply(space, finds, three, {}, out, over_out); });
  }
  EXPECT_EQ(t.size(), 3U);
}

// ... of ids, and of all values of a key.
TEST(arguments_that_overlap, of_ids_and_of_values) {
  cpu space(1);
  table<indexed<u32, u32>, cpu> ids(space);
  multimap<u32, u32, cpu> all(space);
  EXPECT_EQ(ids.insert(space, three, three).inserted, 3U);
  EXPECT_EQ(all.build(space, three, three).inserted, 3U);
  alignas(8) std::array<u32, 16> memory = {1, 2, 3};
  const auto before = memory;
  const std::span<u32> words = memory, first = words.first(3), later = words.subspan(1, 3),
                       apart = words.subspan(8, 3);
  const std::span<const u32> keys = first;
  const std::span over(reinterpret_cast<bool*>(memory.data()), 3);
  const std::span offsets(reinterpret_cast<u64*>(memory.data()), 4), offsets_apart(offsets.data() + 4, 4);
  const auto refuses = [&](const char* message, const std::function<void()>& call) {
    EXPECT_TRUE(says(message_of<invalid_argument>(call), message));
    EXPECT_EQ(memory, before);
  };
  refuses("find_ids: the ids overlap the keys", [&] { ids.find_ids(space, keys, later); });
  refuses("keys_of: the keys overlap the ids", [&] { ids.keys_of(space, keys, later); });
  refuses("keys_of: the flags overlap the ids", [&] { ids.keys_of(space, keys, apart, over); });
  refuses("keys_of: the flags overlap the keys", [&] { ids.keys_of(space, apart, first, over); });
  refuses("retrieve: the offsets overlap the keys", [&] { all.retrieve(space, keys, offsets, apart); });
  refuses("retrieve: the values overlap the keys", [&] { all.retrieve(space, keys, offsets_apart, later); });
  refuses("retrieve: the values overlap the offsets",
          [&] { all.retrieve(space, keys, offsets_apart, words.subspan(10, 3)); });
}

// Lookups that do not wait give the same answers once the space has.
TYPED_TEST(arguments, asynchronous_lookups) {
  cpu space(2);
  table<TypeParam, cpu> t(space);
  EXPECT_EQ(t.build(space, three, three).inserted, 3U);
  const std::vector<u32> asked = {3, 9};
  std::vector<u32> values(2), or_values(2), counts(2);
  std::array<bool, 2> found{}, contained{};
  t.find_async(space, asked, values, found);
  t.find_or_async(space, asked, or_values, 7U);
  t.contains_async(space, asked, contained);
  t.count_async(space, asked, counts);
  space.synchronize();
  EXPECT_EQ(values, (std::vector<u32>{3, 0}));
  EXPECT_EQ(or_values, (std::vector<u32>{3, 7}));
  EXPECT_EQ(counts, (std::vector<u32>{1, 0}));
  EXPECT_TRUE(found[0] && contained[0] && !found[1] && !contained[1]);
}

// An empty span asks for nothing, wherever it points.
TYPED_TEST(arguments, empty_spans_with_an_address) {
  cpu space(1);
  table<TypeParam, cpu> t(space);
  EXPECT_EQ(t.build(space, three, three).inserted, 3U);
  std::array<bool, 2> flags = {true, true};
  std::vector<u32> out(2);
  const u32 absent[] = {8, 9};
  t.find(space, absent, out, std::span(flags).first(0));
  EXPECT_TRUE(flags[0] && flags[1]);
  if constexpr (insertable<TypeParam>) {
    std::array<outcome, 2> outcomes = {outcome::refused, outcome::refused};
    EXPECT_EQ(t.insert(space, two, two, std::span(outcomes).first(0)).present, 2U);
    EXPECT_TRUE(outcomes[0] == outcome::refused && outcomes[1] == outcome::refused);
  }
}

TYPED_TEST(arguments, load_factors) {
  cpu space(1);
  constexpr double most = TypeParam::max_load_factor;
  const std::string highest = most > 1 ? "10" : most < 0.98 ? "0.952" : "0.98";
  const double over = most > 1 ? most + 0.01 : 0.99;
  for (double load : {0.0, -1.0, over, over + 1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(
        says(message_of<invalid_argument>([&] { table<TypeParam, cpu>(space, 10, {.load_factor = load}); }),
             "the load factor must be above 0 and at most " + highest));
}

// Without a load factor such a design has its highest one, whether the table may grow or not.
TEST(arguments_of_designs, default_load_factor_of_at_most_the_highest) {
  using narrow = horton<u32, u32, 2>;
  static_assert(narrow::max_load_factor < 0.8);
  cpu space(1);
  const u64 n = 1000;
  for (const bool grow : {true, false}) {
    const table<narrow, cpu> t(space, n, {.grow = grow});
    EXPECT_GE(t.capacity(), static_cast<u64>(n / narrow::max_load_factor));
    EXPECT_LT(t.capacity(), 2 * n);
  }
  EXPECT_THROW((table<narrow, cpu>(space, n, {.load_factor = 0.8, .grow = false})), invalid_argument);
}

TYPED_TEST(arguments, too_many_items) {
  if constexpr (insertable<TypeParam>) {
    cpu space(1);
    std::vector<u32> out(2);
    EXPECT_THROW((table<TypeParam, cpu>(space, u64(1) << 60)), invalid_argument);
    table<TypeParam, cpu> t(space);
    EXPECT_EQ(t.insert(space, two, two).inserted, 2U);
    EXPECT_THROW(t.reserve(space, ~u64(0)), invalid_argument);
    EXPECT_THROW(t.rehash(space, u64(1) << 50), invalid_argument);
    EXPECT_EQ(t.size(), 2U);
    t.find(space, two, out);
    EXPECT_EQ(out, two);
  } else {
    GTEST_SKIP() << "tables of this design are only built";
  }
}

TEST(arguments_of_sets, of_different_lengths) {
  cpu space(1);
  set<u32, cpu> s(space);
  std::array<bool, 2> flags{};
  std::vector<outcome> outcomes(2);
  std::vector<u32> keys(2);
  EXPECT_TRUE(says(message_of<invalid_argument>([&] { std::ignore = s.insert(space, three, outcomes); }),
                   "insert: keys and outcomes"));
  EXPECT_TRUE(s.empty());
  EXPECT_EQ(s.build(space, three).inserted, 3U);
  EXPECT_TRUE(says(message_of<invalid_argument>([&] { s.contains(space, three, flags); }), "contains: "));
  EXPECT_TRUE(
      says(message_of<invalid_argument>([&] { s.retrieve_all(space, keys); }), "smaller than size()"));
}

TEST(arguments_of_hash_graph, more_items_than_its_offsets_count) {
  const auto refused = [](auto of, u64 items) {
    return message_of<invalid_argument>([&] { decltype(of)::rows_for(items, 0.8); });
  };
  const u64 many = u64(1) << 32;
  EXPECT_TRUE(says(refused(chained<u32, u32>(), many), "too many items"));
  EXPECT_TRUE(says(refused(hash_graph<u32, u32, murmur, u32>(), many), "too many items"));
  EXPECT_NO_THROW((hash_graph<u32, u32, murmur, u64>::rows_for(many, 0.8)));
  EXPECT_NO_THROW((hash_graph<u32, u32>::rows_for(many, 0.8)));
  EXPECT_TRUE(says(refused(hash_graph<u32, u32>(), u64(1) << 43), "2^43"));
  EXPECT_TRUE(says(refused(dynamic_hash_graph<u32, u32>(), u64(1) << 43), "2^43"));
}

}  // namespace
}  // namespace tilehash
