// Partition: the items of a table leave for the regions of it that they belong to, in runs.
//
//   items   | c a f b | e d g a | ...      a block takes a share of them,
//   sorted  | a b | c | f | ...            sorts it by region in its scratch,
//   bins    | .. a b | .. c | .. | .. f |  and appends each region's run to the region's bin
//
// A random write to memory costs a whole line read and written back; a run of neighbours costs little more
// than one item. Then a block can take a bin and build its region in its scratch.
//
// A Route says how many regions there are and which one a key goes to:
//   slot_type               how keys and values are turned into words
//   regions()
//   hash(key)              a bijection; the word carries the hash in place of the key
//   region_of(hash)
#pragma once

#include <numeric>
#include <vector>

#include <tilehash/algorithm/block_scan.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash::detail {

// An item on its way: a word like a slot's, with the whole hash in it.
template <class Slot>
struct routed_item {
  using word = typename Slot::word;
  TILEHASH_FN static word pack(typename Slot::key_bits hash, typename Slot::value_bits v) {
    if constexpr (Slot::is_set)
      return hash;
    else
      return static_cast<word>(hash) << Slot::value_shift | v;
  }
  TILEHASH_FN static typename Slot::key_bits hash_of(word e) {
    return static_cast<typename Slot::key_bits>(e >> Slot::value_shift);
  }
  TILEHASH_FN static typename Slot::value_bits value_of(word e) { return Slot::value_of(e); }
};

// Bins whose `fill` tells what came even where there was no room for it, so that a second partition can have
// as much as it needs.
template <class Word>
struct counted_bins {
  Word* entries;
  u32 room, last_room;  // of each bin, and of the last
  u32 regions;
  u32* fill;                    // how many items came, whether or not there was room
  const u64* starts = nullptr;  // where bins begin that have room for all that came; null: all have `room`

  TILEHASH_FN Word* at(u32 region) const {
    return entries + (starts != nullptr ? starts[region] : static_cast<u64>(region) * room);
  }
  TILEHASH_FN u32 room_of(u32 region) const {
    return starts != nullptr ? ~u32(0) : region + 1 == regions ? last_room : room;
  }
};
struct no_spill {  // fill tells
  template <class Word>
  TILEHASH_FN void add(const Word& /*entry*/) const {}
};

// A block takes one share of the items after the other and sorts it by region in its scratch, so that the
// items of a region leave for its bin side by side: a run of neighbours costs the memory little more than one
// item. While a share leaves, the next one is on its way in.
template <class Route, class Source, u32 PerThread, u32 Threads, class Bins, class Spill>
struct partition {
  using slot_type = typename Route::slot_type;
  using key_bits = typename slot_type::key_bits;
  using value_bits = typename slot_type::value_bits;
  using word = typename slot_type::word;
  using entry = routed_item<slot_type>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = PerThread * Threads;  // items of one block
  using sums = block_sums<Threads>;
  static constexpr u32 at_once =
      sizeof(word) <= 8 ? 4 : 5;  // requests of a thread that are under way together
  static constexpr u32 leaving_at_once = 2;

  Route route;
  Source source;
  u64 n;
  Bins bins;
  Spill spill;
  u64* illegal;

  // Scratch: the share's entries; for each region where its entries begin, and how far its bin is from there;
  // the threads' and the groups' sums.
  static constexpr u64 scratch_bytes(u64 regions) {
    return share * sizeof(word) + (2 * regions + sums::words) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 regions = route.regions(), me = block.rank();
    const auto sorted = block.template scratch<word>();
    const auto starts = block.template scratch<u32>(share * sizeof(word));
    const auto shifts = starts + regions;
    key_bits hashes[PerThread];
    value_bits values[PerThread];
    u32 goes[(PerThread + 31) / 32];  // bit k: there is a k-th item, and its key is legal
    const auto take = [&](u64 number) {
      for (u32& bits : goes) bits = 0;
      TILEHASH_UNROLL
      for (u32 k = 0; k < PerThread; ++k) {
        const u64 i = number * share + static_cast<u64>(k) * Threads + me;
        const detail::item<slot_type> x = i < n ? source(i) : detail::item<slot_type>{};
        hashes[k] = x.key.bits;
        values[k] = x.value;
        goes[k / 32] |= u32(x.valid && x.key.legal) << (k % 32);
        if (x.valid && !x.key.legal) fetch_add(illegal, u64(1));
      }
    };
    take(block.index());
    for (u64 number = block.index(); number * share < n; number += block.count()) {
      for (u32 r = me; r < regions; r += Threads) starts[r] = 0;
      u32 ranks[PerThread];  // the item's number within its region's share of this block
      block.barrier();
      TILEHASH_UNROLL
      for (u32 k = 0; k < PerThread; ++k) {
        hashes[k] = route.hash(hashes[k]);
        if (goes[k / 32] >> (k % 32) & 1) ranks[k] = fetch_add(starts + route.region_of(hashes[k]), u32(1));
      }
      block.barrier();
      const u32 all = reserve(block, starts, shifts, regions);
      block.barrier();
      TILEHASH_UNROLL
      for (u32 k = 0; k < PerThread; ++k) {
        if ((goes[k / 32] >> (k % 32) & 1) == 0) continue;
        sorted[u32(starts[route.region_of(hashes[k])]) + ranks[k]] = entry::pack(hashes[k], values[k]);
      }
      block.barrier();
      if ((number + block.count()) * share < n) take(number + block.count());
      for (u32 first = me; first < all; first += leaving_at_once * Threads) {
        word e[leaving_at_once];
        u32 region[leaving_at_once], at[leaving_at_once];
        TILEHASH_UNROLL
        for (u32 k = 0; k < leaving_at_once; ++k) {
          const u32 i = first + k * Threads;
          e[k] = sorted[i < all ? i : 0];
        }
        TILEHASH_UNROLL
        for (u32 k = 0; k < leaving_at_once; ++k) {
          region[k] = route.region_of(entry::hash_of(e[k]));
          at[k] = u32(shifts[region[k]]) + first + k * Threads;
        }
        TILEHASH_UNROLL
        for (u32 k = 0; k < leaving_at_once; ++k) {
          if (first + k * Threads >= all) continue;
          if (at[k] < bins.room_of(region[k]))
            bins.at(region[k])[at[k]] = e[k];
          else
            spill.add(e[k]);
        }
      }
      block.barrier();
    }
  }

  // Replaces each region's count by where its entries begin among the block's, finds them room in the
  // region's bin, and gives how many entries there are in all. A thread serves neighbouring regions.
  template <class Block, class Counts>
  TILEHASH_FN u32 reserve(Block block, Counts starts, Counts shifts, u32 regions) const {
    const u32 me = block.rank(), each = (regions + Threads - 1) / Threads;
    const u32 from = me * each < regions ? me * each : regions;
    const u32 to = from + each < regions ? from + each : regions;
    u32 mine = 0;
    for (u32 r = from; r < to; ++r) mine += u32(starts[r]);
    u32 all = 0, start = sums::before(block, shifts + regions, mine, all);
    for (u32 r = from; r < to; r += at_once) {
      u32 count[at_once], base[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        count[k] = r + k < to ? u32(starts[r + k]) : 0;
        base[k] = count[k] != 0 ? fetch_add(bins.fill + r + k, count[k]) : 0;
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (r + k >= to) continue;
        starts[r + k] = start;
        shifts[r + k] = base[k] - start;
        start += count[k];
      }
    }
    return all;
  }
};

// A GPU's thread keeps its items in registers; a CPU's block is one thread, and its share a cacheful.
template <class Route, class Source, class Space, class Bins, class Spill>
using partition_in =
    partition<Route, Source,
              Space::has_lanes ? (sizeof(typename Route::slot_type::word) <= 8 ? 16 : 8) : 16384,
              Space::has_lanes ? 1024 : 1, Bins, Spill>;

// Where there are more regions than a block can count, the items are written to their bins as they come.
template <class Route, class Source>
struct scatter_one_by_one {
  using slot_type = typename Route::slot_type;
  Route route;
  Source source;
  counted_bins<typename slot_type::word> bins;
  u64* illegal;

  TILEHASH_FN void operator()(u64 i) const {
    const detail::item<slot_type> x = source(i);
    if (!x.valid) return;
    if (!x.key.legal) {
      fetch_add(illegal, u64(1));
      return;
    }
    const u32 region = route.region_of(route.hash(x.key.bits)), at = fetch_add(bins.fill + region, u32(1));
    if (at < bins.room_of(region))
      bins.at(region)[at] = routed_item<slot_type>::pack(route.hash(x.key.bits), x.value);
  }
};

// Sends the n items of the source to their bins; `fill` says how many came to each. Does not wait.
template <class Space, class Route, class Source>
void send_to_bins(Space& space, const Route& route, const Source& source, u64 n,
                  const counted_bins<typename Route::slot_type::word>& bins, u64* illegal) {
  using bins_type = counted_bins<typename Route::slot_type::word>;
  using by_blocks = partition_in<Route, Source, Space, bins_type, no_spill>;
  space.fill(bins.fill, bins.regions, u32(0));
  if (by_blocks::scratch_bytes(route.regions()) <= space.largest_scratch()) {
    const u64 shares = divide_up(n, by_blocks::share), at_once = space.large_blocks_at_once();
    space.for_each_block(shares < at_once ? shares : at_once, by_blocks::block_size,
                         by_blocks::scratch_bytes(route.regions()),
                         by_blocks{route, source, n, bins, {}, illegal});
  } else {
    space.for_each(n, scatter_one_by_one<Route, Source>{route, source, bins, illegal});
  }
}

// Makes room for what came, in `entries` and `starts`, where some bin had too little. False if all had
// enough; else the items are to be sent once more.
template <class Space, class Word>
bool grow_bins(Space& space, counted_bins<Word>& bins, const std::vector<u32>& came,
               buffer<Word, Space>& entries, buffer<u64, Space>& starts) {
  bool overflow = false;
  for (u32 r = 0; r < bins.regions; ++r) overflow |= came[r] > bins.room_of(r);
  if (!overflow) return false;
  std::vector<u64> sums(came.size());
  std::exclusive_scan(came.begin(), came.end(), sums.begin(), u64(0));
  starts = buffer<u64, Space>(space, sums);
  entries = {};
  entries = buffer<Word, Space>(space, sums.back() + came.back());
  bins.entries = entries.data();
  bins.starts = starts.data();
  return true;
}

}  // namespace tilehash::detail
