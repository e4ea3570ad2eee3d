// SPDX-License-Identifier: Apache-2.0
// Partition: sends the items of a table to their regions, in runs.
//
//   items   | c a f b | e d g a | ...      a block takes a share of them,
//   sorted  | a b | c | f | ...            sorts it by region in its scratch,
//   bins    | .. a b | .. c | .. | .. f |  and appends each region's run to the region's bin
//
// A random write reads and writes a whole line; a run costs little more than one item. Afterwards a block can
// take a bin and build its region in its scratch.
//
// A Route maps keys to regions:
//   slot_type               how keys and values are turned into words
//   regions()
//   hash(key)              a bijection, unhash() its inverse; the word carries the hash in place of the key
//   region_of(hash)
//   neighbours_go_together  optional; if true, neighbouring keys are likely of one region
// Bins (algorithm/bins.hpp) have the memory and the capacity for a region's items; a Spill takes the items
// that exceed it. A Before is a step on each share before it is sent: none here, combining equal keys in
// aggregate.hpp.
#pragma once

#include <type_traits>
#include <utility>

#include <tilehash/algorithm/bin_runs.hpp>
#include <tilehash/algorithm/bins.hpp>
#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Fewer items are not worth a partition, and more regions make its runs short.
template <class Space>
inline constexpr u64 least_to_partition = tuning::of<Space>::least_to_partition;
template <class Space>
inline constexpr u32 best_regions = tuning::of<Space>::best_regions;
// Whether more regions take two steps, to groups of regions first. (Not on a CPU, whose block can count the
// regions of any table.)
template <class Space>
inline constexpr bool partitions_in_steps = Space::has_lanes;

// A lower bound: as many regions as blocks can build at once. (A CPU's threads take one after the other, and
// its cache determines how large regions are.)
template <class Space>
u64 least_regions(const Space& space) {
  if constexpr (Space::has_lanes)
    return space.large_blocks_at_once();
  else
    return 1;
}

// No step on a share before it is sent; the block's scratch has words. (A step with `meets` has meet(), which a
// block's threads call with their hashes and values, and which drops some items. It may use the scratch and
// more words, the cells. With has_cells each item has a cell; the bins' shifts take their place afterwards.)
template <class Slot>
struct nothing_before {
  using key_bits = typename Slot::key_bits;
  using value_bits = typename Slot::value_bits;
  using word = typename Slot::word;
  static constexpr bool meets = false, has_cells = false;
  static constexpr u32 cells_of(u32 /*share*/) { return 0; }
  // Items of a share: a GPU's thread keeps them in registers; a CPU's block is one thread, its share fits a
  // cache.
  static constexpr u32 of_a_thread = tuning::gpu::partition_items(sizeof(word));
  static constexpr u32 of_a_core = tuning::cpu::partition_items(sizeof(word));
  // Requests that a thread has in flight at once.
  static constexpr u32 reserved_at_once = tuning::here::reserved_at_once(sizeof(word));
  static constexpr u32 leaving_at_once = tuning::here::leaving_at_once;
  static constexpr u64 entry_bytes = sizeof(word);

  template <class Words>
  struct entries {
    Words words;
    TILEHASH_FN void put(u32 i, key_bits hash, value_bits v) const {
      words[i] = routed_item<Slot>::pack(hash, v);
    }
    TILEHASH_FN word get(u32 i) const { return words[i]; }
  };
  template <u32 Share, class Block>
  TILEHASH_FN static auto entries_in(Block block) {
    const auto words = block.template scratch<word>();
    return entries<decltype(words)>{words};
  }
  template <class Entries>
  TILEHASH_FN static value_bits value_after(const Entries&, u32 /*i*/, value_bits value) {
    return value;
  }
  TILEHASH_FN void left(u64 /*items*/) const {}
};

// A block takes one share of the items after the other and sorts it by region in its scratch. So it writes a
// region's items to its bin as one run, which costs memory little more than one item. While it writes a
// share, it loads the next one.
template <class Route, class Source, u32 PerThread, u32 Threads, class Bins, class Spill,
          class Before = nothing_before<typename Route::slot_type>>
struct partition {
  using slot_type = typename Route::slot_type;
  using key_bits = typename slot_type::key_bits;
  using value_bits = typename slot_type::value_bits;
  using word = typename slot_type::word;
  using entry = routed_item<slot_type>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = PerThread * Threads;  // items of one block, at most
  static_assert(share <= 1U << 16);
  static constexpr u32 cells = Before::cells_of(share);
  static constexpr u32 most_regions = Before::has_cells ? cells : ~u32(0);
  using sums = block_sums<Threads>;
  static constexpr bool side_by_side = Threads != 1 && requires { requires Route::neighbours_go_together; };
  static constexpr u32 no_region = ~u32(0);
  static constexpr u32 at_once = Before::reserved_at_once, leaving_at_once = Before::leaving_at_once;

  Route route;
  Source source;
  u64 n;
  Bins bins;
  Spill spill;
  u64* illegal;
  Before before;
  std::conditional_t<in_order<Bins>, shares_in_turn, no_shares_in_turn> in_turn;
  u32 taken = share;  // items of a share: fewer where that gives work to more blocks

  // For each region the start of its entries, and the shift from there to its bin. With has_cells the shifts
  // take the place of the cells.
  static constexpr u64 scratch_bytes(u64 regions) {
    return share * Before::entry_bytes +
           (cells + (Before::has_cells ? 1 : 2) * regions + sums::words) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank();
    const scratch_of<Block> in(block, route.regions());
    const auto& to = bins_of(block);
    u64 step = block.count(), begin = block.index(), end = n;
    if constexpr (in_order<Bins>) {
      step = 1, begin *= in_turn.shares;
      if ((begin + in_turn.shares) * taken < n) end = (begin + in_turn.shares) * taken;
    }
    held_items mine;
    u64 sent = 0;
    take(mine, begin, me);
    for (u64 number = begin; number * taken < end; number += step) {
      count(block, in, mine);
      block.barrier();
      const u32 all = arrange(block, in, to, mine);
      sent += all;
      block.barrier();
      if ((number + step) * taken < end) take(mine, number + step, me);
      send(in, to, all, me);
      block.barrier();
    }
    if (me == 0) before.left(sent);
  }

 private:
  // The block's scratch: the share's entries; the cells; the regions' starts and shifts; the threads' sums.
  template <class Block>
  struct scratch_of {
    u32 regions;
    decltype(Before::template entries_in<share>(std::declval<Block>())) sorted;
    decltype(std::declval<Block>().template scratch<u32>()) cell, starts, shifts, sums;

    TILEHASH_FN scratch_of(Block block, u32 all_regions)
        : regions(all_regions),
          sorted(Before::template entries_in<share>(block)),
          cell(block.template scratch<u32>(share * Before::entry_bytes)),
          starts(cell + cells),
          shifts(Before::has_cells ? cell : starts + regions),
          sums((Before::has_cells ? starts : shifts) + regions) {}
  };
  // A thread's items of a share, in registers.
  struct held_items {
    key_bits hashes[PerThread];  // the keys, until they are counted
    value_bits values[PerThread];
    u32 goes[(PerThread + 31) / 32];  // bit k: there is a k-th item, and it goes on
    // An item's number among its region's items of this share; two to a word, as registers are short.
    u32 ranks[(PerThread + 1) / 2];

    TILEHASH_FN bool has(u32 k) const { return (goes[k / 32] >> (k % 32) & 1) != 0; }
  };

  template <class Block>
  TILEHASH_FN decltype(auto) bins_of([[maybe_unused]] Block block) const {
    if constexpr (in_order<Bins>)
      return bins.of_block(static_cast<u32>(block.index()));
    else
      return (bins);
  }

  TILEHASH_FN void take(held_items& mine, u64 number, u32 me) const {
    for (u32& bits : mine.goes) bits = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u64 i = number * taken + u64(k) * Threads + me;
      const detail::item<slot_type> x = k * Threads < taken && i < n ? source(i) : detail::item<slot_type>{};
      mine.hashes[k] = x.key.bits;
      mine.values[k] = x.value;
      mine.goes[k / 32] |= u32(x.valid && x.key.legal) << (k % 32);
      if (x.valid && !x.key.legal) fetch_add(illegal, u64(1));
    }
  }

  // Gives each item its number in its region, and each region its number of items.
  template <class Block>
  TILEHASH_FN void count(Block block, const scratch_of<Block>& in, held_items& mine) const {
    const u32 me = block.rank();
    for (u32 r = me; r < in.regions; r += Threads) in.starts[r] = 0;
    for (u32& two : mine.ranks) two = 0;
    if constexpr (Before::meets) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < PerThread; ++k) mine.hashes[k] = route.hash(mine.hashes[k]);
      before.template meet<Threads>(block, route, in.sorted, in.cell, mine.hashes, mine.values,
                                    mine.goes);  // with barriers
    } else {
      block.barrier();
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      if constexpr (!Before::meets) mine.hashes[k] = route.hash(mine.hashes[k]);
      const bool there = mine.has(k);
      const u32 region = there ? route.region_of(mine.hashes[k]) : no_region;
      u32 rank = 0;
      if constexpr (side_by_side) rank = enter_together(block, in.starts, region);
      if (!there) continue;
      mine.values[k] = before.value_after(in.sorted, k * Threads + me, mine.values[k]);
      if constexpr (!side_by_side) rank = fetch_add(in.starts + region, u32(1));
      mine.ranks[k / 2] |= rank << (k % 2 * 16);
    }
  }

  // Sorts the share, and reserves space for its runs. Returns the number of its entries.
  template <class Block, class To>
  TILEHASH_FN u32 arrange(Block block, const scratch_of<Block>& in, const To& to,
                          const held_items& mine) const {
    if constexpr (Threads == 1) {
      const u32 all =
          reserve_runs<Threads, at_once>(block, in.starts, in.shifts, in.sums, in.regions, to.fill);
      block.barrier();
      sort(in, mine);
      return all;
    } else {
      const u32 me = block.rank(), all = start_runs<Threads>(block, in.starts, in.sums, in.regions);
      block.barrier();
      reserved_runs<Threads, at_once, std::remove_cvref_t<decltype(to.fill[0])>> runs;
      runs.reserve(in.starts, in.regions, all, me, to.fill);
      sort(in, mine);  // meanwhile the bins reply
      runs.set_shifts(in.starts, in.shifts, in.regions, me);
      for (u32 first = me + runs.step; first < in.regions; first += runs.step) {
        runs.reserve(in.starts, in.regions, all, first, to.fill);
        runs.set_shifts(in.starts, in.shifts, in.regions, first);
      }
      return all;
    }
  }

  template <class Scratch>
  TILEHASH_FN void sort(const Scratch& in, const held_items& mine) const {
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      if (!mine.has(k)) continue;
      const u32 rank = mine.ranks[k / 2] >> (k % 2 * 16) & 0xffff, region = route.region_of(mine.hashes[k]);
      in.sorted.put(u32(in.starts[region]) + rank, mine.hashes[k], mine.values[k]);
    }
  }

  // Writes the entries of a share to their bins.
  template <class Scratch, class To>
  TILEHASH_FN void send(const Scratch& in, const To& to, u32 all, u32 me) const {
    for (u32 first = me; first < all; first += leaving_at_once * Threads) {
      word e[leaving_at_once];
      u32 region[leaving_at_once], at[leaving_at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < leaving_at_once; ++k) {
        const u32 i = first + k * Threads;
        e[k] = in.sorted.get(i < all ? i : 0);
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < leaving_at_once; ++k) {
        region[k] = route.region_of(entry::hash_of(e[k]));
        at[k] = u32(in.shifts[region[k]]) + first + k * Threads;
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < leaving_at_once; ++k) {
        if (first + k * Threads >= all) continue;
        if (at[k] >= to.capacity_of(region[k]))
          spill.add(e[k]);
        else
          to.at(region[k])[at[k]] = to.written(e[k]);
      }
    }
  }

  // Counts the items of a group, where neighbours likely go to one region: the first lane of each run adds
  // for the whole run. Returns the number of an item in its region, if it goes to one.
  template <class Block, class Counts>
  TILEHASH_FN static u32 enter_together(Block block, Counts starts, u32 region) {
    const auto t = block.template tile<sums::group>();
    const u32 me = t.rank(), before_me = t.from_left(region, 1);
    const u32 firsts = t.ballot(me == 0 || before_me != region), up_to_me = (u32(2) << me) - 1;
    const u32 first = bit_width(firsts & up_to_me) - 1, later = firsts & ~up_to_me;
    u32 number = 0;
    if (me == first && region != no_region)
      number = fetch_add(starts + region, (later != 0 ? lowest(later) : sums::group) - me);
    return t.from_left(number, me - first) + me - first;
  }
};

template <class Route, class Source, class Space, class Bins, class Spill,
          class Before = nothing_before<typename Route::slot_type>>
using partition_in = partition<Route, Source, Space::has_lanes ? Before::of_a_thread : Before::of_a_core,
                               large_block<Space>, Bins, Spill, Before>;

// The number of regions that a block can count.
template <class Slot, class Space, class Before = nothing_before<Slot>>
u64 most_regions(const Space& space) {
  using bins = even_bins<typename Slot::word>;
  using work = partition_in<keys_as_they_are<Slot>, array_source<Slot>, Space, bins, no_spill, Before>;
  const u64 fixed = work::scratch_bytes(0), each = work::scratch_bytes(1) - fixed;
  return space.largest_scratch() <= fixed ? 0 : (space.largest_scratch() - fixed) / each;
}

// Sends the n items of the source to their bins, behind the `fill` items there. A block must be able to count
// the regions. Does not synchronize with the host.
template <class Space, class Route, class Source, class Bins, class Spill,
          class Before = nothing_before<typename Route::slot_type>>
void send_by_blocks(Space& space, const Route& route, const Source& source, u64 n, const Bins& bins,
                    const Spill& spill, u64* illegal, const Before& before = {}) {
  using work = partition_in<Route, Source, Space, Bins, Spill, Before>;
  // A share is as large as a block can hold. Few items have smaller shares, whole rows of a block's threads,
  // so that all blocks have equal work.
  constexpr u64 few = tuning::of<Space>::few_shares;  // of a block
  u64 at_once = space.large_blocks_at_once();
  if constexpr (in_order<Bins>) at_once = at_once < bins.most_blocks() ? at_once : bins.most_blocks();
  const u64 rounds = divide_up(n, at_once * work::share);
  u64 taken = work::share;
  if (Space::has_lanes && rounds != 0 && rounds <= few)
    taken = divide_up(divide_up(n, at_once * rounds), u64(work::block_size)) * work::block_size;
  const u64 shares = divide_up(n, taken);
  u64 blocks = shares < at_once ? shares : at_once;
  auto in_turn = decltype(work::in_turn)();
  if constexpr (in_order<Bins>) {
    in_turn = {blocks == 0 ? 0 : divide_up(shares, blocks)};
    blocks = blocks == 0 ? 0 : divide_up(shares, in_turn.shares);
  }
  space.for_each_block(
      blocks, work::block_size, work::scratch_bytes(route.regions()),
      work{route, source, n, bins, spill, illegal, before, in_turn, static_cast<u32>(taken)});
}

// Writes each item to its bin by itself, for more regions than a block can count.
template <class Route, class Source, class Bins>
struct scatter_one_by_one {
  using slot_type = typename Route::slot_type;
  Route route;
  Source source;
  Bins bins;
  u64* illegal;

  TILEHASH_FN void operator()(u64 i) const {
    const detail::item<slot_type> x = source(i);
    if (!x.valid) return;
    if (!x.key.legal) {
      fetch_add(illegal, u64(1));
      return;
    }
    const u32 region = route.region_of(route.hash(x.key.bits)), at = fetch_add(bins.fill + region, u32(1));
    if (at < bins.capacity_of(region))
      bins.at(region)[at] = routed_item<slot_type>::pack(route.hash(x.key.bits), x.value);
  }
};

// Sends the n items of the source to their bins and counts them in `fill`. Does not synchronize with the
// host.
template <class Space, class Route, class Source, class Bins>
void send_to_bins(Space& space, const Route& route, const Source& source, u64 n, const Bins& bins,
                  u64* illegal) {
  space.fill(bins.fill, route.regions(), u32(0));
  if (route.regions() <= most_regions<typename Route::slot_type>(space))
    send_by_blocks(space, route, source, n, bins, no_spill(), illegal);
  else
    space.for_each(n, scatter_one_by_one<Route, Source, Bins>{route, source, bins, illegal});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
