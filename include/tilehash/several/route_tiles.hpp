// SPDX-License-Identifier: Apache-2.0
// Tiles: how a block of a GPU sends its items to their owners.
//
//   items     | a0 b0 a1 c0 ... |         a block's tile; each warp numbers its items of each rank
//   scratch   | a0 a1 .. | b0 .. | c0 ..  sorted by owner, in order
//   runs      each rank's run is written by whole lines, to memory of this GPU or of another one
//
// The places of the runs are exact, by a count of all tiles, or taken from a counter of each rank. The second
// way reads the keys once. It needs memory for more items than there are on average, and says how many there
// were: a caller whose items did not fit sends them again by exact counts.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/several/route_of.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Positions from exact counts: where each tile's run of each rank begins.
template <class Key, class Value>
struct counted_places {
  const u32* starts;  // [rank][tile]
  u64 tiles;
  routed_arrays<Key, Value> to;

  TILEHASH_FN Key* keys(u32 /*rank*/) const { return to.keys; }
  TILEHASH_FN Value* values(u32 /*rank*/) const { return to.values; }
  TILEHASH_FN u32* positions() const { return to.positions; }
  TILEHASH_FN u32 take(u32 rank, u64 tile, u32 /*items*/) const { return starts[rank * tiles + tile]; }
  TILEHASH_FN static u32 fitting(u32 /*rank*/, u32 /*from*/, u32 items) { return items; }
  TILEHASH_FN static u32 position(u32 /*rank*/, u32 at) { return at; }
};

// Positions in the windows of other ranks, from a counter for each rank.
template <class Key, class Value>
struct window_places {
  static constexpr u32 most_ranks = 32;
  struct of_rank {
    Key* keys = nullptr;
    Value* values = nullptr;
    u32 capacity = 0, first_answer = 0;
  };
  of_rank to[most_ranks];
  u32* counters = nullptr;
  u32* answers_at = nullptr;  // each item's position among this rank's answers, or null

  TILEHASH_FN Key* keys(u32 rank) const { return to[rank].keys; }
  TILEHASH_FN Value* values(u32 rank) const { return to[rank].values; }
  TILEHASH_FN u32* positions() const { return answers_at; }
  TILEHASH_FN u32 take(u32 rank, u64 /*tile*/, u32 items) const {
    using detail::fetch_add;
    return items == 0 ? 0 : fetch_add(counters + rank, items);
  }
  // How many of these items fit; the others are not written.
  TILEHASH_FN u32 fitting(u32 rank, u32 from, u32 items) const {
    const u32 capacity = to[rank].capacity;
    if (from >= capacity) return 0;
    return capacity - from < items ? capacity - from : items;
  }
  TILEHASH_FN u32 position(u32 rank, u32 at) const {
    const of_rank& there = to[rank];
    return there.first_answer + (at < there.capacity ? at : 0);
  }
};

// A block's tile, of items whose keys and values together have at most `most_bytes`. (Frequent keys take registers,
// so calls without them have a kernel of their own.)
template <class Key, class Value, bool WithValues, bool Frequent, class Places>
struct route_by_blocks {
  static constexpr u64 item_bytes = sizeof(Key) + (WithValues ? sizeof(Value) : 0);
  static constexpr u64 most_bytes = 64;
  static constexpr u32 width = 32, block_size = tuning::gpu::route_block, warps = block_size / width;
  static constexpr u32 per_thread = tuning::gpu::route_items(item_bytes);
  static constexpr u32 tile_items = block_size * per_thread;
  static constexpr u32 resident_blocks = tuning::gpu::route_occupancy;
  static constexpr bool launches_early = true;

  route_of<Key, Value> all;
  Places places;

  struct layout {
    scratch_array<Key> keys{tile_items};
    scratch_array<Value> values{keys, WithValues ? tile_items : 0};
    scratch_array<u32> of_warps{values, warps* width};  // items, then positions in the scratch
    scratch_array<u32> starts{of_warps, width}, ends{starts, width}, places{ends, width};
  };
  static constexpr u64 scratch_bytes = layout().places.end();

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u64 first = block.index() * tile_items;
    const u32 warp = block.rank() / width, me = block.rank() % width;
    const tile_of_items tile{
        first, static_cast<u32>(all.size() - first < tile_items ? all.size() - first : tile_items),
        warp * (width * per_thread) + me};
    held items;
    take(items, tile);
    number_items(block, items, tile, warp);
    block.barrier();
    if (warp == 0) place_runs(block);
    block.barrier();
    sort(block, items, tile, warp);
    block.barrier();
    write_runs(block, warp, me);
  }

 private:
  struct tile_of_items {
    u64 first;
    u32 size, mine;  // this thread's first one
    TILEHASH_FN bool has(u32 k) const { return mine + k * width < size; }
    TILEHASH_FN u64 at(u32 k) const { return first + mine + k * width; }
  };
  struct held {
    Key keys[per_thread];
    Value values[WithValues ? per_thread : 1];
    u32 numbers[per_thread];  // of an item among its warp's of one owner; the owner above
  };
  static constexpr u32 owner_shift = 16;
  static_assert(per_thread * width < 1U << owner_shift);

  TILEHASH_FN void take(held& items, const tile_of_items& tile) const {
    TILEHASH_UNROLL
    for (u32 k = 0; k < per_thread; ++k) {
      if (tile.has(k)) items.keys[k] = Frequent ? all.key(tile.at(k)) : all.keys[tile.at(k)];
    }
    if constexpr (WithValues) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < per_thread; ++k) {
        if (tile.has(k)) items.values[k] = Frequent ? all.value(tile.at(k)) : all.values[tile.at(k)];
      }
    }
  }
  template <class Block>
  TILEHASH_FN void number_items(const Block& block, held& items, const tile_of_items& tile, u32 warp) const {
    const auto t = block.template tile<width>();
    const u32 me = t.rank(),
              bits = bit_width(tile.size == tile_items && !Frequent ? all.ranks - 1 : all.ranks);
    u32 next = 0;  // of rank `me`
    TILEHASH_UNROLL
    for (u32 k = 0; k < per_thread; ++k) {
      u32 owner = all.ranks;
      if (tile.has(k)) owner = Frequent ? all.owner(tile.at(k), items.keys[k]) : all.rank_of(items.keys[k]);
      const lanes_by_owner lanes(t, owner, bits);
      const u32 base = t.from_left(next, (me + width - owner % width) % width);
      items.numbers[k] = owner << owner_shift | (base + count_ones(lanes.same & ((1U << me) - 1)));
      next += count_ones(lanes.own);
    }
    layout().of_warps.in(block)[warp * width + me] = me < all.ranks ? next : 0;
  }
  // The first warp: lane r has the runs of rank r.
  template <class Block>
  TILEHASH_FN void place_runs(const Block& block) const {
    const auto t = block.template tile<width>();
    const u32 me = t.rank();
    const auto of_warps = layout().of_warps.in(block);
    u32 items = 0;
    for (u32 w = 0; w < warps; ++w) {
      const u32 its = of_warps[w * width + me];
      of_warps[w * width + me] = items;
      items += its;
    }
    const u32 start = block_sums<width>::up_to(t, items) - items;
    for (u32 w = 0; w < warps; ++w) of_warps[w * width + me] += start;
    if (me >= all.ranks) return;
    const u32 place = places.take(me, block.index(), items);
    layout().starts.in(block)[me] = start;
    layout().ends.in(block)[me] = start + places.fitting(me, place, items);
    layout().places.in(block)[me] = place;
  }
  template <class Block>
  TILEHASH_FN void sort(const Block& block, const held& items, const tile_of_items& tile, u32 warp) const {
    const auto of_warps = layout().of_warps.in(block), starts = layout().starts.in(block),
               at_places = layout().places.in(block);
    const auto keys = layout().keys.in(block);
    [[maybe_unused]] const auto values = layout().values.in(block);
    u32* const positions = places.positions();
    TILEHASH_UNROLL
    for (u32 k = 0; k < per_thread; ++k) {
      const u32 owner = items.numbers[k] >> owner_shift;
      if (owner == all.ranks) {
        if (Frequent && tile.has(k) && positions != nullptr)
          positions[tile.at(k)] = ~all.frequent(items.keys[k]);
        continue;
      }
      const u32 at = of_warps[warp * width + owner] + (items.numbers[k] & ((1U << owner_shift) - 1));
      keys[at] = items.keys[k];
      if constexpr (WithValues) values[at] = items.values[k];
      if (positions != nullptr) {
        const u32 start = starts[owner], place = at_places[owner];
        positions[tile.at(k)] = places.position(owner, place + at - start);
      }
    }
  }
  // A warp writes lines of 32 items; the first and the last one of a run may have fewer.
  template <class Block>
  TILEHASH_FN void write_runs(const Block& block, u32 warp, u32 me) const {
    const auto keys = layout().keys.in(block);
    [[maybe_unused]] const auto values = layout().values.in(block);
    u32 lines_before = 0;
    for (u32 r = 0; r < all.ranks; ++r) {
      const u32 start = layout().starts.in(block)[r], end = layout().ends.in(block)[r],
                place = layout().places.in(block)[r];
      Key* const to = places.keys(r) + place;
      [[maybe_unused]] Value* const values_to = WithValues ? places.values(r) + place : nullptr;
      const u32 shift = static_cast<u32>(reinterpret_cast<u64>(to) / sizeof(Key)) % width;
      const u32 lines = end == start ? 0 : (shift + end - start + width - 1) / width;
      for (u32 line = (warp + warps - lines_before % warps) % warps; line < lines; line += warps) {
        const u32 j = line * width + me - shift;  // below 0: large
        if (j >= end - start) continue;
        to[j] = keys[start + j];
        if constexpr (WithValues) values_to[j] = values[start + j];
      }
      lines_before += lines;
    }
  }
};

// The same on a CPU: a thread's items, a few at a time.
template <class Key, class Value>
struct push_by_threads {
  static constexpr u32 at_once = 256;
  route_of<Key, Value> all;
  window_places<Key, Value> places;

  void operator()(u64 first, u64 last) const {
    for (; first < last; first += at_once) push(first, last - first < at_once ? last : first + at_once);
  }

 private:
  void push(u64 first, u64 last) const {
    u32 owners[at_once], next[window_places<Key, Value>::most_ranks] = {};
    for (u64 i = first; i < last; ++i) {
      owners[i - first] = all.owner(i, all.key(i));
      if (owners[i - first] != all.ranks) ++next[owners[i - first]];
    }
    for (u32 r = 0; r < all.ranks; ++r) next[r] = places.take(r, 0, next[r]);
    for (u64 i = first; i < last; ++i) {
      const u32 owner = owners[i - first];
      if (owner == all.ranks) {
        if (places.answers_at != nullptr) places.answers_at[i] = ~all.frequent(all.key(i));
        continue;
      }
      const u32 at = next[owner]++;
      if (places.answers_at != nullptr) places.answers_at[i] = places.position(owner, at);
      if (at >= places.to[owner].capacity) continue;
      places.to[owner].keys[at] = all.key(i);
      if (places.to[owner].values != nullptr) places.to[owner].values[at] = all.value(i);
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
