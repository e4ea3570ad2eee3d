// SPDX-License-Identifier: Apache-2.0
// Keys and values packed into words: what goes in comes out, and no key is taken for the mark of a free slot.
#include <contract/random.hpp>
#include <tilehash/core/slot.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tilehash {
namespace {

template <u32 N>
using bytes = std::array<unsigned char, N>;

template <class T>
T any(std::mt19937_64& random) {
  bytes<sizeof(T)> b;
  for (auto& x : b) x = static_cast<unsigned char>(random());
  T t;
  std::memcpy(static_cast<void*>(&t), b.data(), sizeof t);
  return t;
}
template <class T>
T filled_with(unsigned char byte) {
  bytes<sizeof(T)> b;
  b.fill(byte);
  return std::bit_cast<T>(b);
}

template <class Key, class Value>
void expect_round_trip(const Key& key, std::mt19937_64& random) {
  using s = slot<Key, Value>;
  if (!detail::is_legal(key)) return;
  const auto bits = s::encode(key);
  const Key kept = s::decode(bits), same = detail::canonical(key);
  ASSERT_EQ(std::memcmp(&kept, &same, sizeof key), 0);
  const bool is_mark = bits == s::empty_mark || bits == s::tombstone_mark;
  ASSERT_EQ(is_mark, s::is_reserved(bits));
  ASSERT_TRUE(s::reserves_keys || !is_mark) << "with spare bits no key looks like a mark";
  typename s::value_bits value = 0;
  if constexpr (!s::is_set) value = detail::to_bits<typename s::value_bits>(any<Value>(random));
  const auto word = s::pack(bits, value);
  ASSERT_TRUE(s::key_of(word) == bits);
  ASSERT_TRUE(s::value_of(word) == value);
  ASSERT_EQ(s::is_free(word), is_mark);
}

template <class Key, class Value>
void check() {
  SCOPED_TRACE(testing::Message() << sizeof(Key) << "-byte key, "
                                  << detail::bytes_of<Value> << "-byte value");
  using s = slot<Key, Value>;
  const u32 size = s::key_bytes + s::value_bytes;
  static_assert(sizeof(typename s::word) == (size <= 4 ? 4 : size <= 8 ? 8 : 16));
  static_assert(s::empty_mark != s::tombstone_mark);
  EXPECT_TRUE(s::is_free(s::empty_word) && s::is_free(s::tombstone_word));
  EXPECT_TRUE(s::key_of(s::empty_word) == s::empty_mark && s::key_of(s::tombstone_word) == s::tombstone_mark);
  EXPECT_EQ(s::reserves_keys, size == sizeof(typename s::word));

  std::mt19937_64 random(contract::run_seed());
  for (int byte : {0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff}) {
    expect_round_trip<Key, Value>(filled_with<Key>(static_cast<unsigned char>(byte)), random);
    for (u32 i = 0; i < sizeof(Key); ++i) {
      for (int other : {0, 1, 2, 0xfd, 0xfe, 0xff}) {
        auto b = std::bit_cast<bytes<sizeof(Key)>>(filled_with<Key>(static_cast<unsigned char>(byte)));
        b[i] = static_cast<unsigned char>(other);
        expect_round_trip<Key, Value>(std::bit_cast<Key>(b), random);
      }
    }
  }
  for (int i = 0; i < 1'000; ++i) expect_round_trip<Key, Value>(any<Key>(random), random);
}

// Every combination of sizes that fits.
template <u32 KeyBytes, u32... ValueBytes>
void check_values(std::integer_sequence<u32, ValueBytes...>) {
  check<bytes<KeyBytes>, void>();
  (check<bytes<KeyBytes>, bytes<ValueBytes + 1>>(), ...);
}
template <u32... KeyBytes>
void check_keys(std::integer_sequence<u32, KeyBytes...>) {
  (check_values<KeyBytes + 1>(std::make_integer_sequence<u32, 15 - KeyBytes>{}), ...);
}
TEST(slot, of_every_size) { check_keys(std::make_integer_sequence<u32, 16>{}); }

TEST(slot, of_arithmetic_types) {
  check<u8, void>();
  check<u16, u8>();
  check<u32, u32>();
  check<u64, u32>();
  check<u32, u64>();
  check<u64, u64>();
  check<std::int64_t, float>();
  check<float, void>();
  check<float, u32>();
  check<double, std::int64_t>();
  check<bitwise<float>, u16>();
  check<bitwise<double>, double>();
}

TEST(slot, of_every_small_key) {
  std::mt19937_64 random(contract::run_seed());
  for (u32 key = 0; key < 1 << 16; ++key) {
    expect_round_trip<u16, u16>(static_cast<u16>(key), random);
    expect_round_trip<u16, u8>(static_cast<u16>(key), random);
    expect_round_trip<u16, void>(static_cast<u16>(key), random);
  }
}

TEST(slot, hashes_the_key_without_spare_bits) {
  const auto input = [](auto key, auto slot) {
    return decltype(slot)::hash_input(decltype(slot)::encode(key));
  };
  EXPECT_EQ(input(u32(77), slot<u32, void>{}), 77U);
  EXPECT_EQ(input(u32(77), slot<u32, u64>{}), 77U);
  EXPECT_EQ(input(u64(77), slot<u64, u8>{}), 77U);
  EXPECT_EQ(input(u8(200), slot<u8, u8>{}), 200U);
}

TEST(floats, compare_by_value) {
  using s = slot<double, u32>;
  EXPECT_TRUE(s::encode(0.0) == s::encode(-0.0));
  EXPECT_FALSE(s::encode(1.0) == s::encode(-1.0));
  EXPECT_EQ(std::signbit(s::decode(s::encode(-0.0))), false);
  EXPECT_FALSE(detail::is_legal(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(detail::is_legal(std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(detail::is_legal(bitwise<double>(std::numeric_limits<double>::quiet_NaN())));
}

TEST(floats, bitwise_compares_by_bits) {
  EXPECT_NE(bitwise<float>(0.0F), bitwise<float>(-0.0F));
  const auto nan = bitwise<float>(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(nan, nan);
  EXPECT_EQ(static_cast<float>(bitwise<float>(1.5F)), 1.5F);
}

struct padded {
  u8 a;
  u32 b;
};
struct whole {
  u32 a, b;
};
static_assert(key_like<u32> && key_like<whole> && key_like<double> && key_like<bitwise<double>>);
static_assert(!key_like<padded> && !key_like<std::vector<int>> && !key_like<long double>);
static_assert(value_like<void> && value_like<padded> && !value_like<std::vector<int>>);

}  // namespace
}  // namespace tilehash
