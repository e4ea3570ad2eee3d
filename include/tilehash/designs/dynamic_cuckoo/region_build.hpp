// SPDX-License-Identifier: Apache-2.0
// Fills an empty table region by region, in a block's memory.
//
//   items --partition--> | bin | bin | ...     outside the table: of all regions, or of a quarter at a time
//                           |
//                         block:  scratch | keys of subtable 0 | 1 | 2 | --in order--> the subtables
//                                 scratch | values                     | --in order-->
//
// All buckets of a key are in its region (dynamic_cuckoo.hpp), and a region's keys fit a block's scratch. A
// single insert writes two random lines, one for the key and one for the value. Here keys are placed in the
// scratch and leave in order, then the values (region_block.hpp). An item whose buckets are all full goes to the
// spill, and is inserted one by one; so does the key of the sentinel cell.
//
// This is for keys of four bytes, because a region of wider ones does not fit a block's scratch. A partitioned
// item has its key and its value. A value of more than four bytes is replaced by the item's number, and is then
// read in random order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/apart_slot.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/designs/dynamic_cuckoo/region_block.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A key's region depends on this.
template <class Slot, class Hash>
struct subtables_region_hash {
  Hash hash;
  u32 mask;

  TILEHASH_FN u32 region_of(typename Slot::key_bits k) const {
    return static_cast<u32>(rehash(hash(Slot::hash_input(k))) >> 32) & mask;
  }
};

// The form in which an item is partitioned, and its value.
template <class Design, class Source>
struct subtables_cargo {
  using design_type = Design;
  using apart = typename Design::slot_type;
  using slot_type = std::conditional_t<apart::is_set, slot<u32, void>, slot<u32, u32>>;
  using word = typename slot_type::word;
  using entry = routed_item<slot_type>;
  using value_element = typename apart::value_element;
  static constexpr bool has_value = sizeof(value_element) <= 4 && std::endian::native == std::endian::little;

  Design design;
  Source source;
  u32 first;  // region

  // The address of the value of a partitioned item.
  TILEHASH_FN const value_element* value_of(const word& arrived) const {
    if constexpr (apart::is_set)
      return nullptr;
    else if constexpr (has_value)
      return reinterpret_cast<const value_element*>(&arrived);  // its low bytes
    else
      return source(entry::value_of(arrived)).value;
  }
};

// The source of a partition into all regions. It and the route have no design: a kernel with an argument of over
// 128 bytes needs more registers.
template <class Cargo, class Source>
struct subtables_items {
  using slot_type = typename Cargo::slot_type;
  Source source;

  TILEHASH_FN item<slot_type> operator()(u64 i) const {
    return taken(i, [](const auto& /*key*/) { return true; });
  }

 protected:
  template <class Takes>
  TILEHASH_FN item<slot_type> taken(u64 i, const Takes& takes) const {
    const auto x = source(i);
    item<slot_type> y;
    y.key.bits = x.key.bits;
    y.key.legal = x.key.legal;
    y.valid = x.valid && takes(x.key);
    if constexpr (!slot_type::is_set) {
      y.value = static_cast<u32>(i);
      if constexpr (Cargo::has_value) {
        using element = typename Cargo::value_element;
        if constexpr (std::is_trivially_copyable_v<element> && alignof(element) == 4) {  // and 4 bytes
          if (y.valid) y.value = std::bit_cast<u32>(*x.value);  // nvcc reads a memcpy's bytes one by one
        } else if (y.valid) {
          std::memcpy(&y.value, x.value, sizeof(element));
        }
      }
    }
    return y;
  }
};
// ... into some regions; items of others are invalid.
template <class Cargo, class Source>
struct subtables_items_of : subtables_items<Cargo, Source> {
  typename Cargo::design_type::region_hash regions;
  u32 first, count;

  TILEHASH_FN auto operator()(u64 i) const {
    return this->taken(i, [this](const auto& key) {
      return key.legal ? regions.region_of(key.bits) - first < count : first == 0;
    });
  }
};

template <class Cargo>
struct subtables_route : keys_as_they_are<typename Cargo::slot_type> {
  typename Cargo::design_type::region_hash hash_;
  u32 first, count;

  subtables_route(const typename Cargo::design_type::region_hash& h, u32 first_region, u32 regions)
      : hash_(h), first(first_region), count(regions) {}
  TILEHASH_FN u32 regions() const { return count; }
  TILEHASH_FN u32 region_of(u32 key) const { return hash_.region_of(key) - first; }
};

// The items without a slot, as a source.
template <class Cargo>
struct subtables_spilled {
  Cargo cargo;
  const typename Cargo::word* items;

  TILEHASH_FN item<typename Cargo::apart> operator()(u64 i) const {
    item<typename Cargo::apart> x;
    x.key.bits = Cargo::entry::hash_of(items[i]);
    x.key.legal = x.valid = true;
    if constexpr (!Cargo::apart::is_set) x.value = cargo.value_of(items[i]);
    return x;
  }
};

// A spill is not filled by regions again.
template <class Source>
inline constexpr bool is_subtables_spill = false;
template <class Cargo>
inline constexpr bool is_subtables_spill<subtables_spilled<Cargo>> = true;

// The counts of inserted items, and the items that were not inserted.
template <class Cargo, class Space>
struct subtables_filled {
  bool lists_left = false;  // false: too many, the remaining items are not known
  u64 inserted = 0, illegal = 0;
  u64 left = 0;  // items to insert one by one, from rest()
  Cargo cargo;
  buffer<typename Cargo::word, Space> spilled;

  subtables_spilled<Cargo> rest() const { return {cargo, spilled.data()}; }
};

// True if filling by regions pays for n items and an empty table.
template <class Design, class Space>
bool subtables_regions_pay(const Space& space, const Design& design, u64 n) {
  if constexpr (sizeof(typename Design::word) != 4) {
    return false;
  } else {
    using cargo = subtables_cargo<Design, array_source<typename Design::slot_type>>;
    return n >= least_to_partition<Space> &&
           n >= design.capacity() / tuning::of<Space>::fill_share_of_empty && n <= ~u32(0) &&
           2 * u64(design.regions()) >= least_regions(space) &&
           subtables_region_build<cargo, partitions_in_steps<Space>>::scratch_bytes(design) <=
               space.largest_scratch();
  }
}

// Bins for so many of the regions at a time. All items are read once for each such part of the table, so a GPU
// takes all regions at once, if there is memory for all items.
template <class Space, class Word>
struct subtables_bins {
  u32 most, each = 0;  // items of a bin; bins
  buffer<Word, Space> memory;

  subtables_bins(Space& space, u64 items, u64 regions, u64 most_counted)
      : most(static_cast<u32>(bin_capacity(items, regions))) {
    const u64 limit = std::min<u64>({best_regions<Space>, most_counted, regions});
    if constexpr (partitions_in_steps<Space>) {
      try {
        reserve(space, limit);
        return;
      } catch (const out_of_memory&) {
      }
    }
    const u64 few = divide_up(regions, tuning::of<Space>::subtables_parts);
    reserve(space, std::min(limit, std::max(few, least_regions(space))));
  }

 private:
  void reserve(Space& space, u64 bins) {
    memory = buffer<Word, Space>(space, most * bins);
    each = static_cast<u32>(bins);
  }
};

// Inserts the valid items among the first n, about `items` of them. The table must be empty. Throws
// out_of_memory; then its slots may have any content.
template <class Design, class Space, class Source>
auto fill_subtables(Space& space, const Design& design, const Source& source, u64 n, u64 items) {
  using cargo_type = subtables_cargo<Design, Source>;
  using word = typename cargo_type::word;
  using build_type = subtables_region_build<cargo_type, partitions_in_steps<Space>>;
  const u64 regions = design.regions(), capacity = items / 32 + 1024;
  subtables_filled<cargo_type, Space> filled{.cargo = {design, source, 0},
                                             .spilled = buffer<word, Space>(space, capacity)};
  const subtables_bins<Space, word> bins(space, items, regions,
                                         most_regions<typename cargo_type::slot_type>(space));
  const buffer<u64, Space> counts(space, 3 + divide_up(bins.each, 2));
  u32* const came = reinterpret_cast<u32*>(counts.data() + 3);  // of each bin
  space.fill(reinterpret_cast<char*>(counts.data()), counts.bytes(), char(0));
  const spill_list<word> spill{filled.spilled.data(), counts.data(), capacity};
  for (u32 first = 0; first < regions; first += bins.each) {
    const u32 count = static_cast<u32>(std::min<u64>(bins.each, regions - first));
    const cargo_type cargo{design, source, first};
    const subtables_route<cargo_type> route(design.regions_by(), first, count);
    const even_bins<word> to{bins.memory.data(), bins.most, came};
    if (first != 0) space.fill(came, count, 0U);
    bool takes_all = false;
    if constexpr (partitions_in_steps<Space>) {
      takes_all = count == regions;
      if (takes_all) {
        const subtables_items<cargo_type, Source> all{source};
        send_by_blocks(space, route, all, n, to, spill, counts.data() + 1);
      }
    }
    if (!takes_all) {
      const subtables_items_of<cargo_type, Source> some{{source}, design.regions_by(), first, count};
      send_by_blocks(space, route, some, n, to, spill, counts.data() + 1);
    }
    space.for_each_block(count, build_type::block_size, build_type::scratch_bytes(design),
                         build_type{cargo, to, spill, counts.data() + 2});
  }
  u64 host[3];
  space.copy_to_host(host, counts.data(), sizeof host);
  filled.left = host[0], filled.illegal = host[1], filled.inserted = host[2];
  filled.lists_left = filled.left <= capacity;
  return filled;
}

// The engine's interface to filling a design of subtables by regions.
template <class Design>
struct subtables_by_regions {
  // True if the items of such a source can be filled region by region.
  template <class Source>
  static constexpr bool fills_from = sizeof(typename Design::word) == 4 && !is_subtables_spill<Source>;
  // True if it pays for n items and an empty table.
  template <class Space>
  bool regions_pay(const Space& space, u64 n) const {
    const auto& design = static_cast<const Design&>(*this);
    return design.has_even_regions() && subtables_regions_pay(space, design, n);
  }
  // Inserts the valid items among the first n, about `items` of them. Throws out_of_memory; then the slots
  // may have any content.
  template <class Space, class Source>
  auto fill_regions(Space& space, const Source& source, u64 n, u64 items) const {
    return fill_subtables(space, static_cast<const Design&>(*this), source, n, items);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
