// SPDX-License-Identifier: Apache-2.0
// A map takes keys and values of 1, 2, 4, 8 and 16 bytes in all combinations.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <tilehash/map.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash {
namespace {

using sixteen = std::array<u64, 2>;

template <class T>
T number(u64 x) {
  const u64 bits[2] = {mix64(x), x};
  T t;
  std::memcpy(&t, bits, sizeof t);
  return t;
}

// Keys by bytes, as no two types have the same order.
template <class Key, class Value>
void expect_like_the_model() {
  SCOPED_TRACE(std::to_string(sizeof(Key)) + " and " + std::to_string(sizeof(Value)) + " bytes");
  const u64 n = sizeof(Key) == 1 ? 200 : 3'000;
  std::map<Key, Value> model;
  std::vector<Key> keys, asked;
  std::vector<Value> values;
  for (u64 i = 0; i < n; ++i) {
    keys.push_back(number<Key>(i));
    values.push_back(number<Value>(i + n));
    model.emplace(keys[i], values[i]);
  }
  for (u64 i = 0; i < 2 * n; ++i) asked.push_back(number<Key>(i));
  cpu space(2);
  map<Key, Value, cpu> t(space, 10);
  EXPECT_EQ(t.insert(space, keys, values).inserted, model.size());
  const auto compare = [&] {
    ASSERT_EQ(t.size(), model.size());
    std::vector<Value> out(asked.size());
    const std::unique_ptr<bool[]> found(new bool[asked.size()]);
    t.find(space, asked, out, std::span<bool>(found.get(), asked.size()));
    for (u64 i = 0; i < asked.size(); ++i) {
      const auto at = model.find(asked[i]);
      ASSERT_EQ(found[i], at != model.end());
      if (found[i] && sizeof(Key) > 2) {  // shorter ones come twice, and any of their values wins
        ASSERT_EQ(out[i], at->second);
      }
    }
  };
  compare();
  keys.resize(n / 2);
  for (const Key& key : keys) model.erase(key);
  t.erase(space, keys);
  compare();
}

template <class Key>
class sizes_of_types : public ::testing::Test {};
using keys = ::testing::Types<u8, u16, u32, u64, sixteen>;
TYPED_TEST_SUITE(sizes_of_types, keys);

TYPED_TEST(sizes_of_types, of_values) {
  expect_like_the_model<TypeParam, u8>();
  expect_like_the_model<TypeParam, u16>();
  expect_like_the_model<TypeParam, u32>();
  expect_like_the_model<TypeParam, u64>();
  expect_like_the_model<TypeParam, sixteen>();
}

}  // namespace
}  // namespace tilehash
