// SPDX-License-Identifier: Apache-2.0
// Maps a key to a code, and a code to a group and, with the group's offset, to a slot. Positions are
// fractions of the table, of 64 bits: a sum wraps at 2^64 to the front, and a multiplication scales it to the
// table's size.
//
//   points       (std::array of two or three integers of 32 bits, or keys that `dimensions` declares.) Both
//                functions are linear in the coordinates, with different moduli. The paper's tables are boxes
//                of two or three dimensions; ours are their rows one after another (the linear forms 1, W,
//                W^2), so that any number of slots is possible.
//                   h = h0 + offset      (mod slots)
//   other keys   Both functions come from a seeded hash. If they came from the key itself, nothing could
//                separate two keys that agree modulo the numbers of slots and of groups. About two pairs of n
//                random keys do so, whatever n is, and an adversary can supply more. So the offset is
//                multiplied by a step of the key's own, as in double hashing, and the keys of a group
//                separate sooner or later.
//                   h = h0 + offset * step(key)
//
// Linear forms cannot separate every set of points either. When three pairs of them have failed, points are
// hashed as other keys are. So every key is legal.
//
// Source: S. Lefebvre and H. Hoppe, Perfect Spatial Hashing, ACM Transactions on Graphics 25(3), 2006.
#pragma once

#include <array>
#include <cmath>
#include <cstring>

#include <tilehash/core/hash.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/designs/rows.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

// The number of coordinates of a key. A program may declare a struct of 2 or 3 integers of 32 bits a point.
template <class Key>
inline constexpr u32 dimensions = 1;
template <std::integral Coordinate>
  requires(sizeof(Coordinate) == 4)
inline constexpr u32 dimensions<std::array<Coordinate, 2>> = 2;
template <std::integral Coordinate>
  requires(sizeof(Coordinate) == 4)
inline constexpr u32 dimensions<std::array<Coordinate, 3>> = 3;

}  // namespace papers
namespace detail {

// Maps a key to its code, and a code to its group and its slots.
template <class Key>
class spatial_code {
 public:
  static constexpr u32 coordinates = papers::dimensions<Key>;
  static_assert(coordinates == 1 || sizeof(Key) == u64(4) * coordinates,
                "tilehash: a point has 2 or 3 coordinates of 32 bits and nothing else");
  static constexpr u32 linear_attempts = coordinates > 1 ? 3 : 0;  // before points are hashed like other keys

  spatial_code() = default;
  // `attempt` 0, 1, ... of a build.
  spatial_code(u64 slots, u64 groups, u64 seed, u32 attempt)
      : slots_(slots), groups_(groups), hash_(seed + attempt) {
    if constexpr (coordinates > 1) {
      is_linear_ = attempt < linear_attempts && slots < largest_linear;
      if (is_linear_) set_linear_forms(seed, attempt);
    }
  }
  // A point's code is its group and its h0, 32 bits each; another key's is its hash.
  TILEHASH_FN u64 operator()(const Key& key) const {
    if constexpr (coordinates > 1) {
      if (is_linear_) {
        std::int32_t at[coordinates];
        memcpy(at, &key, sizeof at);
        u64 slot = 0, group = 0;
        for (u32 d = 0; d < coordinates; ++d) {
          const u64 steps = static_cast<u64>(std::int64_t(at[d]));  // also below 0
          slot += steps * to_slot_[d], group += steps * to_group_[d];
        }
        return fast_range(group, groups_) << 32 | slot >> 32;
      }
    }
    return hash_key(hash_, key);
  }
  TILEHASH_FN u64 group(u64 code) const {
    if constexpr (coordinates > 1) {
      if (is_linear_) return code >> 32;
    }
    return fast_range(code, groups_);
  }
  TILEHASH_FN u64 slot(u64 code, u32 offset) const {
    if constexpr (coordinates > 1) {
      if (is_linear_) return fast_range((code << 32) * (offset / plain * 2 + 1) + offset * golden, slots_);
    }
    const u64 step = (code ^ code >> 29) * 0xbf58476d1ce4e5b9ULL | 1;
    return fast_range(rehash(code) + offset * step, slots_);
  }
  TILEHASH_FN bool is_linear() const { return is_linear_; }

 private:
  static constexpr u64 golden = 0x9e3779b97f4a7c15ULL;  // its multiples are distributed evenly
  static constexpr u64 largest_linear = u64(1) << 30;   // slots that 32 bits of a fraction distinguish
  // All groups of a regular body are alike, and when their matching free slots are used up, no shift helps.
  // So from this offset on they are also stretched: 3, 5, 7, ... times, with as many offsets for each.
  static constexpr u32 plain = 256;

  void set_linear_forms(u64 seed, u32 attempt) {
    u64 across_slots = side(slots_), across_groups = side(groups_);
    if (attempt != 0) {
      across_slots += mix64(seed + attempt) % (across_slots + 1);
      across_groups += mix64(~seed + attempt) % (across_groups + 1);
    }
    if (across_slots == across_groups) ++across_slots;
    u64 slot = ~u64(0) / slots_, group = ~u64(0) / groups_;
    for (u32 d = 0; d < coordinates; ++d, slot *= across_slots, group *= across_groups)
      to_slot_[d] = slot, to_group_[d] = group;
  }
  static u64 side(u64 n) {  // the side of a square or cube of n points
    return static_cast<u64>(std::ceil(std::pow(static_cast<double>(n), 1.0 / coordinates)));
  }

  u64 slots_ = 1, groups_ = 1;
  murmur hash_;
  bool is_linear_ = false;
  u64 to_slot_[coordinates] = {}, to_group_[coordinates] = {};
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
