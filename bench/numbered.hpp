// SPDX-License-Identifier: Apache-2.0
// Keys, values and questions by number: all arithmetic, so that a GPU makes and checks them where they are.
//
//   number      0 ... n-1      n ... 2n-1     2n
//   its key     in the table   in no table    its value answers "missing"
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/core/hash.hpp>

#include <cmath>

namespace tilehash::bench {

// A bijection of the numbers of `bits` bits, 1 to 64: each step can be undone. Its constants are not those of
// the library's hash functions, which would undo or repeat it.
class permutation {
 public:
  constexpr permutation(u32 bits, u64 seed)
      : mask_(~u64(0) >> (64 - bits)), shift_((bits + 1) / 2), seed_(seed) {}

  TILEHASH_FN constexpr u64 operator()(u64 x) const {
    x = (x + seed_) & mask_;
    for (const u64 odd : {0xbf58476d1ce4e5b9ULL, 0x94d049bb133111ebULL, 0xd6e8feb86659fd93ULL}) {
      x = (x * odd) & mask_;
      x ^= x >> shift_ % 64;
    }
    return x;
  }
  // The x that gives y.
  TILEHASH_FN constexpr u64 inverse(u64 y) const {
    for (const u64 odd : {0xd6e8feb86659fd93ULL, 0x94d049bb133111ebULL, 0xbf58476d1ce4e5b9ULL}) {
      y ^= y >> shift_ % 64;
      y = (y * inverse_of(odd)) & mask_;
    }
    return (y - seed_) & mask_;
  }

 private:
  // Modulo 2^64: each round doubles the bits that are right, of which odd * odd = 1 mod 8 gives three.
  TILEHASH_FN static constexpr u64 inverse_of(u64 odd) {
    u64 x = odd;
    for (int round = 0; round < 5; ++round) x *= 2 - odd * x;
    return x;
  }

  u64 mask_;
  u32 shift_;
  u64 seed_;
};

// first, first + 1, ... first + range - 1, each once, in an order that looks random; the first `moved` of
// them a range further on. An average of less than two steps each: what falls outside the range is permuted
// again.
class shuffled {
 public:
  shuffled(u64 first, u64 range, u64 moved = 0)
      : first_(first), range_(range), moved_(moved), order_(bits_for(range), range) {}

  TILEHASH_FN u64 operator()(u64 i) const {
    u64 x = order_(i);
    while (x >= range_) x = order_(x);
    return first_ + x + (x < moved_ ? range_ : 0);
  }

 private:
  static u32 bits_for(u64 range) {
    u32 bits = 1;
    while (bits < 64 && range > u64(1) << bits) ++bits;
    return bits;
  }

  u64 first_, range_, moved_;
  permutation order_;
};

// The i-th draw of a number below `range`, each as likely as any other.
TILEHASH_FN double drawn(u64 i) { return static_cast<double>(mix64(i) >> 11) * 0x1p-53; }
TILEHASH_FN u64 uniform_number(u64 i, u64 range) {
  const auto number = static_cast<u64>(drawn(i) * static_cast<double>(range));
  return number < range ? number : range - 1;
}
// ... the k-th of them about 1/k times as often as the first: Zipf's law, exponent 1.
TILEHASH_FN u64 zipf_number(u64 i, u64 range) {
  const auto number = static_cast<u64>(std::exp(drawn(i) * std::log(static_cast<double>(range))) - 1);
  return number < range ? number : range - 1;
}

template <class Key>
TILEHASH_FN Key key_of(u64 number) {
  return static_cast<Key>(permutation(8 * sizeof(Key), 0x7469)(number));
}
template <class Key>
TILEHASH_FN u64 number_of(Key key) {
  return permutation(8 * sizeof(Key), 0x7469).inverse(key);
}

template <class Value, class Key>
TILEHASH_FN Value value_of(Key key) {
  return static_cast<Value>((u64(key) ^ 0x68617368) * 0x9e3779b97f4a7c15ULL);
}

}  // namespace tilehash::bench
