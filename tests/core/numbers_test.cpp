// SPDX-License-Identifier: Apache-2.0
// Numbers as keys and as what ops combine: NaNs, both zeros, subnormal numbers and sums that wrap round. The
// same unit is also compiled with -ffast-math, which lets a compiler forget all of them: so numbers come from
// bits here, and are looked at as bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilehash/core/key.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/engine/records.hpp>
#include <tilehash/rows.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

namespace {
enum class colour : unsigned char { red };
struct colour_pair {
  int first;
};
#pragma pack(push, 1)
struct sample {  // its number has an odd address
  char channel;
  float level;
};
#pragma pack(pop)
}  // namespace
template <>
struct tilehash::keys::members_of<sample> : tilehash::keys::members<&sample::level, &sample::channel> {};
template <>
inline constexpr bool tilehash::keys::compared_by_address<const colour_pair*> = true;

namespace tilehash {
namespace {

template <class T>
using bits_for = std::conditional_t<sizeof(T) == 4, u32, u64>;
template <class T>
T number(bits_for<T> bits) {
  return std::bit_cast<T>(bits);
}
template <class T>
struct special {
  using bits = bits_for<T>;
  static constexpr u32 fraction_bits = sizeof(T) == 4 ? 23 : 52;
  static constexpr bits sign = bits(1) << (8 * sizeof(T) - 1);
  static constexpr bits infinity = static_cast<bits>(sign - (bits(1) << fraction_bits));
  static constexpr bits one = static_cast<bits>((infinity >> 1) & ~((bits(1) << fraction_bits) - 1));
  static constexpr bits least = 1;  // the least subnormal number
};

// ---- keys ----

template <class T>
void expect_keys_by_value() {
  using s = special<T>;
  for (const auto bits : {s::infinity + 1, s::infinity + 12'345, s::sign - 1}) {
    EXPECT_FALSE(detail::is_legal(number<T>(bits)));
    EXPECT_FALSE(detail::is_legal(number<T>(s::sign | bits)));
  }
  const std::vector<bits_for<T>> legal{0, s::least, s::one, s::infinity, s::infinity - 1};
  for (const auto bits : legal) {
    for (const auto sign : {bits_for<T>(0), s::sign}) {
      const auto expected = bits == 0 ? 0 : sign | bits;  // -0.0 is 0.0
      EXPECT_TRUE(detail::is_legal(number<T>(sign | bits)));
      EXPECT_EQ(std::bit_cast<bits_for<T>>(detail::canonical(number<T>(sign | bits))), expected);
      for (const auto other : legal)
        EXPECT_EQ(detail::same_key(number<T>(sign | bits), number<T>(other)), expected == other);
    }
  }
}
TEST(numbers, keys_by_value) {
  expect_keys_by_value<float>();
  expect_keys_by_value<double>();
}

// NaNs are refused, both zeros are one key, and no other two numbers are.
template <class Design>
void expect_table_by_value() {
  using key = typename Design::key_type;
  using s = special<key>;
  cpu space(1);
  table<Design, cpu> t(space);
  const std::vector<key> keys{number<key>(0),           number<key>(s::sign),         number<key>(s::least),
                              number<key>(s::infinity), number<key>(s::infinity + 1), number<key>(s::one),
                              number<key>(s::sign - 1), number<key>(s::sign | s::one)};
  const std::vector<u32> values{1, 2, 3, 4, 5, 6, 7, 8};
  const insert_report report = t.build(space, keys, values);
  EXPECT_EQ(report.refused, 2U);
  EXPECT_EQ(report.inserted + report.present, 6U);
  std::vector<u32> out(keys.size(), 99);
  std::vector<u8> found(keys.size());
  t.find(space, keys, out, found);
  EXPECT_EQ(found, (std::vector<u8>{1, 1, 1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(out[0], out[1]);
  EXPECT_TRUE(out[0] == 1 || out[0] == 2);
  for (const u64 i : {2, 3, 5, 7}) EXPECT_EQ(out[i], values[i]);
}
TEST(numbers, tables_by_value) {
  expect_table_by_value<linear_probing<float, u32>>();
  expect_table_by_value<hash_graph<double, u32>>();
}

// Members of packed structs are numbers like others, as keys, values and what is retrieved.
TEST(numbers, in_packed_structs) {
  using s = special<float>;
  cpu space(1);
  table<hash_graph<sample, sample>, cpu> t(space);
  std::vector<sample> keys;
  for (u32 i = 0; i < 300; ++i)
    keys.push_back({static_cast<char>(i % 3), number<float>(i < 3 ? (i == 1 ? s::sign : 0) : s::one + i)});
  keys.push_back({0, number<float>(s::infinity + 1)});
  EXPECT_EQ(t.build(space, keys, keys).refused, 1U);
  std::vector<sample> out(keys.size()), all(t.size()), values(t.size());
  std::vector<u8> found(keys.size());
  t.find(space, keys, out, found);
  for (u64 i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(found[i], i < 300);
    if (found[i] != 0) {
      EXPECT_TRUE(detail::same_key(out[i], keys[i]));
    }
  }
  EXPECT_EQ(t.retrieve_all(space, all, values), 300U);
  for (u64 i = 0; i < all.size(); ++i) EXPECT_TRUE(detail::same_key(all[i], values[i]));
}

// ---- the least and the greatest ----

// The result for all values at once: `better(a, b)` of the bits of two numbers.
template <class T>
bits_for<T> expected_of(std::vector<T> values, bool least) {
  using s = special<T>;
  std::vector<bits_for<T>> all;
  all.reserve(values.size());
  for (const T& x : values) all.push_back(std::bit_cast<bits_for<T>>(x));
  std::erase_if(all, [](auto bits) { return (bits & ~s::sign) > s::infinity; });
  if (all.empty()) return s::infinity + 1;
  const auto less = [](auto a, auto b) {
    const bool minus_a = (a & s::sign) != 0, minus_b = (b & s::sign) != 0;
    if (minus_a != minus_b) return minus_a;
    return minus_a ? a > b : a < b;
  };
  return least ? *std::ranges::min_element(all, less) : *std::ranges::max_element(all, less);
}
template <class T>
void expect_any_order() {
  using s = special<T>;
  using bits = bits_for<T>;
  const std::vector<bits> all{
      s::infinity + 1, s::sign | (s::infinity + 1), 0, s::sign, s::one, s::sign | s::one,
      s::infinity,     s::sign | s::least};
  for (u32 chosen = 1; chosen < 1U << all.size(); ++chosen) {
    if (std::popcount(chosen) > 4) continue;
    std::vector<bits> some;
    for (u32 i = 0; i < all.size(); ++i)
      if ((chosen >> i & 1) != 0) some.push_back(all[i]);
    std::ranges::sort(some);
    do {
      std::vector<T> values;
      values.reserve(some.size());
      for (const bits x : some) values.push_back(number<T>(x));
      T least = values[0], greatest = values[0];
      for (u64 i = 1; i < values.size(); ++i) {
        least = op::minimum{}(least, values[i]);
        greatest = op::maximum{}(greatest, values[i]);
      }
      const auto same = [](T x, bits y) {
        const bits b = std::bit_cast<bits>(x);
        return (y & ~s::sign) > s::infinity ? (b & ~s::sign) > s::infinity : b == y;
      };
      ASSERT_TRUE(same(least, expected_of(values, true)));
      ASSERT_TRUE(same(greatest, expected_of(values, false)));
    } while (std::ranges::next_permutation(some).found);
  }
}
TEST(numbers, least_and_greatest_in_any_order) {
  expect_any_order<float>();
  expect_any_order<double>();
}

// ---- sums ----

template <class T>
void expect_wrapping() {
  constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  EXPECT_EQ(op::sum{}(most, T(1)), least);
  EXPECT_EQ(op::sum{}(least, T(-1)), most);
  EXPECT_EQ(op::sum{}(T(3), T(-5)), static_cast<T>(-2));
}
TEST(numbers, sums_wrap_round) {
  expect_wrapping<signed char>();
  expect_wrapping<short>();
  expect_wrapping<int>();
  expect_wrapping<long>();
  expect_wrapping<u16>();
  const i128 most = static_cast<i128>(~u128(0) >> 1);
  EXPECT_TRUE(op::sum{}(most, i128(1)) == -most - 1);
  const auto total = op::mean{}(op::mean_of<int>{std::numeric_limits<int>::max(), 1}, op::mean_of<int>{1, 1});
  EXPECT_EQ(total.total, std::numeric_limits<int>::min());
  EXPECT_EQ(total.items, 2U);
}

// ---- what may be a key ----

static_assert(key_like<bool> && key_like<colour> && key_like<char8_t> && key_like<wchar_t>);
static_assert(key_like<i128> && key_like<u128> && key_like<bitwise<float>> && key_like<bitwise<double>>);
static_assert(!key_like<long double> && !key_like<std::pair<int, long double>>);
template <class T>
concept has_bitwise = requires { typename bitwise<T>; };
static_assert(has_bitwise<double> && !has_bitwise<long double> && !has_bitwise<int>);
static_assert(!key_like<const int*> && !key_like<int (*)()> && !key_like<int colour_pair::*>);
static_assert(!key_like<std::nullptr_t> && !key_like<std::string_view> && !key_like<std::span<int, 4>>);
static_assert(!key_like<std::reference_wrapper<int>> && !key_like<std::initializer_list<int>>);
static_assert(!key_like<std::unique_ptr<int>> && !key_like<std::vector<int>::iterator>);
static_assert(!key_like<std::pair<int, const char*>> && !key_like<std::array<std::string_view, 2>>);
static_assert(key_like<const colour_pair*> && key_like<std::pair<int, const colour_pair*>>);  // as it says
static_assert(key_like<std::array<char, 16>> && key_like<std::pair<int, colour>>);
#if defined(__FLT16_MANT_DIG__)
static_assert(key_like<_Float16> && detail::has_nan<_Float16> && detail::packed_bytes<_Float16> == 2);
#endif

}  // namespace
}  // namespace tilehash
