// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
// Its caches are so small that no table of the test stays in them.
struct rows_space : cpu {
  rows_space() : cpu(2) {}
  static constexpr u64 cache_bytes() { return u64(1) << 14; }
  static constexpr u64 last_cache_bytes() { return u64(1) << 16; }
};
using updates_space = rows_space;
inline constexpr bool updates_are_few = TILEHASH_FEW_TYPES != 0;
inline constexpr u64 random_tables = 200;
}  // namespace tilehash::contract

#include <contract/faulty.hpp>
#include <contract/random_rows.hpp>
#include <contract/row_updates.hpp>
#include <contract/rows.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, rows, row_designs);
using changed = ::testing::Types<hash_graph<u32, u32>, dynamic_hash_graph<u32, u32>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, random_rows, changed);

// The rows of a bin and their items take half the cache; fewer bins only where a block cannot
// count so many.
TEST(rows_in_bins, fit_the_cache) {
  using design = hash_graph<u32, u32>;
  const rows_space space;
  for (const u64 n : {u64(1), u64(1000), u64(100'000), u64(10'000'000)}) {
    for (const double load : {0.5, 1.0, 10.0}) {
      const u64 row_count = design::rows_for(n, load);
      const design rows(nullptr, row_count, n, 1);
      const u32 shift = binned::shift_for(space, rows, n);
      const u64 bins = ((row_count - 1) >> shift) + 1;
      const double row = 8 + 8 * static_cast<double>(n) / static_cast<double>(row_count);
      const double bin = static_cast<double>(u64(1) << shift) * row, half = 1 << 13;
      EXPECT_LE(bins, 1024U);
      EXPECT_GT(2 * bin, half);
      EXPECT_TRUE(bin <= half || 2 * bins > 1024) << n << " items, load " << load;
    }
  }
}

// Entries too wide for words go by bins of many rows, too. A bin with more items than its block's scratch holds is built
// in another way, with all others.
TEST(rows_in_bins, have_all_items_of_wide_types) {
  using key = std::array<u64, 2>;
  using design = hash_graph<key, u64, murmur, filtered_rows,
                            builders::in_bins<builders::binned<builders::count_and_scatter>>>;
  const u64 n = 120'000;
  cpu space(2);
  for (const u64 copies : {0, 40'000}) {
    std::vector<key> keys(n + copies, key{7, 7});
    for (u64 i = 0; i < n; ++i) keys[i] = {mix64(i), i};
    const std::vector<u64> values(keys.size(), 3);
    table<design, cpu> graph(space);
    ASSERT_EQ(graph.build(space, keys, values).inserted, keys.size());
    keys.resize(n + u64(copies != 0));  // one of the copies is counted
    std::vector<u32> counts(keys.size()), expected(n, 1);
    expected.resize(keys.size(), static_cast<u32>(copies));
    graph.count(space, keys, counts);
    EXPECT_TRUE(counts == expected) << copies << " copies";
  }
}

// A call that finds no memory, at whichever of its allocations, leaves the rows as a copy of them has them:
// what they hold, the sections' numbers, the seed, and what was reserved. Few items then go in where the rows
// are, many build them again.
template <class Call>
void expect_refused_calls_to_leave_rows(const char* name, const Call& call) {
  SCOPED_TRACE(name);
  using table_type = table<dynamic_hash_graph<u32, u32>, cpu>;
  const u64 held = 900;
  std::vector<u32> keys(3 * held);
  for (u64 i = 0; i < keys.size(); ++i) keys[i] = mix32(static_cast<u32>(i));
  const std::span<const u32> all = keys, few = all.subspan(held, 5);
  const std::vector<u32> crowd(400, 5);
  u64 refused = 0;
  for (bool met = true; met; ++refused) {
    SCOPED_TRACE(std::to_string(refused) + " allocations");
    ASSERT_LT(refused, 60U);
    ground<cpu, faulty_host> here(2);
    auto& space = here.space;
    table_type t(space, 0, {.load_factor = 0.3, .seed = 7});
    ASSERT_EQ(t.insert(space, all.first(held), all.first(held)).inserted, held);
    ASSERT_EQ(t.erase(space, all.first(50)), 50U);
    t.reserve(space, 2 * held);
    const void* const at_first = t.view().design.heads();
    table_type copy = t.clone(space);
    bool threw = false;
    here.memory.refuse_after(refused);
    here.memory.guarded([&] {
      try {
        call(space, t, all.subspan(2 * held));
      } catch (const out_of_memory&) {
        threw = true;
      }
    });
    here.memory.refuse_after(faulty::never);
    met = here.memory.refused();
    if (!threw) continue;  // as an erase that could not give memory back
    EXPECT_EQ(t.view().design.heads(), at_first);
    EXPECT_EQ(t.options().seed, copy.options().seed);
    const auto expect_alike = [&] {
      EXPECT_EQ(t.size(), copy.size());
      EXPECT_EQ(t.bytes(), copy.bytes());
      EXPECT_EQ(t.capacity(), copy.capacity());
      expect_sections_to_count_items(t, space);
      std::vector<u32> counts(keys.size()), counts_of_copy(keys.size());
      t.count(space, all, counts);
      copy.count(space, all, counts_of_copy);
      EXPECT_EQ(counts, counts_of_copy);
    };
    expect_alike();
    for (table_type* one : {&t, &copy}) EXPECT_EQ(one->insert(space, few, few).inserted, few.size());
    EXPECT_EQ(t.view().design.heads(), at_first) << "few items find room where they are";
    expect_alike();
    for (table_type* one : {&t, &copy}) EXPECT_EQ(one->insert(space, crowd, crowd).inserted, crowd.size());
    EXPECT_NE(t.view().design.heads(), at_first) << "so many of one key do not";
    expect_alike();
  }
  EXPECT_GT(refused, 2U) << "no memory was refused";
}
TEST(rows_without_memory, are_as_they_were) {
  expect_refused_calls_to_leave_rows("insert", [](auto& space, auto& t, auto more) {
    std::ignore = t.insert(space, more.first(200), more.first(200));
  });
  expect_refused_calls_to_leave_rows(
      "a large insert", [](auto& space, auto& t, auto more) { std::ignore = t.insert(space, more, more); });
  expect_refused_calls_to_leave_rows(
      "build", [](auto& space, auto& t, auto more) { std::ignore = t.build(space, more, more); });
  expect_refused_calls_to_leave_rows("erase", [](auto& space, auto& t, auto more) { t.erase(space, more); });
  expect_refused_calls_to_leave_rows("reserve", [](auto& space, auto& t, auto) { t.reserve(space, 9'000); });
  expect_refused_calls_to_leave_rows("rehash", [](auto& space, auto& t, auto) { t.rehash(space, 0); });
  expect_refused_calls_to_leave_rows("shrink_to_fit",
                                     [](auto& space, auto& t, auto) { t.shrink_to_fit(space); });
}

// Entries are moved whole: none has bytes that belong to no member, which no code would write.
template <class Key, class Value>
inline constexpr bool entry_has_no_holes =
    std::has_unique_object_representations_v<detail::row_entry<Key, Value>>;
static_assert(entry_has_no_holes<u32, u32>);
static_assert(entry_has_no_holes<u64, u32>);
static_assert(entry_has_no_holes<u32, u64>);
static_assert(entry_has_no_holes<u16, u8>);
static_assert(entry_has_no_holes<u64, std::array<u32, 5>>);
static_assert(entry_has_no_holes<std::array<u16, 3>, u32>);
static_assert(sizeof(detail::row_entry<u64, u32>) == 16 && alignof(detail::row_entry<u64, u32>) == 16);
static_assert(sizeof(detail::row_entry<u32, u64>) == 16 && alignof(detail::row_entry<u32, u64>) == 16);

// A row's word says where it begins, how long it is and what its filter has, beyond 2^32 items too. (On a GPU
// whose memory holds so many, rows_test.cu builds them.)
TEST(rows_of_over_2_to_the_32_items, begin_and_end_where_they_should) {
  using index = filtered_rows;
  for (const u64 begin :
       {u64(0), (u64(1) << 32) - 1, u64(1) << 32, (u64(1) << 40) + 3, index::most_items - 1000}) {
    for (const u64 size : {u64(0), u64(1), u64(14), u64(15), u64(16), u64(1000)}) {
      for (const u32 filter : {0U, 1U, index::full_filter}) {
        const u64 words[] = {index::word(begin, size, filter),
                             index::word(begin + size, 15, index::full_filter)};
        EXPECT_EQ(index::begin(words[0]), begin);
        EXPECT_EQ(index::end(words), begin + size);
        EXPECT_EQ(index::filter_in(words[0]), filter);
      }
    }
  }
}
}  // namespace tilehash::contract
