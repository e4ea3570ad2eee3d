// SPDX-License-Identifier: Apache-2.0
// Layouts convert the points of a grid to keys and back: row by row, along Morton's or Hilbert's curve, or by
// bit reversal, which separates all neighbours.
//
//   row major       Morton          Hilbert         bit reversal
//    0  1  2  3      0  1  4  5      0  1 14 15      0  4  1  5
//    4  5  6  7      2  3  6  7      3  2 13 12      8 12  9 13
//    8  9 10 11      8  9 12 13      4  7  8 11      2  6  3  7
//   12 13 14 15     10 11 14 15      5  6  9 10     10 14 11 15     x to the right, y downwards
//
// A coherent probe sequence keeps keys in their order. Then the layout decides which points are near each
// other in a table's memory: a row of pixels, or a square of them. All layouts have the same members:
//
//   layout(extents)      for a grid of extents[0] points along x, extents[1] along y (and [2] along z).
//                        Throws invalid_argument if its keys do not fit.
//   encode(point)        the key of a point of the grid
//   decode(key)          the point of a key that encode() gave
//   max_key()            no key is larger. Row by row all smaller keys are points of the grid too; curves
//                        fill the smallest square or cube around it whose side is a power of two
//
// Layouts are in core/ because they depend on keys only, not on a table or a space.
//
// Morton order and bit reversal: I. Garcia, S. Lefebvre, S. Hornus, A. Lasram, Coherent Parallel Hashing,
// SIGGRAPH Asia 2011, section 4.2. Hilbert's curve: J. Skilling, Programming the Hilbert curve, AIP
// Conference Proceedings 707 (2004).
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <string>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

// A position in a grid: x, y (and z). Also the extents of a grid.
template <u32 Dimensions>
struct grid_point {
  static_assert(Dimensions == 2 || Dimensions == 3, "tilehash: grids have two or three dimensions");

  u32 at[Dimensions];

  TILEHASH_FN constexpr u32 operator[](u32 i) const { return at[i]; }
  TILEHASH_FN constexpr u32& operator[](u32 i) { return at[i]; }
  friend bool operator==(const grid_point&, const grid_point&) = default;
};

namespace detail {

// A mask of groups of `Group` bits. A gap above each group fits the groups of the other dimensions.
template <u32 Dimensions, u32 Group>
inline constexpr u64 bit_groups = [] {
  u64 mask = 0;
  for (u32 i = 0; i < 64; ++i) mask |= u64(i % (Dimensions * Group) < Group) << i;
  return mask;
}();

// Bit i becomes bit Dimensions * i: each step halves the groups and moves the upper halves up.
template <u32 Dimensions>
TILEHASH_FN constexpr u64 spread_bits(u32 x) {
  constexpr u32 by = Dimensions - 1;
  u64 bits = Dimensions == 2 ? x : x & ((1U << 21) - 1);
  bits = (bits | bits << 16 * by) & bit_groups<Dimensions, 16>;
  bits = (bits | bits << 8 * by) & bit_groups<Dimensions, 8>;
  bits = (bits | bits << 4 * by) & bit_groups<Dimensions, 4>;
  bits = (bits | bits << 2 * by) & bit_groups<Dimensions, 2>;
  return (bits | bits << by) & bit_groups<Dimensions, 1>;
}
// The inverse of spread_bits().
template <u32 Dimensions>
TILEHASH_FN constexpr u32 gather_bits(u64 bits) {
  constexpr u32 by = Dimensions - 1;
  bits &= bit_groups<Dimensions, 1>;
  bits = (bits | bits >> by) & bit_groups<Dimensions, 2>;
  bits = (bits | bits >> 2 * by) & bit_groups<Dimensions, 4>;
  bits = (bits | bits >> 4 * by) & bit_groups<Dimensions, 8>;
  bits = (bits | bits >> 8 * by) & bit_groups<Dimensions, 16>;
  return static_cast<u32>(bits | bits >> 16 * by);
}

// Interleaves the bits of all coordinates, x in the lowest.
template <u32 Dimensions>
TILEHASH_FN constexpr u64 interleave(const grid_point<Dimensions>& p) {
  u64 key = spread_bits<Dimensions>(p[0]) | spread_bits<Dimensions>(p[1]) << 1;
  if constexpr (Dimensions == 3) key |= spread_bits<3>(p[2]) << 2;
  return key;
}
template <u32 Dimensions>
TILEHASH_FN constexpr grid_point<Dimensions> deinterleave(u64 key) {
  grid_point<Dimensions> p{};
  for (u32 i = 0; i < Dimensions; ++i) p[i] = gather_bits<Dimensions>(key >> i);
  return p;
}

template <u32 Dimensions>
[[noreturn]] void refuse_grid(const char* layout, const grid_point<Dimensions>& extents, u32 bits, u64 has) {
  std::string grid = std::to_string(extents[0]);
  for (u32 i = 1; i < Dimensions; ++i) grid += " x " + std::to_string(extents[i]);
  refuse(layout + (": a grid of " + grid) +
         (bits == 0 ? " has no points"
                    : " points takes keys of " + std::to_string(bits) + " bits, but these have " +
                          std::to_string(has) + ": take wider keys, or a smaller grid"));
}

// The check of all layouts: the grid has points, and their keys of `bits` bits fit into a Key.
template <std::unsigned_integral Key, u32 Dimensions>
constexpr void require_fit(const char* layout, const grid_point<Dimensions>& extents, u32 bits) {
  if (std::ranges::min(extents.at) == 0) refuse_grid(layout, extents, 0, 0);
  if (bits > 8 * sizeof(Key)) refuse_grid(layout, extents, bits, 8 * sizeof(Key));
}

// Curves fill a square or a cube, `bits` bits along each axis.
template <std::unsigned_integral Key, u32 Dimensions>
class curve_layout {
 public:
  using key_type = Key;
  using point_type = grid_point<Dimensions>;

  constexpr curve_layout(const char* layout, const point_type& extents)
      : bits_(static_cast<u32>(std::bit_width(std::ranges::max(extents.at) - 1))) {
    require_fit<Key>(layout, extents, Dimensions * bits_);
  }
  constexpr Key max_key() const {
    return static_cast<Key>(bits_ == 0 ? 0 : ~u64(0) >> (64 - Dimensions * bits_));
  }

 protected:
  u32 bits_;
};

}  // namespace detail

// x + width * (y + height * z): neighbours along x stay neighbours.
template <std::unsigned_integral Key, u32 Dimensions>
class row_major {
 public:
  static constexpr const char* name = "row_major";
  using key_type = Key;
  using point_type = grid_point<Dimensions>;

  constexpr explicit row_major(const point_type& extents) : extents_(extents) {
    u128 last = 1;
    for (const u32 n : extents.at) last *= n;
    u32 bits = 0;
    for (--last; last != 0; last >>= 1) ++bits;
    detail::require_fit<Key>("row_major", extents, bits);
  }
  constexpr Key max_key() const {
    point_type last = extents_;
    for (u32& n : last.at) --n;
    return encode(last);
  }

  TILEHASH_FN constexpr Key encode(const point_type& p) const {
    Key key = p[Dimensions - 1];
    for (u32 i = Dimensions - 1; i-- > 0;) key = key * static_cast<Key>(extents_[i]) + p[i];
    return key;
  }
  TILEHASH_FN constexpr point_type decode(Key key) const {
    point_type p{};
    for (u32 i = 0; i + 1 < Dimensions; ++i) {
      p[i] = static_cast<u32>(key % extents_[i]);
      key /= extents_[i];
    }
    p[Dimensions - 1] = static_cast<u32>(key);
    return p;
  }

 private:
  point_type extents_;
};

// The interleaved bits of the coordinates: aligned squares (cubes) of every size stay together.
template <std::unsigned_integral Key, u32 Dimensions>
class morton : public detail::curve_layout<Key, Dimensions> {
 public:
  static constexpr const char* name = "morton";
  using point_type = grid_point<Dimensions>;

  constexpr explicit morton(const point_type& extents)
      : detail::curve_layout<Key, Dimensions>("morton", extents) {}

  TILEHASH_FN constexpr Key encode(const point_type& p) const {
    return static_cast<Key>(detail::interleave(p));
  }
  TILEHASH_FN constexpr point_type decode(Key key) const { return detail::deinterleave<Dimensions>(key); }
};

// Consecutive keys are neighbours in the grid, and aligned squares (cubes) stay together as in Morton order.
// It takes a step for each bit of a coordinate; the other layouts take a handful of instructions.
template <std::unsigned_integral Key, u32 Dimensions>
class hilbert : public detail::curve_layout<Key, Dimensions> {
 public:
  static constexpr const char* name = "hilbert";
  using point_type = grid_point<Dimensions>;

  constexpr explicit hilbert(const point_type& extents)
      : detail::curve_layout<Key, Dimensions>("hilbert", extents) {}

  // Skilling's algorithm: each step takes one bit of all coordinates, and turns the bits below it as the
  // curve turns there. The result is a Gray code of the key's bits, those of x first.
  TILEHASH_FN constexpr Key encode(point_type p) const {
    for (u32 bit = this->bits_; bit-- > 1;) {
      for (u32 i = 0; i < Dimensions; ++i) turn(p, i, bit);
    }
    for (u32 i = 1; i < Dimensions; ++i) p[i] ^= p[i - 1];
    u32 flips = 0;
    for (u32 bit = this->bits_; bit-- > 1;) flips ^= (p[Dimensions - 1] >> bit & 1) * below(bit);
    for (u32 i = 0; i < Dimensions; ++i) p[i] ^= flips;
    return static_cast<Key>(detail::interleave(mirrored(p)));
  }
  TILEHASH_FN constexpr point_type decode(Key key) const {
    point_type p = mirrored(detail::deinterleave<Dimensions>(key));
    const u32 flips = p[Dimensions - 1] >> 1;
    for (u32 i = Dimensions; i-- > 1;) p[i] ^= p[i - 1];
    p[0] ^= flips;
    for (u32 bit = 1; bit < this->bits_; ++bit) {
      for (u32 i = Dimensions; i-- > 0;) turn(p, i, bit);
    }
    return p;
  }

 private:
  TILEHASH_FN static constexpr u32 below(u32 bit) { return (1U << bit) - 1; }

  // Below a set bit x is mirrored; below a clear bit x is exchanged with coordinate i.
  TILEHASH_FN static constexpr void turn(point_type& p, u32 i, u32 bit) {
    const bool set = (p[i] >> bit & 1) != 0;
    const u32 change = set ? below(bit) : (p[0] ^ p[i]) & below(bit);
    p[0] ^= change;
    if (!set) p[i] ^= change;
  }
  // The first coordinate goes to the highest bits.
  TILEHASH_FN static constexpr point_type mirrored(const point_type& p) {
    point_type q{};
    for (u32 i = 0; i < Dimensions; ++i) q[i] = p[Dimensions - 1 - i];
    return q;
  }
};

TILEHASH_END_ABI_NAMESPACE
/// Layouts convert the points of a grid to keys and back.
namespace layouts {
TILEHASH_PUBLIC(morton);
TILEHASH_PUBLIC(hilbert);
TILEHASH_PUBLIC(row_major);
TILEHASH_PUBLIC(grid_point);
}  // namespace layouts
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
