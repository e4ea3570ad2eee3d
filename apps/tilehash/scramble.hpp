// Different numbers for different numbers: a bijection that looks random, which makes distinct keys and
// random orders in no memory and on any number of threads. The constants are not those of the library's hash
// functions, which would undo or repeat them.
#pragma once

#include <bit>
#include <cstdint>

namespace tilehash::app {

// Of the numbers of `bits` bits, 1 to 64. Every step can be undone: an odd factor, a shift by half the bits,
// a sum.
class scramble {
 public:
  scramble(unsigned bits, std::uint64_t seed)
      : mask_(~std::uint64_t{0} >> (64 - bits)),
        shift_((bits + 1) / 2),
        seed_(mix(seed + 0x9e3779b97f4a7c15)) {}

  std::uint64_t operator()(std::uint64_t x) const {
    std::uint64_t added = seed_;
    for (const std::uint64_t odd : {0xff51afd7ed558ccdU, 0xc4ceb9fe1a85ec53U, 0xbf58476d1ce4e5b9U}) {
      x = (x + added) & mask_;
      x = (x * odd) & mask_;
      x ^= x >> shift_ % 64;
      added = mix(added);
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
  std::uint64_t seed_;
};

// 0 ... n-1, each once, in an order that looks random. On average less than two steps a number: what falls
// outside is scrambled again.
class random_order {
 public:
  random_order(std::uint64_t n, std::uint64_t seed)
      : n_(n), next_(n < 2 ? 1U : static_cast<unsigned>(std::bit_width(n - 1)), seed) {}

  std::uint64_t operator()(std::uint64_t i) const {
    std::uint64_t x = next_(i);
    while (x >= n_) x = next_(x);
    return x;
  }

 private:
  std::uint64_t n_;
  scramble next_;
};

}  // namespace tilehash::app
