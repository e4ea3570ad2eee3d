// SPDX-License-Identifier: Apache-2.0
// How keys of a type are compared: by their bytes, or by members that are keys themselves.
//
// Most keys are compared by their bytes: integers, arrays of them, structs without padding. Floating-point
// numbers are compared by value: -0.0 is 0.0, and a NaN is not legal. A struct with such members or with
// padding is compared member by member, and must name its members:
//
//   struct vertex { float x, y; char layer; };
//   template <>
//   struct tilehash::keys::members_of<vertex>
//       : tilehash::keys::members<&vertex::x, &vertex::y, &vertex::layer> {};
//
// std::pair and arrays need no such line. A key's *packed bytes* are the bytes of its members without gaps:
//
//   vertex   | x x x x | y y y y | l . . . |         packed   | x x x x | y y y y | l |
//
// To compare a floating-point number bit by bit, wrap its type in keys::bitwise<T>.
//
// A type that refers to other memory cannot be a key (core/key_kinds.hpp): its bytes are an address.
#pragma once

#include <array>
#include <concepts>
#include <cstring>
#include <type_traits>
#include <utility>

#include <tilehash/core/config.hpp>
#include <tilehash/core/key_kinds.hpp>

namespace tilehash {

namespace keys {

// The members of a key type; this one names none. A specialization derives from members<...>. It is not in
// the ABI's namespace, so that a program may specialize it inside `namespace tilehash::keys {`, too.
template <class Key>
struct members_of {};

}  // namespace keys

TILEHASH_BEGIN_ABI_NAMESPACE

// A floating-point key compared by its bits: NaNs are legal and -0.0 differs from 0.0.
template <detail::ieee_float T>
struct bitwise {
  using bits_type = typename detail::float_format<T>::bits;
  bits_type bits = 0;

  bitwise() = default;
  TILEHASH_FN explicit bitwise(T x) { std::memcpy(&bits, &x, sizeof x); }
  TILEHASH_FN explicit operator T() const {
    T x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  friend bool operator==(const bitwise&, const bitwise&) = default;
};

namespace detail {

// May T be copied as bytes? Trivially copyable types may, and so may pairs: only their assignment is not
// trivial.
template <class T>
inline constexpr bool copied_as_bytes = std::is_trivially_copyable_v<T>;
template <class A, class B>
inline constexpr bool copied_as_bytes<std::pair<A, B>> =
    copied_as_bytes<A> && copied_as_bytes<B> && !std::is_reference_v<A> && !std::is_reference_v<B>;
template <class T, std::size_t N>
inline constexpr bool copied_as_bytes<std::array<T, N>> = copied_as_bytes<T>;

template <class T>
struct unknown_members;

template <class Key>
concept names_members = requires { keys::members_of<Key>::template sum<unknown_members>; };

// Are keys equal exactly when their bytes are?
template <class T>
inline constexpr bool bytes_say_all =
    std::has_unique_object_representations_v<T> && !names_members<T> && !ieee_float<T>;
template <class A, class B>
inline constexpr bool bytes_say_all<std::pair<A, B>> =
    bytes_say_all<A> && bytes_say_all<B> &&
    sizeof(std::pair<A, B>) == sizeof(A) + sizeof(B);  // NOLINT(bugprone-sizeof-expression): of pointers, too
template <class T, std::size_t N>
inline constexpr bool bytes_say_all<std::array<T, N>> = bytes_say_all<T>;

template <class Member>
struct type_of_member;
template <class Key, class T>
struct type_of_member<T Key::*> {
  using type = T;
};

template <class Key>
using copied_char = std::conditional_t<std::is_const_v<Key>, const char, char>;

// Calls use(copy of the member), then writes the copy back unless the key is constant.
template <auto Member, class Key, class Use>
TILEHASH_FN void use_copy(Key& key, const Use& use) {
  struct {
    typename type_of_member<decltype(Member)>::type x;
  } copy;
  auto* const at = reinterpret_cast<copied_char<Key>*>(__builtin_addressof(key.*Member));
  std::memcpy(&copy, at, sizeof copy);
  if constexpr (std::is_const_v<Key>) {
    use(std::as_const(copy.x));
  } else {
    use(copy.x);
    std::memcpy(at, &copy, sizeof copy);
  }
}
// Calls use(member). A member of a packed struct may have an address that its type forbids. A reference to
// such a member is undefined, and a GPU stops at the load. The compiler knows the member's offset.
template <auto Member, class Key, class Use>
TILEHASH_FN void use_member(Key& key, const Use& use) {
  constexpr u64 alignment = alignof(typename type_of_member<decltype(Member)>::type);
  if constexpr (alignof(Key) % alignment != 0) {
    use_copy<Member>(key, use);
  } else {
    const auto at = reinterpret_cast<const char*>(__builtin_addressof(key.*Member));
    const auto offset = static_cast<u64>(at - reinterpret_cast<const char*>(&key));
    if (offset % alignment == 0)
      use(key.*Member);
    else  // packed, and aligned as a whole
      use_copy<Member>(key, use);
  }
}

}  // namespace detail

// The members of a struct that make it a key, in any order. Other members are not compared, and may be lost.
// The struct may be packed.
template <auto... Members>
struct members {
  // Calls use(member) for each of them.
  template <class Key, class Use>
  TILEHASH_FN static void for_each(Key& key, const Use& use) {
    (detail::use_member<Members>(key, use), ...);
  }
  // The sum of What<T>::value over the types T of the members.
  template <template <class> class What>
  static constexpr u32 sum =
      (u32(What<typename detail::type_of_member<decltype(Members)>::type>::value) + ...);
};

namespace detail {

template <class T, u64 N>
struct elements {
  template <class Key, class Use>
  TILEHASH_FN static void for_each(Key& key, const Use& use) {
    using element = std::conditional_t<std::is_const_v<Key>, const T, T>;
    auto* const first = reinterpret_cast<element*>(&key);
    for (u64 i = 0; i < N; ++i) use(first[i]);
  }
  template <template <class> class What>
  static constexpr u32 sum = N * u32(What<T>::value);
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE

namespace keys {

template <class A, class B>
struct members_of<std::pair<A, B>>
    : TILEHASH_ABI::members<&std::pair<A, B>::first, &std::pair<A, B>::second> {};
template <class T, std::size_t N>
struct members_of<std::array<T, N>> : TILEHASH_ABI::detail::elements<T, N> {};
template <class T, std::size_t N>
struct members_of<T[N]> : TILEHASH_ABI::detail::elements<T, N> {};

}  // namespace keys

TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class T>
struct packed_size;
template <class T>
struct may_be_nan;

// Is T compared member by member?
template <class T>
concept by_members = !bytes_say_all<T> && names_members<T>;

template <class T>
struct unknown_members {
  static constexpr u32 value = !(bytes_say_all<T> || ieee_float<T>);
};
template <by_members T>
struct unknown_members<T> {
  static constexpr u32 value = keys::members_of<T>::template sum<unknown_members>;
};
template <class T>
struct packed_size {
  static constexpr u32 value = sizeof(T);
};
template <by_members T>
struct packed_size<T> {
  static constexpr u32 value = keys::members_of<T>::template sum<packed_size>;
};
template <class T>
struct may_be_nan {
  static constexpr u32 value = ieee_float<T>;
};
template <by_members T>
struct may_be_nan<T> {
  static constexpr u32 value = keys::members_of<T>::template sum<may_be_nan>;
};

template <class T>
struct holds_address {
  static constexpr u32 value = refers_elsewhere<T> && !keys::compared_by_address<T>;
};
template <names_members T>
struct holds_address<T> {
  static constexpr u32 value = keys::members_of<T>::template sum<holds_address>;
};

template <class Key>
inline constexpr u32 packed_bytes = packed_size<Key>::value;
// Would the table compare addresses?
template <class Key>
inline constexpr bool has_addresses = holds_address<Key>::value != 0;
// Has this type keys that are not legal?
template <class Key>
inline constexpr bool has_nan = may_be_nan<Key>::value != 0;

}  // namespace detail

// A type of keys: it may be copied as bytes, and is compared by them or by members that it names.
template <class T>
concept key_like =
    detail::copied_as_bytes<T> && !detail::has_addresses<T> && detail::unknown_members<T>::value == 0;

template <class T>
concept value_like = std::is_void_v<T> || detail::copied_as_bytes<T>;

namespace detail {

template <class T>
inline constexpr u64 alignment_of = alignof(T);
template <>
inline constexpr u64 alignment_of<void> = 1;

// Refuses types that cannot be keys, with the reason. (A space's memory is aligned to 64 bytes.)
template <class Key>
struct checked_key {
  static_assert(
      !has_addresses<Key>,
      "tilehash: a key must not be or hold a pointer, a string_view, a span or the like: the table "
      "would compare addresses. Copy short texts into std::array<char, N> (docs/guide/counting.md), or "
      "specialise tilehash::keys::compared_by_address");
  static_assert(key_like<Key> || has_addresses<Key>,
                "tilehash: a key must be trivially copyable and have no padding (or be a float or double), "
                "or name its members: core/key_members.hpp");
  static_assert(alignof(Key) <= 64, "tilehash: keys and values have an alignment of 64 bytes at most");
  static constexpr bool is = true;  // or else one of the assertions has failed
};
// The same for a value.
template <class Value>
struct checked_value {
  static_assert(value_like<Value>, "tilehash: a mapped value must be trivially copyable, or void for a set");
  static_assert(alignment_of<Value> <= 64, "tilehash: keys and values have an alignment of 64 bytes at most");
  static constexpr bool is = true;
};

// The smallest integer of 4, 8 or 16 bytes that holds `Bytes` bytes.
template <u32 Bytes>
using bits_t = std::conditional_t<Bytes <= 4, u32, std::conditional_t<Bytes <= 8, u64, u128>>;

// The bytes of `x` as an integer, zero-extended.
template <class Bits, class T>
TILEHASH_FN Bits to_bits(T x) {  // by value: through a reference nvcc reads byte by byte
  Bits bits = 0;
  std::memcpy(&bits, &x, sizeof(T));
  return bits;
}

template <class T, class Bits>
TILEHASH_FN T from_bits(Bits bits) {
  T x;
  std::memcpy(static_cast<void*>(&x), &bits, sizeof(T));
  return x;
}

// One representation for each value of a key.
template <class Key>
TILEHASH_FN void make_canonical(Key& key) {
  if constexpr (by_members<Key>) {
    keys::members_of<Key>::for_each(key, [](auto& member) { make_canonical(member); });
  } else if constexpr (ieee_float<Key>) {
    // By bits: flags such as -ffast-math let the compiler ignore NaN, -0.0 and subnormal numbers.
    if (magnitude_of(key) == 0) key = float_with(typename float_format<Key>::bits(0), key);
  }
}
template <class Key>
TILEHASH_FN Key canonical(Key key) {
  make_canonical(key);
  return key;
}

template <class Key>
TILEHASH_FN bool is_legal(const Key& key) {
  bool legal = true;
  if constexpr (ieee_float<Key>)
    legal = !is_nan(key);
  else if constexpr (has_nan<Key>)
    keys::members_of<Key>::for_each(key, [&](const auto& member) { legal = is_legal(member) && legal; });
  return legal;
}

// A key's packed bytes as an integer that holds them all: equal for equal keys, and for no others.
template <class Bits, class Key>
TILEHASH_FN Bits key_to_bits(const Key& key) {
  static_assert(packed_bytes<Key> <= sizeof(Bits));
  if constexpr (by_members<Key>) {
    Bits bits = 0;
    u32 at = 0;
    keys::members_of<Key>::for_each(key, [&](const auto& member) {
      bits = static_cast<Bits>(bits | key_to_bits<Bits>(member) << at);
      at += 8 * packed_bytes<std::remove_cvref_t<decltype(member)>>;
    });
    return bits;
  } else {
    return to_bits<Bits>(canonical(key));
  }
}

template <class Key, class Bits>
TILEHASH_FN void key_from_bits(Key& key, Bits bits) {
  if constexpr (by_members<Key>) {
    u32 at = 0;
    keys::members_of<Key>::for_each(key, [&](auto& member) {
      key_from_bits(member, static_cast<Bits>(bits >> at));
      at += 8 * packed_bytes<std::remove_cvref_t<decltype(member)>>;
    });
  } else {
    std::memcpy(static_cast<void*>(&key), &bits, sizeof key);
  }
}
template <class Key, class Bits>
TILEHASH_FN Key key_from_bits(Bits bits) {
  if constexpr (by_members<Key>) {
    Key key{};
    key_from_bits(key, bits);
    return key;
  } else {
    return from_bits<Key>(bits);
  }
}

}  // namespace detail

TILEHASH_END_ABI_NAMESPACE
namespace keys {
TILEHASH_PUBLIC(members);
TILEHASH_PUBLIC(bitwise);
}  // namespace keys
}  // namespace tilehash
