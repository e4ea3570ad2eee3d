// SPDX-License-Identifier: Apache-2.0
// Seedable hash functions.
//
// Each takes the bits of a key (an unsigned integer of 32, 64 or 128 bits) and returns 64 bits. The *high*
// bits must be the good ones, because fast_range() scales from the top: position = floor(hash * n / 2^64).
// tests/core/hash_test.cpp pins golden values of all of them. Each is noexcept, as a user's hasher must be: a
// table hashes keys while it moves others (docs/adr/0026).
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

// The high half of the 128-bit product. O(1).
TILEHASH_FN constexpr u64 mul_high(u64 a, u64 b) {
  return static_cast<u64>((static_cast<u128>(a) * b) >> 64);
}

// Scales a hash to [0, n): Lemire's multiply-and-shift, which needs no division. O(1).
TILEHASH_FN constexpr u64 fast_range(u64 hash, u64 n) { return mul_high(hash, n); }

// a + b modulo n for a, b < n, without overflow.
TILEHASH_FN constexpr u64 add_modulo(u64 a, u64 b, u64 n) { return a >= n - b ? a - (n - b) : a + b; }

// The finaliser of MurmurHash3 for 64 bits (A. Appleby, public domain): a bijection of 64-bit integers.
TILEHASH_FN constexpr u64 mix64(u64 x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

// The same for 32 bits: a bijection of 32-bit integers.
TILEHASH_FN constexpr u32 mix32(u32 x) {
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  x ^= x >> 16;
  return x;
}

// The inverses, for designs that store only the bits of a hash that the bucket's number does not give.
TILEHASH_FN constexpr u64 unmix64(u64 x) {
  x ^= x >> 33;
  x *= 0x9cb4b2f8129337dbULL;
  x ^= x >> 33;
  x *= 0x4f74430c22a54005ULL;
  x ^= x >> 33;
  return x;
}
TILEHASH_FN constexpr u32 unmix32(u32 x) {
  x ^= x >> 16;
  x *= 0x7ed1b41dU;
  x ^= x >> 13 ^ x >> 26;
  x *= 0xa5cb9243U;
  x ^= x >> 16;
  return x;
}

// A second, independent-looking hash from a first: odd multiplication carries every bit to the top.
TILEHASH_FN constexpr u64 rehash(u64 hash) { return (hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15ULL; }

// Murmur's finaliser with a seed; the default. Bijective for keys of up to 64 bits: no two keys share a hash
// value. The seed is mixed first. Otherwise neighbouring seeds would only permute the hashes of a range of
// keys, and keys that cannot be placed under one seed could not be placed under the other.
struct murmur {
  u64 seed = 0;

  murmur() = default;
  TILEHASH_FN constexpr explicit murmur(u64 s) : seed(mix64(s)) {}

  TILEHASH_FN constexpr u64 operator()(u32 key) const noexcept { return mix64(key ^ seed); }
  TILEHASH_FN constexpr u64 operator()(u64 key) const noexcept { return mix64(key ^ seed); }
  TILEHASH_FN constexpr u64 operator()(u128 key) const noexcept {
    return mix64(static_cast<u64>(key) ^ mix64(static_cast<u64>(key >> 64) ^ seed));
  }
};

// The two families of Alcantara's thesis (section 3.1.2), with p = 4294967291, the largest 32-bit prime:
// (a k + b) mod p is 2-universal for k < p; (a XOR k) + b mod p is cheaper and weaker. Wider keys are folded
// into 32 bits first.
inline constexpr u64 thesis_prime = 4294967291ULL;

namespace detail {
TILEHASH_FN constexpr u32 fold(u32 key) { return key; }
TILEHASH_FN constexpr u32 fold(u64 key) { return static_cast<u32>(mix64(key) >> 32); }
TILEHASH_FN constexpr u32 fold(u128 key) {
  return fold(static_cast<u64>(key) ^ mix64(static_cast<u64>(key >> 64)));
}
}  // namespace detail

struct linear_polynomial {
  u32 a = 1, b = 0;

  linear_polynomial() = default;
  TILEHASH_FN constexpr explicit linear_polynomial(u64 seed)
      : a(static_cast<u32>(1 + mix64(seed) % (thesis_prime - 1))),
        b(static_cast<u32>(mix64(seed + 1) % thesis_prime)) {}

  template <class Bits>
  TILEHASH_FN constexpr u64 operator()(Bits key) const noexcept {
    return (static_cast<u64>(a) * detail::fold(key) + b) % thesis_prime << 32;
  }
};

struct xor_polynomial {
  u32 a = 0, b = 0;

  xor_polynomial() = default;
  TILEHASH_FN constexpr explicit xor_polynomial(u64 seed)
      : a(static_cast<u32>(mix64(seed))), b(static_cast<u32>(mix64(seed + 1) % thesis_prime)) {}

  template <class Bits>
  TILEHASH_FN constexpr u64 operator()(Bits key) const noexcept {
    return (static_cast<u64>(a ^ detail::fold(key)) + b) % thesis_prime << 32;
  }
};

// Bob Jenkins' 32-bit integer hash (the six-shift one of the page on integer hashing), used by the Horton
// paper as its primary function.
struct jenkins {
  u32 seed = 0;

  jenkins() = default;
  TILEHASH_FN constexpr explicit jenkins(u64 s) : seed(static_cast<u32>(mix64(s))) {}

  template <class Bits>
  TILEHASH_FN constexpr u64 operator()(Bits key) const noexcept {
    u32 x = detail::fold(key) ^ seed;
    x = (x + 0x7ed55d16U) + (x << 12);
    x = (x ^ 0xc761c23cU) ^ (x >> 19);
    x = (x + 0x165667b1U) + (x << 5);
    x = (x + 0xd3a2646cU) ^ (x << 9);
    x = (x + 0xfd7046c5U) + (x << 3);
    x = (x ^ 0xb55a4f09U) ^ (x >> 16);
    return static_cast<u64>(x) << 32;
  }
};

// No mixing: keys keep their order, so neighbours stay neighbours. For keys that are spread already.
struct identity {
  identity() = default;
  TILEHASH_FN constexpr explicit identity(u64 /*seed*/) {}

  TILEHASH_FN constexpr u64 operator()(u32 key) const noexcept { return static_cast<u64>(key) << 32; }
  TILEHASH_FN constexpr u64 operator()(u64 key) const noexcept { return key; }
  TILEHASH_FN constexpr u64 operator()(u128 key) const noexcept { return static_cast<u64>(key >> 64); }
};

TILEHASH_END_ABI_NAMESPACE
/// The hashers that a design takes as its `Hash`. Each is made of a seed and returns 64 bits; none throws.
namespace hashes {
TILEHASH_PUBLIC(murmur);
TILEHASH_PUBLIC(identity);
TILEHASH_PUBLIC(jenkins);
TILEHASH_PUBLIC(linear_polynomial);
TILEHASH_PUBLIC(xor_polynomial);
}  // namespace hashes
}  // namespace tilehash
