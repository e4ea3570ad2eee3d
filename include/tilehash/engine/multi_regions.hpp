// SPDX-License-Identifier: Apache-2.0
// Groups a multimap's items by regions: partitions them by their keys' hashes, and counts them in the memory
// of a block.
//
//   items  --partition-->  | bin 0 | bin 1 | ...      one for each region; regions are so small that a bin
//                              |       |              fits a block's scratch
//                          block 0  block 1 ...       each groups its bin's items in its scratch and appends
//                                                     them to the three arrays
//
//   keys          ... | b | a | c | ...          a bin's ids are adjacent; bins are in no given order
//   starts        ... | 0 | 1 | 4 | ...
//   values        ... | 9 3 1 2 5 4 | ...
//
// Each item is written to memory twice; a radix sort writes it four times. The regions are those of the table
// of ids, if its design is built by regions that are no larger. Then, if nearly every key occurs once, the
// keys of each of its regions are adjacent, and its build need not partition them (numbered_bins).
//
// A bin must fit a block's scratch. Frequent keys make bins uneven; then grouping by regions fails.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/quotient_slot.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/multi_build.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A design with a build that takes items in bins of its regions, and that exposes its regions.
template <class Design>
concept takes_bins = partition_built<Design> && requires(const Design& d) {
  { d.route().regions() } -> std::same_as<u32>;
  { d.region_slots() } -> std::same_as<u32>;
};

// The result of group_by_regions(). The ids of region r's keys are firsts[r] ... firsts[r] + counts[r] - 1.
template <class Key, class Value, class Offset, class Space>
struct grouped {
  hash_route<remainder_slot<Key, Value>> route;
  u32 region_capacity = 0;  // of a region
  buffer<u32, Space> firsts, counts;
  buffer<Key, Space> keys;
  buffer<Offset, Space> starts;  // one more than keys
  buffer<Value, Space> values;   // of the legal items
  u64 items = 0;

  template <takes_bins Ids>
  bool has_regions_of(const Ids& ids) const {
    return route.agrees_with(ids.route()) && region_capacity <= ids.region_slots();
  }
};

// The first n elements, in memory of that size.
template <class T, class Space>
buffer<T, Space> shortened(Space& space, buffer<T, Space> all, u64 n) {
  if (all.size() == n) return all;
  buffer<T, Space> some(space, n);
  if (n != 0) space.copy(some.data(), all.data(), n * sizeof(T));
  return some;
}

// If keys occur more often, bins get too uneven.
template <class Space, class Key, class Value>
inline constexpr double most_grouped_copies =
    tuning::of<Space>::grouped_copies(sizeof(typename remainder_slot<Key, Value>::word));

// The capacity of a region that keys of so many copies exceed by chance once in a million regions: five standard
// deviations above its mean, as it gets copies * Poisson(mean / copies) items.
inline u64 least_region_for(double copies, double load) {
  return static_cast<u64>(25 * load * copies / ((1 - load) * (1 - load)));
}

struct regions_of_groups {
  u64 regions, capacity, bytes;  // of each region; of all
};
// The regions of the table of ids where they are large enough, and else of at most `most` slots.
template <class Word, class Ids, class Space>
regions_of_groups regions_to_group(u64 n, double load, u64 seed, double copies, u64 most) {
  const u64 capacity = slots_for(n, load);
  const auto of = [&](u64 regions) {
    const u64 each = divide_up(capacity, regions);
    return regions_of_groups{regions, each, regions * each * sizeof(Word)};
  };
  const u64 fewest = divide_up(capacity, most);
  if constexpr (takes_bins<Ids>) {
    const u64 its_capacity = Ids::capacity_for(n, load);
    const Ids ids(nullptr, its_capacity, seed, load);
    const u64 least = std::min(least_region_for(copies, load), most), each = ids.region_slots();
    if (each < least)
      return of(std::min<u64>(divide_up(capacity, least), std::max<u64>(fewest, best_regions<Space>)));
    if (each <= most) {
      const u64 regions = ids.route().regions();
      // As many bytes as that table takes: its build can then reuse the memory.
      return {regions, each, std::max<u64>(regions * each * sizeof(Word), Ids::bytes(its_capacity))};
    }
  }
  return of(fewest);
}

// `Ids` is the design of the table of ids. Returns nothing if there are too few items, or the regions are too
// many or too uneven. Temporary memory: up to 1.7 words (of 8 or 16 bytes) an item, 1.25 at a load of 0.8;
// and if keys repeat, as many keys and starts as there are items. Regions are large enough that keys which come
// `copies` times rarely fill one.
template <class Offset, class Ids = void, class Space, class Key, class Value>
std::optional<grouped<Key, Value, Offset, Space>> group_by_regions(Space& space, const Key* keys,
                                                                   const Value* values, u64 n,
                                                                   double load_factor, u64 seed,
                                                                   double copies = 1) {
  using slot_type = remainder_slot<Key, Value>;
  using route_type = hash_route<slot_type>;
  using build_type = multi_build<route_type, Offset, large_block<Space>>;
  using word = typename slot_type::word;
  if (n < least_to_partition<Space> || n > ~u32(0)) return std::nullopt;
  constexpr double best = 0.8;  // leaves free space in the bins
  const double load = load_factor < 0.6 || load_factor > best ? best : load_factor;
  const auto [regions, region_capacity, bytes] =
      regions_to_group<word, Ids, Space>(n, load, seed, copies, build_type::most_items);
  const u32 slots = build_type::slots_for(static_cast<u32>(region_capacity));
  const u64 scratch = build_type::scratch_bytes(static_cast<u32>(region_capacity), slots);
  if (regions < 2 || regions > best_regions<Space> || regions > most_regions<slot_type>(space) ||
      scratch > space.largest_scratch())
    return std::nullopt;

  grouped<Key, Value, Offset, Space> g;
  g.route = route_type(static_cast<u32>(regions), seed);
  g.region_capacity = static_cast<u32>(region_capacity);
  buffer<word, Space> entries(space, divide_up(bytes, sizeof(word)));
  const buffer<u32, Space> fill(space, regions);
  const buffer<u64, Space> counters(space, 3);
  space.fill(counters.data(), 3, u64(0));
  u64 *const illegal = counters.data(), *const placed = illegal + 1, *const refused = illegal + 2;
  const even_bins<word> bins{entries.data(), g.region_capacity, fill.data()};
  send_to_bins(space, g.route, array_source<slot_type>{keys, values}, n, bins, illegal);
  g.firsts = buffer<u32, Space>(space, regions);
  g.counts = buffer<u32, Space>(space, regions);
  g.keys = buffer<Key, Space>(space, n);
  g.starts = buffer<Offset, Space>(space, n + 1);
  g.values = buffer<Value, Space>(space, n);
  space.for_each_block(regions, build_type::block_size, scratch,
                       build_type{g.route,
                                  bins,
                                  slots,
                                  {g.keys.data(), g.starts.data(), g.values.data(), g.firsts.data(),
                                   g.counts.data(), placed, refused}});
  const auto counted = counters.to_host();
  if (counted[2] != 0) return std::nullopt;
  const u64 distinct = counted[1] >> 32;
  g.items = counted[1] & ~u32(0);
  space.fill(g.starts.data() + distinct, 1, static_cast<Offset>(g.items));
  g.keys = shortened(space, std::move(g.keys), distinct);
  g.starts = shortened(space, std::move(g.starts), distinct + 1);
  return g;
}

// Keys with their ids as the bins of a table's build: the keys of a region are adjacent.
template <class Design>
struct numbered_bins {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  Design design;
  const typename slot_type::key_type* keys;
  const u32 *firsts, *counts;

  struct bin {
    const numbered_bins& all;
    u32 first;
    TILEHASH_FN word operator[](u32 i) const {
      const u32 id = first + i;
      return routed_item<slot_type>::pack(all.design.hash(slot_type::encode(all.keys[id])), id);
    }
  };
  TILEHASH_FN bin at(u32 region) const { return {*this, firsts[region]}; }
  TILEHASH_FN u32 size(u32 region) const { return counts[region]; }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
