// A seeded bijection of the 32- or 64-bit numbers: counting through it gives distinct, random-looking keys in
// no memory. The constants are not those of the library's hash functions, which would undo or repeat them.
#pragma once

#include <cstdint>

namespace tilehash::app {

class scramble {
 public:
  scramble(unsigned bits, std::uint64_t seed) : bits_(bits), seed_(mix64(seed + 0x9e3779b97f4a7c15)) {}

  std::uint64_t operator()(std::uint64_t number) const {
    if (bits_ == 64) return mix64(number + seed_);
    const auto low = static_cast<std::uint32_t>(seed_);
    const auto high = static_cast<std::uint32_t>(seed_ >> 32);
    return mix32(mix32(static_cast<std::uint32_t>(number) + low) ^ high);
  }

 private:
  // Stafford's "mix 13" and Wellons' "lowbias32": every step is invertible.
  static std::uint64_t mix64(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  static std::uint32_t mix32(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7feb352dU;
    x = (x ^ (x >> 15)) * 0x846ca68bU;
    return x ^ (x >> 16);
  }

  unsigned bits_;
  std::uint64_t seed_;
};

}  // namespace tilehash::app
