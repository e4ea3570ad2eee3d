// A multimap's items brought together by regions: partitioned by their keys' hashes, and counted in the
// memory of a block.
//
//   items  --partition-->  | bin 0 | bin 1 | ...      one for each of so many regions that a block's scratch
//                              |       |              has room for a bin
//                          block 0  block 1 ...       each brings its bin's items together in its scratch and
//                                                     appends what it has to the three arrays
//
//   a block's scratch   hashes  |   | b |   | a | c |   |     a set of the bin's keys, by double hashing
//                       counts  | 0 | 1 | 0 | 3 | 2 | 0 |     an item's number among those of its key is
//                               |     scan              |     the count that it finds
//                       starts  | 0 | 0 | 1 | 1 | 4 | 6 |
//
//   keys          ... | b | a | c | ...          its ids are neighbours; the bins come in no given order
//   starts        ... | 0 | 1 | 4 | ...
//   values        ... | 9 3 1 2 5 4 | ...
//
// Each item goes to memory twice; a radix sort takes it there four times. The regions are those of the table
// of ids, where its design is built by regions that are no larger. Then, if nearly every key comes once, its
// build finds the keys of each side by side: it need not partition them (numbered_bins).
//
// A block's steps, with a barrier between them:
//   1  clear the set and the counts
//   2  every item finds its key's slot, or takes a free one, and counts itself there
//   3  add the counts up to starts, and reserve so many keys and items in the arrays
//   4  write the keys and their starts, slot by slot
//   5  put the values in order, where the set was
//   6  write them
//
// A bin must fit a block's scratch. Keys that come often make bins uneven; then this gives up.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, section 5.3, counts so
// in the shared memory of its two-level table's buckets.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include <tilehash/algorithm/block_scan.hpp>
#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/remainder_slot.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Where the groups go. Bin b's ids are firsts[b] ... firsts[b] + counts[b] - 1.
template <class Key, class Value, class Offset>
struct groups {
  Key* keys;
  Offset* starts;
  Value* values;
  u32 *firsts, *counts;
  u64* placed;   // keys, in the upper half, and items
  u64* refused;  // bins that were too large, and items that met too many keys
};

template <class Route, class Offset, u32 Threads>
struct multi_build {
  using slot_type = typename Route::slot_type;
  using key_type = typename slot_type::key_type;
  using value_type = typename slot_type::mapped_type;
  using value_bits = typename slot_type::value_bits;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using item = routed_item<slot_type>;
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 group = sums::group;
  static constexpr u32 most_items = sizeof(word) <= 8 ? 21504 : 9984;  // of a bin: what scratch has room for
  static constexpr u32 at_once = 7;  // requests of a thread that are under way together
  static constexpr u32 batches = (most_items + at_once * Threads - 1) / (at_once * Threads);
  static constexpr u32 most_steps = 256;  // of an item through the set
  static_assert(most_items < (1U << 16), "counts have 16 bits");

  Route route;
  even_bins<word> bins;
  u32 slots;  // of the set
  groups<key_type, value_type, Offset> to;

  // A power of two, and two for each thread at least.
  static u32 slots_for(u32 room) {
    return std::bit_ceil(room + room / 4 < 2 * Threads ? 2 * Threads : room + room / 4);
  }
  // Scratch: the set, and when it is done with the values; a count of 16 bits for each slot, then where its
  // values start; the threads' sums; where this bin's ids and items begin. A thread adds up neighbouring
  // counts, so one in 33 words is left out, and the threads of a warp meet different banks.
  TILEHASH_FN static constexpr u32 padded(u32 word) { return word + (word >> 5); }
  TILEHASH_FN static constexpr u64 set_bytes(u32 room, u32 slots) {
    const u64 set = slots * sizeof(key_bits), values = (room * sizeof(value_bits) + 7) / 8 * 8;
    return set < values ? values : set;
  }
  static constexpr u64 scratch_bytes(u32 room, u32 slots) {
    return set_bytes(room, slots) + (padded(slots / 2) + sums::words + 2) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), region = static_cast<u32>(block.index()), n = bins.fill[region];
    if (n > bins.room) {
      if (me == 0) fetch_add(to.refused, u64(1));
      return;
    }
    const word* const bin = bins.at(region);
    const auto set = block.template scratch<key_bits>();
    const auto values = block.template scratch<value_bits>();
    const auto counts = block.template scratch<u32>(set_bytes(bins.room, slots));
    const auto sum_scratch = counts + padded(slots / 2), begin = sum_scratch + sums::words;
    const key_bits free =
        region == 0 ? static_cast<key_bits>(~key_bits(0)) : key_bits(0);  // no hash of this region

    key_bits next[at_once] = {};  // 1; meanwhile the first hashes are under way
    const auto fetch = [&](u32 first) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k)
        if (first + k * Threads < n) next[k] = item::hash_of(bin[first + k * Threads]);
    };
    fetch(me);
    for (u32 s = me; s < slots; s += Threads) set[s] = free;
    for (u32 i = me; i < padded(slots / 2); i += Threads) counts[i] = 0;
    block.barrier();

    const auto t = block.template tile<group>();
    u32 places[batches * at_once];  // 2; of this thread's items: the slot, and the number there
    TILEHASH_UNROLL
    for (u32 b = 0; b < batches; ++b) {
      const u32 first = b * at_once * Threads + me;
      if (b * at_once * Threads >= n) break;
      key_bits hash[at_once], met[at_once];
      u32 slot[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) hash[k] = next[k];
      if (b + 1 < batches) fetch(first + at_once * Threads);
      u32 goes_on = 0;  // bit k: the k-th has no slot yet
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        slot[k] = slot_of(hash[k]);
        met[k] = first + k * Threads < n ? compare_and_swap(set + slot[k], free, hash[k]) : free;
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) goes_on |= u32(met[k] != free && met[k] != hash[k]) << k;
      // The whole group walks on together: lanes that part here stay apart, and each is served alone.
      for (u32 steps = 0; t.any(goes_on != 0) && steps < most_steps; ++steps) {
        TILEHASH_UNROLL
        for (u32 k = 0; k < at_once; ++k) {
          if ((goes_on >> k & 1) == 0) continue;
          slot[k] = (slot[k] + stride_of(hash[k])) & (slots - 1);
          met[k] = compare_and_swap(set + slot[k], free, hash[k]);
        }
        TILEHASH_UNROLL
        for (u32 k = 0; k < at_once; ++k) {
          if (met[k] == free || met[k] == hash[k]) goes_on &= ~(1U << k);
        }
      }
      if (goes_on != 0) fetch_add(to.refused, u64(1));
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * Threads < n) places[b * at_once + k] = slot[k] << 16 | count_one(counts, slot[k]);
      }
    }
    value_bits carried[batches * at_once];  // needed in step 5
    TILEHASH_UNROLL
    for (u32 k = 0; k < batches * at_once; ++k) {
      if (k * Threads >= n) break;
      if (k * Threads + me < n) carried[k] = item::value_of(bin[k * Threads + me]);
    }
    block.barrier();

    const u32 words = slots / 2 / Threads;  // 3; of this thread
    u32 mine = 0, all;                      // keys, in the upper half, and items
    for (u32 i = me * words; i < (me + 1) * words; ++i) {
      const u32 w = counts[padded(i)], low = w & 0xffff, high = w >> 16;
      mine += (u32(low != 0) + u32(high != 0)) << 16 | (low + high);
    }
    const u32 before = sums::before(block, sum_scratch, mine, all);
    u32 start = before & 0xffff;
    for (u32 i = me * words; i < (me + 1) * words; ++i) {
      const u32 w = counts[padded(i)], low = w & 0xffff, high = w >> 16;
      counts[padded(i)] = start | (start + low) << 16;
      start += low + high;
    }
    if (me == 0) {
      const u32 keys = all >> 16;
      const u64 at = fetch_add(to.placed, static_cast<u64>(keys) << 32 | n);
      begin[0] = to.firsts[region] = static_cast<u32>(at >> 32);
      begin[1] = static_cast<u32>(at);
      to.counts[region] = keys;
    }
    block.barrier();

    const u32 share = words * 2 * group, from = me / group * share;  // 4; a group of lanes' slots
    const Offset first_item = u32(begin[1]);
    u32 id = u32(begin[0]) + t.broadcast(before >> 16, 0);
    for (u32 s = from + t.rank(); s < from + share; s += group) {
      const key_bits hash = set[s];
      const u32 taken = t.ballot(hash != free);
      if (hash != free) {
        const u32 its = id + count_ones(taken & ((1U << t.rank()) - 1));
        to.keys[its] = slot_type::decode(route.unhash(hash));
        to.starts[its] = first_item + at(counts, s);
      }
      id += count_ones(taken);
    }
    block.barrier();

    TILEHASH_UNROLL
    for (u32 k = 0; k < batches * at_once; ++k) {  // 5
      if (k * Threads >= n) break;
      if (k * Threads + me < n) values[at(counts, places[k] >> 16) + (places[k] & 0xffff)] = carried[k];
    }
    block.barrier();
    for (u32 i = me; i < n; i += Threads)  // 6
      to.values[first_item + i] = from_bits<value_type>(value_bits(values[i]));
  }

  // By the hash's bits below those that chose the region; and how far it goes from one slot to the next.
  TILEHASH_FN u32 slot_of(key_bits hash) const {
    return static_cast<u32>((static_cast<u64>(route.within(hash)) * slots) >> 32);
  }
  TILEHASH_FN static u32 stride_of(key_bits hash) { return static_cast<u32>(hash) * 0x9e3779b1U >> 16 | 1; }
  template <class Counts>
  TILEHASH_FN static u32 at(Counts counts, u32 slot) {
    return u32(counts[padded(slot / 2)]) >> (slot % 2 * 16) & 0xffff;
  }
  // The count as it was before this one came.
  template <class Counts>
  TILEHASH_FN static u32 count_one(Counts counts, u32 slot) {
    return fetch_add(counts + padded(slot / 2), 1U << slot % 2 * 16) >> (slot % 2 * 16) & 0xffff;
  }
};

// A design whose build takes items that stand in bins by its regions, and which says which ones these are.
template <class Design>
concept takes_bins = partition_built<Design> && requires(const Design& d) {
  { d.route().regions() } -> std::same_as<u32>;
  { d.region_slots() } -> std::same_as<u32>;
};

// What group_by_regions() gives. The ids of region r's keys are firsts[r] ... firsts[r] + counts[r] - 1.
template <class Key, class Value, class Offset, class Space>
struct grouped {
  hash_route<remainder_slot<Key, Value>> route;
  u32 room = 0;  // of a region
  buffer<u32, Space> firsts, counts;
  buffer<Key, Space> keys;
  buffer<Offset, Space> starts;  // one more than keys
  buffer<Value, Space> values;   // the items' that are legal
  u64 items = 0;

  template <takes_bins Ids>
  bool has_regions_of(const Ids& ids) const {
    return route.agrees_with(ids.route()) && room <= ids.region_slots();
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

// Where keys come oftener, bins get too uneven for it.
template <class Key, class Value>
inline constexpr double most_grouped_copies =
    sizeof(typename remainder_slot<Key, Value>::word) <= 8 ? 32 : 16;

// `Ids` is the design of the table of ids. Nothing where items are too few for it, or their regions too many
// or too uneven. Beside what it gives it takes up to 1.7 words (of 8 or 16 bytes) an item, 1.25 at a load of
// 0.8; and where keys repeat, room for as many keys and starts as there are items.
template <class Offset, class Ids = void, class Space, class Key, class Value>
std::optional<grouped<Key, Value, Offset, Space>> group_by_regions(Space& space, const Key* keys,
                                                                   const Value* values, u64 n,
                                                                   double load_factor, u64 seed) {
  using slot_type = remainder_slot<Key, Value>;
  using route_type = hash_route<slot_type>;
  using build_type = multi_build<route_type, Offset, large_block<Space>>;
  using word = typename slot_type::word;
  if (n < least_to_partition || n > ~u32(0)) return std::nullopt;
  constexpr double best = 0.8;  // so that bins have room
  const double load = load_factor < 0.6 || load_factor > best ? best : load_factor;
  const u64 capacity = slots_for(n, load);
  u64 regions = divide_up(capacity, build_type::most_items), room = divide_up(capacity, regions);
  u64 bytes = regions * room * sizeof(word);
  if constexpr (takes_bins<Ids>) {
    const u64 its_capacity = Ids::capacity_for(n, load);
    const Ids ids(nullptr, its_capacity, seed, load);
    if (ids.region_slots() <= build_type::most_items) {
      regions = ids.route().regions(), room = ids.region_slots();
      // As many as that table takes, which then finds them free.
      bytes = std::max<u64>(regions * room * sizeof(word), Ids::bytes(its_capacity));
    }
  }
  const u32 slots = build_type::slots_for(static_cast<u32>(room));
  const u64 scratch = build_type::scratch_bytes(static_cast<u32>(room), slots);
  if (regions < 2 || regions > best_regions || regions > most_regions<slot_type>(space) ||
      scratch > space.largest_scratch())
    return std::nullopt;

  grouped<Key, Value, Offset, Space> g;
  g.route = route_type(static_cast<u32>(regions), seed);
  g.room = static_cast<u32>(room);
  buffer<word, Space> entries(space, divide_up(bytes, sizeof(word)));
  const buffer<u32, Space> fill(space, regions);
  const buffer<u64, Space> counters(space, 3);
  space.fill(counters.data(), 3, u64(0));
  u64 *const illegal = counters.data(), *const placed = illegal + 1, *const refused = illegal + 2;
  const even_bins<word> bins{entries.data(), g.room, fill.data()};
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

// Keys with their ids as the bins of a table's build: those of a region stand side by side.
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
