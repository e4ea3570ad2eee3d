// SPDX-License-Identifier: Apache-2.0
// Kinds of types in keys: numbers with NaNs, and types that refer to other memory.
//
// Floating-point numbers are treated as integers. Under -ffast-math, or a flag that it implies, a compiler
// may take x != x for false and -0.0 for 0.0. Under -use_fast_math a GPU takes subnormal numbers for 0. The
// bits do not change.
//
// The bytes of a pointer, a string_view or a span are an address. Two views of equal texts have two
// addresses, and the text may change or end while the table still has its address. So such types cannot be
// keys. They are not detected inside a struct that does not name its members (core/key_members.hpp), because
// C++20 cannot list them.
#pragma once

#include <concepts>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

#include <tilehash/core/config.hpp>

// CUDA's numbers of 16 bits, defined in cuda_fp16.h and cuda_bf16.h.
struct __half;         // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
struct __nv_bfloat16;  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace tilehash::keys {

// Is this type a key although it refers to other memory? Specialise it for types such as handles: two keys
// are then equal when their addresses are, whatever the contents.
//
//   template <> inline constexpr bool tilehash::keys::compared_by_address<const node*> = true;
template <class T>
inline constexpr bool compared_by_address = false;

}  // namespace tilehash::keys

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// ---- numbers with NaNs ----

// The representation of a number as an integer of the same size. The highest bit is the sign. A number whose
// other bits are larger than infinity's is a NaN.
template <class T>
struct float_format;
template <class Bits, Bits Infinity>
struct ieee_format {
  using bits = Bits;
  static constexpr Bits infinity = Infinity, sign = static_cast<Bits>(~(static_cast<Bits>(~Bits(0)) >> 1));
};
using half_format = ieee_format<u16, 0x7c00>;
using bfloat_format = ieee_format<u16, 0x7f80>;
template <>
struct float_format<float> : ieee_format<u32, 0x7f80'0000U> {};
template <>
struct float_format<double> : ieee_format<u64, 0x7ff0'0000'0000'0000ULL> {};
template <>
struct float_format<::__half> : half_format {};
template <>
struct float_format<::__nv_bfloat16> : bfloat_format {};
#if defined(__FLT16_MANT_DIG__)
template <>
struct float_format<_Float16> : half_format {};
#endif

template <class T>
concept ieee_float = requires { float_format<T>::infinity; };

template <ieee_float T>
TILEHASH_FN auto bits_of(T x) {
  typename float_format<T>::bits bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
// A number of x's type with these bits.
template <ieee_float T>
TILEHASH_FN T float_with(typename float_format<T>::bits bits, T x) {
  std::memcpy(static_cast<void*>(&x), &bits, sizeof bits);
  return x;
}
// The bits without the sign.
template <ieee_float T>
TILEHASH_FN auto magnitude_of(T x) {
  using format = float_format<T>;
  return static_cast<typename format::bits>(bits_of(x) & static_cast<typename format::bits>(~format::sign));
}
template <ieee_float T>
TILEHASH_FN bool is_nan(T x) {
  return magnitude_of(x) > float_format<T>::infinity;
}
// Is a less than b? -0.0 is less than 0.0, and no number is less or greater than a NaN.
template <ieee_float T>
TILEHASH_FN bool less_by_bits(T a, T b) {
  using format = float_format<T>;
  using bits = typename format::bits;
  // All bits of a negative number are inverted, so that unsigned integers have the order of the numbers.
  const auto rank = [](bits x) { return static_cast<bits>((x & format::sign) != 0 ? ~x : x | format::sign); };
  return !is_nan(a) && !is_nan(b) && rank(bits_of(a)) < rank(bits_of(b));
}

// ---- types that refer to other memory ----

template <class T>
inline constexpr bool is_initializer_list = false;
template <class T>
inline constexpr bool is_initializer_list<std::initializer_list<T>> = true;

// Do the bytes of a T hold the address of its data, not the data? Views, smart pointers and wrapped references
// are recognised by their interfaces, because std and cuda::std each have their own.
template <class T>
inline constexpr bool refers_elsewhere =
    std::is_pointer_v<T> || std::is_null_pointer_v<T> || std::is_member_pointer_v<T> ||
    is_initializer_list<T> || std::input_or_output_iterator<T> || std::ranges::enable_borrowed_range<T> ||
    requires(T string_view) { string_view.data(), string_view.size(), string_view.remove_prefix(1); } ||
    requires(const T& span) {
      { span.data() } -> std::convertible_to<const volatile typename T::element_type*>;
    } || requires(const T& pointer) {
      { pointer.get() } -> std::convertible_to<const volatile typename T::element_type*>;
    } || requires(const T& wrapper) {
      { wrapper.get() } -> std::same_as<typename T::type&>;
    };

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
