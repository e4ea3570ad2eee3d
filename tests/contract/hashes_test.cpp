// SPDX-License-Identifier: Apache-2.0
// Every hash function serves the designs, and hash_graph with wide offsets too.
#include <gtest/gtest.h>

#include <vector>

#include <tilehash/papers/papers.hpp>
#include <tilehash/tilehash.hpp>

namespace tilehash {
namespace {

template <class Design>
class hashes : public ::testing::Test {};
template <class K, class V, class H>
using first_fit = bucketed_cuckoo<K, V, H>;
using hashed_designs = ::testing::Types<
    linear_probing<u64, u32, linear_polynomial>, papers::quadratic_probing<u32, u32, xor_polynomial>,
    double_hashing<u32, u32, jenkins>, linear_probing<u32, u32, identity>, first_fit<u64, u32, jenkins>,
    first_fit<u32, u32, xor_polynomial>, first_fit<u32, u32, linear_polynomial>,
    first_fit<u64, u64, identity>, hash_graph<u64, u32, linear_polynomial>, hash_graph<u32, u32, identity>,
    hash_graph<u32, u32, murmur, u64>, papers::two_level_cuckoo<u64, u32, 2048, linear_polynomial>,
    papers::two_level_cuckoo<u32, u32, 2048, xor_polynomial>>;
TYPED_TEST_SUITE(hashes, hashed_designs);

TYPED_TEST(hashes, find_every_key) {
  using key = typename TypeParam::key_type;
  using value = typename TypeParam::mapped_type;
  cpu space(2);
  std::vector<key> keys(10'000);
  std::vector<value> values(keys.size()), out(keys.size());
  for (u64 i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<key>(mix64(i) >> (64 - 8 * sizeof(key))), values[i] = static_cast<value>(i);
  table<TypeParam, cpu> t(space);
  const auto report = t.build(space, keys, values);
  EXPECT_EQ(report.refused, 0U);
  if (report.inserted == keys.size()) {
    t.find(space, keys, out);
    EXPECT_EQ(out, values);
  }
  std::vector<u32> counts(keys.size());
  t.count(space, keys, counts);
  for (u32 n : counts) ASSERT_GE(n, 1U);
}

}  // namespace
}  // namespace tilehash
