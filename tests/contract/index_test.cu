// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using indexing_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/index.hpp>
#include <contract/index_model.hpp>

namespace tilehash::contract {

// So many items that a sample says whether a short first window has all keys.
TEST_F(indexing, many_items_of_few_keys) {
  using machine = detail::tuning::gpu;
  const u64 all = machine::slots_windows * machine::first_window_items * space.large_blocks_at_once() + 5;
  for (const u64 distinct : {u64(1), u64(1'000), u64(30'000), all}) {
    const bool holds = distinct == 1'000;  // another key
    SCOPED_TRACE(distinct);
    std::vector<u32> keys(all);
    for (u64 i = 0; i < all; ++i) keys[i] = static_cast<u32>(i < all - 100 ? mix64(i) % distinct : i);
    tilehash::index<u32, indexing_space> table(space, distinct);
    const auto held = there(std::vector<u32>(1, static_cast<u32>(all)));
    if (holds) {
      ASSERT_EQ(table.insert(space, held.span()).inserted, 1U);
    }
    const auto k = there(keys);
    const buffer<u32, indexing_space> ids(space, all);
    const auto report = table.insert_and_find(space, k.span(), ids.span());
    ASSERT_EQ(report.refused, 0U);
    ASSERT_EQ(report.inserted + report.present, all);
    ASSERT_EQ(report.inserted + holds, table.size());
    const std::vector<u32> id = ids.to_host();
    std::vector<u32> key_of_id(table.size(), static_cast<u32>(all)), seen(table.size());
    for (u64 i = 0; i < all; ++i) {
      ASSERT_LT(id[i], table.size());
      if (seen[id[i]]++ == 0) key_of_id[id[i]] = keys[i];
      ASSERT_EQ(key_of_id[id[i]], keys[i]) << "two keys have the id " << id[i];
    }
    std::ranges::sort(key_of_id);
    ASSERT_TRUE(std::ranges::adjacent_find(key_of_id) == key_of_id.end()) << "a key has two ids";
    ASSERT_EQ(table.build(space, k.span()).inserted, report.inserted);
  }
}

}  // namespace tilehash::contract
