// SPDX-License-Identifier: Apache-2.0
// Decides when tables are filled by regions (engine/region_fill.hpp), and sizes the regions' bins.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilehash/algorithm/ordered_bins.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Can a design's build keep the first of equal keys?
template <class Design>
constexpr bool builds_firsts() {
  using bins = ordered_bins<typename Design::slot_type>;
  if constexpr (requires { requires Design::template region_build<bins>::keeps_first; })
    return Design::template region_build<>::scratch_slot::can_keep_first;
  else
    return false;
}

template <class Slot, class Space, bool KeepsFirst>
using before_partition =
    std::conditional_t<KeepsFirst, before_ordered_bins<Slot, Space>, nothing_before<Slot>>;
template <class Slot, bool KeepsFirst, class Space>
u64 most_counted(const Space& space) {
  return most_regions<Slot, Space, before_partition<Slot, Space, KeepsFirst>>(space);
}

// The capacity of each of so many bins for n items, as 32 bits.
inline u32 most_in_a_bin(u64 n, u64 bins) {
  const u64 most = bin_capacity(n, bins);
  return most < ~u32(0) ? static_cast<u32>(most) : ~u32(0);
}

// Are n items merged in place into a table that holds some (Design::region_merge)? Only on a GPU: its blocks
// then fetch while others work. And only for few items, if a merge fits a block's scratch. (A processor's
// core fetches ahead by itself.)
template <class Design, class Space>
bool merges_in_place(const Space& space, const Design& design, u64 n) {
  if constexpr (Space::has_lanes && requires { typename Design::template region_merge<>; }) {
    using merge = typename Design::template region_merge<>;
    return n < design.capacity() / tuning::of<Space>::fill_share_of_empty &&
           merge::scratch_bytes(design.region_buckets()) <= space.largest_scratch();
  } else {
    return false;
  }
}

// Can a merge read the buckets of its items alone? Tables of 4 bytes a word were not measured.
template <class Design>
inline constexpr bool can_merge_few =
    sizeof(typename Design::word) >= 8 && requires { typename Design::region_merge_few; };
// Are n items so few that a merge of them reads their buckets alone? In a fuller table many keys move, so that reads most
// buckets of a region, one after the other.
template <class Design>
bool merges_few(const Design& design, u64 n, u64 held) {
  if constexpr (can_merge_few<Design>)
    return n <= design.capacity() / tuning::gpu::merge_few_share &&
           static_cast<double>(held + n) <=
               tuning::gpu::merge_few_load * static_cast<double>(design.capacity());
  else
    return false;
}

// The same for items whose values replace those of present keys, in a table of any fullness: a single one
// reads and writes a random line. (Half of a word of 16 bytes is not replaced.)
template <class Design, class Space>
constexpr bool assigns_by_regions() {
  using slot_type = typename Design::slot_type;
  if constexpr (Space::has_lanes && requires { typename Design::template region_merge<>; }) {
    using value_bits = typename slot_type::value_bits;
    return !slot_type::is_set && sizeof(typename Design::word) <= 8 && sizeof(value_bits) >= 4 &&
           sizeof(value_bits) == bytes_of<typename Design::mapped_type>;
  } else {
    return false;
  }
}
template <class Design, class Space>
bool assigning_pays(const Space& space, const Design& design, u64 n) {
  using merge = typename Design::template region_merge<>;
  constexpr u64 each = tuning::of<Space>::assigned_each;
  return n >= least_to_partition<Space> && n >= space.large_blocks_at_once() * each &&
         n >= design.capacity() / tuning::of<Space>::assign_share &&
         design.regions() <= most_regions<typename Design::slot_type>(space) &&
         merge::scratch_bytes(design.region_buckets()) <= space.largest_scratch();
}

// Are these assigned by blocks that hold whole regions in their scratch and write them back? Their values then change in
// the scratch, which pays if most lines of the table change.
template <class Design, class Space>
bool assigns_whole_regions(const Space& space, const Design& design, u64 n) {
  if constexpr (assigns_by_regions<Design, Space>()) {
    using build = typename Design::template region_build<even_bins<typename Design::word>, true>;
    return n >= design.capacity() / tuning::of<Space>::assign_whole_share &&
           design.region_slots() <= build::most_slots &&
           build::scratch_bytes(design.region_buckets()) <= space.largest_scratch();
  } else {
    return false;
  }
}

// Is partitioning worth it for n items? A table that holds items is streamed. A build reads and writes it, so
// it needs a twelfth of the capacity, or a twentieth if the table gets so full that single inserts are slow.
// A merge streams it in one direction, so it needs a third of that. It does not pay if the table stays so
// empty that single inserts find slots at once, and cost half for present keys (docs/measured/tiled.md). A
// block's scratch must hold a region, and a partition's counters. If it cannot count all regions, the table
// is filled slice by slice. (A CPU can count the regions of any table.)
template <class Space, class Design>
bool regions_pay(const Space& space, const Design& design, u64 n, u64 held) {
  if constexpr (requires { design.bulk_build(); }) {
    return held == 0 && n >= least_to_partition<Space> && design.bulk_build().pays(space, n);
  } else {
    const u64 most = most_regions<typename Design::slot_type>(space);
    if (n < least_to_partition<Space> || most == 0 ||
        (design.regions() > most && !partitions_in_steps<Space>))
      return false;
    const double full = static_cast<double>(held + n) / static_cast<double>(design.capacity());
    if (held != 0 && merges_in_place(space, design, n)) {
      const u64 slots = design.capacity();
      return n >= slots / tuning::of<Space>::merge_share(full, sizeof(typename Design::word), slots);
    }
    const u64 share = held == 0 ? tuning::of<Space>::fill_share_of_empty
                                : tuning::of<Space>::fill_share(full, sizeof(typename Design::word));
    return n >= design.capacity() / share &&
           design.region_slots() <= Design::template region_build<>::most_slots &&
           Design::template region_build<>::scratch_bytes(design.region_buckets()) <= space.largest_scratch();
  }
}

// Is a table filled slice by slice, since a partition to all of its regions would make runs too short? The
// host then synchronizes with the first step.
template <class Design, class Space, bool KeepsFirst = false>
bool fills_in_slices(const Space& space, const Design& design, u64 n, bool merges) {
  if constexpr (partitions_in_steps<Space>) {
    const u64 most = most_counted<typename Design::slot_type, KeepsFirst>(space);
    const u64 best = merges && n < design.capacity() / tuning::of<Space>::fill_share_of_empty
                         ? most
                         : best_regions<Space>;  // few make short runs anyway
    return design.regions() > (most < best ? most : best);
  } else {
    return false;
  }
}

// Is the only region of an empty table built directly from the n items of a call? One block does it in one
// step. In its scratch few items cost less than as single inserts, which contend for few buckets. (A
// processor inserts few items as fast.)
template <class Source, class Space, class Design>
inline constexpr bool builds_from_items =
    Space::has_lanes && std::same_as<Source, array_source<typename Design::slot_type>> &&
    requires { requires Design::template region_build<>::takes_items; };
template <class Source, class Space, class Design>
bool one_region_pays(const Space& space, const Design& design, u64 n) {
  if constexpr (builds_from_items<Source, Space, Design>) {
    using build = typename Design::template region_build<>;
    return design.regions() == 1 && n >= tuning::of<Space>::least_to_build &&
           n >= design.capacity() / tuning::of<Space>::fill_share_of_empty && n <= design.region_slots() &&
           design.region_slots() <= build::most_slots &&
           build::scratch_bytes(design.region_buckets()) <= space.largest_scratch();
  } else {
    return false;
  }
}

// Are all slots of an empty table with this capacity written if n items of a source are inserted at once?
template <class Source, class Design, class Space>
bool fills_all_slots(const Space& space, u64 capacity, double load_factor, u64 n) {
  if constexpr (partition_built<Design>) {
    const Design layout(nullptr, capacity, 0, load_factor);
    return regions_pay(space, layout, n, 0) || one_region_pays<Source>(space, layout, n);
  } else {
    return false;
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
