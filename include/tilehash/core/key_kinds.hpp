// Kinds of types that keys are made of: numbers with NaNs, and what refers to memory elsewhere.
//
// Floating-point numbers are looked at as integers. Under -ffast-math and its parts a compiler may take
// x != x for false and -0.0 for 0.0, and a GPU under -use_fast_math takes subnormal numbers for 0; their bits
// stay what they are.
//
// The bytes of a pointer, a string_view or a span are an address. Two views of equal texts have two
// addresses, and the text may change or end while the table still has its address. So such types are no keys.
// C++20 cannot list the members of a struct that does not name them (core/key_members.hpp).
#pragma once

#include <concepts>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

#include <tilehash/core/config.hpp>

// The numbers of 16 bits of CUDA, defined in cuda_fp16.h and cuda_bf16.h.
struct __half;         // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
struct __nv_bfloat16;  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace tilehash {

// Compare this type by its address, though it refers to memory elsewhere? Specialise it for what shall be a
// key all the same, such as a handle: two keys are then equal when their addresses are, whatever is there.
//
//   template <> inline constexpr bool tilehash::compared_by_address<const node*> = true;
template <class T>
inline constexpr bool compared_by_address = false;

}  // namespace tilehash

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// ---- numbers with NaNs ----

// How a number is written: as an integer of the same size, of which the highest bit is the sign. What is
// larger than infinity, without the sign, is a NaN.
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
// A number of the type of the second with such bits.
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
  // All bits of a negative number turn, so that the order is that of unsigned integers.
  const auto rank = [](bits x) { return static_cast<bits>((x & format::sign) != 0 ? ~x : x | format::sign); };
  return !is_nan(a) && !is_nan(b) && rank(bits_of(a)) < rank(bits_of(b));
}

// ---- what refers to memory elsewhere ----

template <class T>
inline constexpr bool is_initializer_list = false;
template <class T>
inline constexpr bool is_initializer_list<std::initializer_list<T>> = true;

// The others by their interfaces, as std and cuda::std have each their own.
template <class T>
concept like_string_view = requires(T view) { view.data(), view.size(), view.remove_prefix(1); };
template <class T>
concept like_span = requires(const T& view) {
  typename T::element_type;
  { view.data() } -> std::convertible_to<const volatile typename T::element_type*>;
};
template <class T>
concept like_pointer = requires(const T& x) {
  typename T::element_type;
  { x.get() } -> std::convertible_to<const volatile typename T::element_type*>;
};
template <class T>
concept like_reference = requires(const T& x) {
  typename T::type;
  { x.get() } -> std::same_as<typename T::type&>;
};

// Do the bytes of a T say where something is, not what it is?
template <class T>
inline constexpr bool refers_elsewhere =
    std::is_pointer_v<T> || std::is_null_pointer_v<T> || std::is_member_pointer_v<T> ||
    is_initializer_list<T> || std::input_or_output_iterator<T> || std::ranges::enable_borrowed_range<T> ||
    like_string_view<T> || like_span<T> || like_pointer<T> || like_reference<T>;

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
