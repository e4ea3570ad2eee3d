#include <array>
#include <type_traits>

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

#include <contract/random_rows.hpp>
#include <contract/row_updates.hpp>
#include <contract/rows.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, rows, row_designs);
using changed = ::testing::Types<hash_graph<u32, u32>, dynamic_hash_graph<u32, u32>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, random_rows, changed);

// What the rows of a bin have, with their items, takes half the cache; fewer bins only where a block cannot
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

// Entries are moved whole: none has bytes that belong to no member, and that nobody would write.
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
