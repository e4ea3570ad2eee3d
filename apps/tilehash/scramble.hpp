// SPDX-License-Identifier: Apache-2.0
// Different numbers for different numbers: a bijection that looks random, which makes distinct keys and
// random orders in no memory and on any number of threads. The constants are not those of the library's hash
// functions, which would undo or repeat them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tilehash::app {

// A permutation of the numbers of `bits` bits, 1 to 64. Every step can be undone: an odd factor, a shift by half the bits,
// a sum.
class scramble {
 public:
  scramble(unsigned bits, std::uint64_t seed)
      : mask_(~std::uint64_t{0} >> (64 - bits)), shift_((bits + 1) / 2) {
    for (std::uint64_t& added : added_) added = seed = mix(seed + 0x9e3779b97f4a7c15);
  }

  std::uint64_t operator()(std::uint64_t x) const {
    constexpr std::array<std::uint64_t, 3> odd{0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, 0xbf58476d1ce4e5b9};
    for (std::size_t round = 0; round < odd.size(); ++round) {
      x = ((x + added_[round]) * odd[round]) & mask_;
      x ^= x >> shift_ % 64;
    }
    return x;
  }

  // Stafford's "mix 13".
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

 private:
  std::uint64_t mask_;
  unsigned shift_;
  std::array<std::uint64_t, 3> added_{};
};

// 0 ... n-1, each once, in an order that looks random; n at most 2^32. The numbers are the cells of a table
// with about as many rows as columns, and rows and columns take turns to be moved by what a hash function
// makes of the other, as in Feistel's networks. The table has less than a row too much: what falls there goes
// on.
class random_order {
 public:
  random_order(std::uint64_t n, std::uint64_t seed)
      : n_(n), bits_(static_cast<unsigned>(std::bit_width(n)) / 2), rows_((n + columns() - 1) >> bits_) {
    for (std::uint64_t& key : keys_) key = seed = scramble::mix(seed + 0x9e3779b97f4a7c15);
  }

  std::uint64_t operator()(std::uint64_t i) const {
    std::uint64_t x = step(i);
    while (x >= n_) x = step(x);
    return x;
  }

 private:
  std::uint64_t columns() const { return std::uint64_t{1} << bits_; }

  std::uint64_t step(std::uint64_t x) const {
    std::uint64_t row = x >> bits_, column = x & (columns() - 1);
    for (std::size_t round = 0; round < keys_.size(); round += 2) {
      row += (hash(column ^ keys_[round]) >> 32) * rows_ >> 32;
      if (row >= rows_) row -= rows_;
      column = (column + (hash(row ^ keys_[round + 1]) >> 32)) & (columns() - 1);
    }
    return row << bits_ | column;
  }
  static std::uint64_t hash(std::uint64_t x) {  // the upper half is what is good
    x *= 0xff51afd7ed558ccd;
    return (x ^ x >> 32) * 0xc4ceb9fe1a85ec53;
  }

  std::uint64_t n_;
  unsigned bits_;
  std::uint64_t rows_;
  std::array<std::uint64_t, 4> keys_{};
};

}  // namespace tilehash::app
