// SPDX-License-Identifier: Apache-2.0
// Fills an empty table region by region, in a block's memory.
//
//   items --partition--> | bin | bin | ...     outside the table: of all regions, or of a quarter at a time
//                           |
//                         block:  scratch | keys of subtable 0 | 1 | 2 | --in order--> the subtables
//                                 values  ---- each with its key ----------------->
//
// All buckets of a key are in its region (dynamic_cuckoo.hpp), and a region's keys fit a block's scratch. A
// single insert writes two random lines, one for the key and one for the value. Here keys are placed in the
// scratch and leave in order. Values go to memory that stays in the cache while the region is built.
//
// A block inserts as exactly as single inserts do: a key takes the first free slot of its sequence by
// compare-and-swap, slots only fill up, and equal keys meet there. No key moves, so a taken slot is final,
// and its value is written at once. An item whose buckets are all full goes to the spill, and is inserted one
// by one; so does the key of the sentinel cell.
//
// Only for keys of four bytes, as a region of wider ones fits no scratch. A partitioned item is its key and
// its value or, where that is larger than four bytes, its number. Values then are read in random order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/apart_slot.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Converts an item to the form in which it is partitioned, and back.
template <class Design, class Source>
struct subtables_cargo {
  using apart = typename Design::slot_type;
  using slot_type = std::conditional_t<apart::is_set, slot<u32, void>, slot<u32, u32>>;
  using word = typename slot_type::word;
  using entry = routed_item<slot_type>;
  using value_element = typename apart::value_element;
  static constexpr bool has_value = sizeof(value_element) <= 4 && std::endian::native == std::endian::little;

  Design design;
  Source source;
  u32 first, count;  // regions to fill; items of other regions are invalid

  TILEHASH_FN item<slot_type> operator()(u64 i) const {
    const auto x = source(i);
    item<slot_type> y;
    y.key.bits = x.key.bits;
    y.key.legal = x.key.legal;
    y.valid = x.valid && (x.key.legal ? design.region_of(x.key.bits) - first < count : first == 0);
    if constexpr (!apart::is_set) {
      y.value = static_cast<u32>(i);
      if constexpr (has_value) {
        if (y.valid) std::memcpy(&y.value, x.value, sizeof(value_element));
      }
    }
    return y;
  }
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

template <class Cargo>
struct subtables_route : keys_as_they_are<typename Cargo::slot_type> {
  Cargo cargo;

  explicit subtables_route(const Cargo& c) : cargo(c) {}
  TILEHASH_FN u32 regions() const { return cargo.count; }
  TILEHASH_FN u32 region_of(u32 key) const { return cargo.design.region_of(key) - cargo.first; }
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

template <class Cargo>
struct subtables_region_build {
  using apart = typename Cargo::apart;
  using word = typename apart::word;
  using arrived = typename Cargo::word;
  static constexpr u32 block_size = tuning::gpu::large_block;
  static constexpr u32 slots = 64 / sizeof(word);

  Cargo cargo;
  even_bins<arrived> bins;
  spill_list<arrived> spill;
  u64* inserted;

  using design_type = std::remove_cvref_t<decltype(Cargo::design)>;
  template <class Offset = u32>
  struct layout {
    scratch_array<word, Offset> keys;  // of the region's buckets in each subtable
    scratch_array<u32, Offset> fresh;  // the number of new keys

    TILEHASH_FN constexpr explicit layout(Offset buckets)
        : keys(design_type::subtables * buckets * slots), fresh(keys, 1) {}
    TILEHASH_FN constexpr Offset bytes() const { return fresh.end(); }
  };
  static u64 scratch_bytes(const design_type& d) { return layout<u64>(d.region_buckets()).bytes(); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 nth = static_cast<u32>(block.index()), n = bins.size(nth);
    if (n == 0) return;
    block_of<Block> work(*this, block, nth, n);
    work.clear();
    block.barrier();
    work.place();
    block.barrier();
    work.write_back();
  }

 private:
  // One thread's view of a block that builds its region.
  template <class Block>
  struct block_of {
    const subtables_region_build& build;
    u32 nth, n, me, all, buckets;
    u64 first_bucket;
    scratch_in<word, Block> keys;
    scratch_in<u32, Block> fresh;

    TILEHASH_FN block_of(const subtables_region_build& of, const Block& b, u32 number, u32 items)
        : build(of),
          nth(number),
          n(items),
          me(b.rank()),
          all(b.size()),
          buckets(of.cargo.design.region_buckets()),
          first_bucket(u64(of.cargo.first + number) * buckets),
          keys(layout<>(buckets).keys.in(b)),
          fresh(layout<>(buckets).fresh.in(b)) {}

    TILEHASH_FN void clear() {
      const u32 words = design_type::subtables * buckets * slots;
      for (u32 i = me; i < words; i += all) keys[i] = apart::empty_word;
      if (me == 0) fresh[0] = 0;
    }
    TILEHASH_FN void place() {
      const arrived* const bin = build.bins.at(nth);
      u32 came = 0;
      for (u32 i = me; i < n; i += all) came += build.put(keys, buckets, first_bucket, bin[i]);
      if (came != 0) fetch_add(fresh, came);
    }
    TILEHASH_FN void write_back() {
      for (u32 t = 0; t < design_type::subtables; ++t)
        put_words<4>(keys + t * buckets * slots, buckets * slots, me, all,
                     build.cargo.design.part_of(t).keys + first_bucket * slots);
      if (me == 0) fetch_add(build.inserted, u64(u32(fresh[0])));
    }
  };

  // Returns the number of new keys, one or none.
  template <class Keys>
  TILEHASH_FN u32 put(Keys keys, u32 buckets, u64 first_bucket, const arrived& e) const {
    const auto& design = cargo.design;
    const word key = Cargo::entry::hash_of(e);
    const auto home = design.locate(key);
    bool open = !apart::is_sentinel(key);
    while (open) {  // repeats when another thread took the slot: at most once for each slot of the sequence
      auto now = home;
      u32 at = ~0U, table = 0;
      bool is_last_resort = false, known = false;
      for (u32 steps = 0; steps < design.max_steps(); ++steps, design.advance(now)) {
        const u32 here =
            now.table * buckets +
            static_cast<u32>(design.bucket_number(now, design.part_of(now.table)) - first_bucket);
        const scratch_bucket<word, slots> b(keys, here, here);
        known = b.match_if([&](word w) { return w == key; }) != 0;
        if (known) break;
        const u32 free = b.match_if([](word w) { return w == apart::empty_word; });
        if (free == 0) continue;
        const bool at_once = lowest(free) < design.first_slots;
        if (at == ~0U || (is_last_resort && at_once))
          at = here * slots + b.lowest_slot(free), table = now.table, is_last_resort = !at_once;
        if (at_once) break;  // this bucket has never been fuller, so no bucket after it has the key
      }
      if (known) return 0;
      open = at != ~0U;
      if (!open || compare_and_swap(keys + at, apart::empty_word, key) != apart::empty_word) continue;
      if constexpr (!apart::is_set)
        copy_value(design.part_of(table).values + (first_bucket * slots + at - u64(table) * buckets * slots),
                   cargo.value_of(e));
      return 1;
    }
    spill.add(e);
    return 0;
  }
};

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
           subtables_region_build<cargo>::scratch_bytes(design) <= space.largest_scratch();
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
  using build_type = subtables_region_build<cargo_type>;
  const u64 regions = design.regions(), capacity = items / 32 + 1024;
  subtables_filled<cargo_type, Space> filled{.cargo = {design, source, 0, 0},
                                             .spilled = buffer<word, Space>(space, capacity)};
  const subtables_bins<Space, word> bins(space, items, regions,
                                         most_regions<typename cargo_type::slot_type>(space));
  const buffer<u32, Space> came(space, bins.each);
  const buffer<u64, Space> counts(space, 3);
  space.fill(counts.data(), 3, u64(0));
  const spill_list<word> spill{filled.spilled.data(), counts.data(), capacity};
  for (u32 first = 0; first < regions; first += bins.each) {
    const u32 count = static_cast<u32>(std::min<u64>(bins.each, regions - first));
    const cargo_type cargo{design, source, first, count};
    const even_bins<word> to{bins.memory.data(), bins.most, came.data()};
    space.fill(came.data(), count, 0U);
    send_by_blocks(space, subtables_route<cargo_type>(cargo), cargo, n, to, spill, counts.data() + 1);
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
