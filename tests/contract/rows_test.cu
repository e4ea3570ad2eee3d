// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using rows_space = tilehash::cuda;
using updates_space = tilehash::cuda;
inline constexpr bool updates_are_few = false;
inline constexpr u64 random_tables = 2000;
}  // namespace tilehash::contract

#include <contract/random_rows.hpp>
#include <contract/row_updates.hpp>
#include <contract/rows.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, rows, row_designs);
using changed = ::testing::Types<hash_graph<u32, u32>,
                                 hash_graph<std::array<int, 4>, u32, murmur, filtered_rows, in_bins>,
                                 dynamic_hash_graph<u32, u32>, dynamic_hash_graph<u64, u32>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, random_rows, changed);

// Every key of 32 bits, some twice: more items than 32-bit offsets count.
struct many_keys {
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = static_cast<u32>(i); }
};
struct other_counts {
  const u32* counts;
  u64 twice;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (counts[i] != (i < twice ? 2U : 1U)) detail::fetch_add(wrong, u64(1));
  }
};
TEST(rows_of_over_2_to_the_32_items, count_them_all) {
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  if (free < size_t(100) << 30) GTEST_SKIP() << "it takes 100 GB of the GPU's memory";
  rows_space space;
  const u64 twice = u64(1) << 20, n = (u64(1) << 32) + twice;
  table<hash_graph<u32, void>, rows_space> t(space, 0, {.load_factor = 10});
  {
    const buffer<u32, rows_space> keys(space, n);
    space.for_each(n, many_keys{keys.data()});
    EXPECT_EQ(t.build(space, keys.span()), (insert_report{.inserted = n}));
  }
  const u64 asked = u64(1) << 26;
  const buffer<u32, rows_space> keys(space, asked), counts(space, asked);
  const buffer<u64, rows_space> wrong(space, 1);
  space.for_each(asked, many_keys{keys.data()});
  space.fill(wrong.data(), 1, u64(0));
  t.count(space, keys.span(), counts.span());
  space.for_each(asked, other_counts{counts.data(), twice, wrong.data()});
  EXPECT_EQ(t.size(), n);
  EXPECT_EQ(read_one(space, wrong.data()), 0U);
}
}  // namespace tilehash::contract
