// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include <contract/published_keys.hpp>

namespace tilehash::contract {
TEST(published_keys, indexes_are_two_way) {
  cuda space;
  expect_two_way_indexes(space, 1'000);
  expect_two_way_indexes(space, scaled(200'000, 20'000));
}
TEST(published_keys, multi_value_tables_keep_all_values) {
  cuda space;
  expect_multi_value_tables(space, 1'000);
  expect_multi_value_tables(space, scaled(200'000, 20'000));
}
TEST(published_keys, sets_have_each_key_once) {
  cuda space;
  expect_sets(space, 1'000);
  expect_sets(space, scaled(200'000, 20'000));
}
}  // namespace tilehash::contract
