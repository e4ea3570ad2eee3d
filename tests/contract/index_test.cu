// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using indexing_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/index.hpp>
#include <contract/index_model.hpp>

namespace tilehash::contract {

// So many items that a sample says whether a first window has all keys.
TEST_F(indexing, ManyItemsOfFewKeys) {
  const u64 n = detail::tuning::gpu::least_sampled_ids + 5;
  for (const u64 distinct : {u64(1), u64(1'000), u64(30'000), n}) {
    SCOPED_TRACE(distinct);
    std::vector<u32> keys(n);
    for (u64 i = 0; i < n; ++i) keys[i] = static_cast<u32>(mix64(i) % distinct);
    index<u32, indexing_space> table(space, distinct);
    const auto k = there(keys);
    const buffer<u32, indexing_space> ids(space, n);
    const auto report = table.insert_and_find(space, k.span(), ids.span());
    ASSERT_EQ(report.refused, 0U);
    ASSERT_EQ(report.inserted + report.present, n);
    ASSERT_EQ(report.inserted, table.size());
    const std::vector<u32> id = ids.to_host();
    std::vector<u32> key_of_id(table.size()), seen(table.size());
    for (u64 i = 0; i < n; ++i) {
      ASSERT_LT(id[i], table.size());
      if (seen[id[i]]++ == 0) key_of_id[id[i]] = keys[i];
      ASSERT_EQ(key_of_id[id[i]], keys[i]) << "two keys have the id " << id[i];
    }
    std::ranges::sort(key_of_id);
    ASSERT_TRUE(std::ranges::adjacent_find(key_of_id) == key_of_id.end()) << "a key has two ids";
  }
}

}  // namespace tilehash::contract
