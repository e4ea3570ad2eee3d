// SPDX-License-Identifier: Apache-2.0
// The sizes of subtables, and the next subtable to be doubled or halved.
#pragma once

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// base * 2^level buckets each; levels differ by one at most.
template <u32 Subtables>
struct subtables_shape {
  static constexpr u32 most_base = 128;  // sizes of equal level then differ by steps of 1/64
  // For keys of four bytes, the largest region that fits the scratch of a GPU's block, and at least half of
  // that. For others, at least this many slots of a subtable: smaller regions fill less evenly.
  static constexpr u64 most_region_bytes = tuning::table::subtables_region_bytes;
  static constexpr u64 slots_of_region = tuning::table::subtables_region_slots;
  static u64 bytes_of_region(u32 base, u32 bits) { return (u64(base) << bits) * 64 * Subtables; }

  u32 base = 1;
  u32 level[Subtables] = {};

  // The smallest shape with so many slots, all subtables of one size.
  static subtables_shape for_slots(u64 slots, u32 bucket_slots) {
    const u64 each = divide_up(divide_up(slots, bucket_slots), Subtables);
    u32 level = 0;
    while (each >> level >= most_base) ++level;
    subtables_shape s;
    s.base = static_cast<u32>(divide_up(each, u64(1) << level));
    for (u32& l : s.level) l = level;
    return s;
  }
  // The bits of a bucket's number, above base, that each subtable's own function computes.
  static u32 own_bits(u32 base, u32 bucket_slots) {
    u32 bits = 0;
    if (bucket_slots == 16) {
      while (bytes_of_region(base, bits + 1) <= most_region_bytes) ++bits;
    } else {
      while ((u64(base) << bits) * bucket_slots < slots_of_region) ++bits;
    }
    return bits;
  }

  u64 buckets_of(u32 t) const { return u64(base) << level[t]; }
  u64 buckets() const {
    u64 all = 0;
    for (u32 t = 0; t < Subtables; ++t) all += buckets_of(t);
    return all;
  }
  u32 smallest() const {
    u32 least = 0;
    for (u32 t = 1; t < Subtables; ++t) least = level[t] < level[least] ? t : least;
    return least;
  }
  // The subtable that was doubled last.
  u32 largest() const {
    u32 most = 0;
    for (u32 t = 1; t < Subtables; ++t) most = level[t] >= level[most] ? t : most;
    return most;
  }
  bool can_shrink() const { return level[largest()] != 0; }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
