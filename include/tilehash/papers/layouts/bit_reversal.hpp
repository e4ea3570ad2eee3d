// SPDX-License-Identifier: Apache-2.0
// Morton order of coordinates with their bits reversed: neighbours are as far apart as possible. A baseline
// for measurements of layouts (core/layout.hpp).
#pragma once

#include <tilehash/core/layout.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

TILEHASH_FN constexpr u32 reverse_bits(u32 x, u32 bits) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
  x = x >> 16 | x << 16;
  return bits == 0 ? 0 : x >> (32 - bits);
}

}  // namespace detail
namespace papers {

template <std::unsigned_integral Key, u32 Dimensions>
class bit_reversal : public detail::curve_layout<Key, Dimensions> {
 public:
  static constexpr const char* name = "bit_reversal";
  using point_type = grid_point<Dimensions>;

  constexpr explicit bit_reversal(const point_type& extents)
      : detail::curve_layout<Key, Dimensions>("bit_reversal", extents) {}

  TILEHASH_FN constexpr Key encode(const point_type& p) const {
    return static_cast<Key>(detail::interleave(reversed(p)));
  }
  TILEHASH_FN constexpr point_type decode(Key key) const {
    return reversed(detail::deinterleave<Dimensions>(key));
  }

 private:
  TILEHASH_FN constexpr point_type reversed(point_type p) const {
    for (u32 i = 0; i < Dimensions; ++i) p[i] = detail::reverse_bits(p[i], this->bits_);
    return p;
  }
};

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
