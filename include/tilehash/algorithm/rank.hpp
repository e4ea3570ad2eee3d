// SPDX-License-Identifier: Apache-2.0
// Numbers items within their groups, which are known, and moves them there.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/prefetch.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// ranks[i] becomes item i's number among those of its group, ids[i], and counts[id] how many the group has.
//
// A key that repeats a million times must not queue a million atomic operations at one word. So the items of
// a block's share are first numbered in its scratch, at a cell that the id selects. The first item takes the
// cell for its group, and one operation adds all items of the cell to the group's count. An item whose cell
// another group has taken adds itself alone.
template <class Offset, u32 Threads, u32 PerThread>
struct rank_in_groups {
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = Threads * PerThread;
  static constexpr u32 cells = share, none = ~0U;  // none: items of no group, which get no rank
  static constexpr u64 scratch_bytes = cells * (sizeof(Offset) + sizeof(u32));

  const u32* ids;
  u64 n;
  Offset *counts, *ranks;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    using detail::compare_and_swap;
    using detail::fetch_add;
    const auto cell_counts = block.template scratch<Offset>();  // the count; then the rank of the first
    const auto taken_by = block.template scratch<u32>(cells * sizeof(Offset));
    const u32 me = block.rank();
    const u64 first = block.index() * share + me;
    u32 my_ids[PerThread], holder[(PerThread + 31) / 32];  // bit k: the k-th item has a cell
    Offset my_ranks[PerThread];
    for (u32& bits : holder) bits = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u64 i = first + static_cast<u64>(k) * Threads;
      my_ids[k] = i < n ? ids[i] : none;
      if (my_ids[k] != none) prefetch_to_write(counts + my_ids[k]);
    }
    for (u32 s = me; s < cells; s += Threads) {
      cell_counts[s] = Offset(0);
      taken_by[s] = none;
    }
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      if (my_ids[k] == none) continue;
      const u32 cell = my_ids[k] % cells, by = compare_and_swap(taken_by + cell, none, my_ids[k]);
      if (by == none || by == my_ids[k]) {
        my_ranks[k] = fetch_add(cell_counts + cell, Offset(1));
        holder[k / 32] |= 1U << k % 32;
      } else {
        my_ranks[k] = fetch_add(counts + my_ids[k], Offset(1));
      }
    }
    block.barrier();
    for (u32 s = me; s < cells; s += Threads) {
      const Offset many = cell_counts[s];
      const u32 id = taken_by[s];
      if (many != 0) cell_counts[s] = fetch_add(counts + id, many);
    }
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      if (my_ids[k] == none) continue;
      Offset rank = my_ranks[k];
      if ((holder[k / 32] >> k % 32 & 1) != 0) rank += Offset(cell_counts[my_ids[k] % cells]);
      ranks[first + static_cast<u64>(k) * Threads] = rank;
    }
  }
};

template <class Space, class Offset>
void rank(Space& space, const u32* ids, u64 n, Offset* counts, Offset* ranks) {
  using machine = tuning::of<Space>;
  using work = rank_in_groups<Offset, machine::rank_block, machine::rank_items>;
  space.for_each_block((n + work::share - 1) / work::share, work::block_size, work::scratch_bytes,
                       work{ids, n, counts, ranks});
}

// to[starts[ids[i]] + ranks[i]] = from[i], for items that have a group.
template <class Value, class Offset>
struct scatter_to_groups {
  const u32* ids;
  u32 none;
  const Offset *ranks, *starts;
  const Value* from;
  Value* to;
  u64 n;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    if (i < n && ids[i] != none) to[starts[ids[i]] + ranks[i]] = from[i];
  }
  void operator()(u64 first, u64 last) const {
    constexpr u64 ahead = tuning::cpu::scattered_ahead;
    u64 positions[ahead];
    for (; first < last; first += ahead) {
      const u64 size = last - first < ahead ? last - first : ahead;
      for (u64 k = 0; k < size; ++k) {
        if (ids[first + k] != none) prefetch(starts + ids[first + k]);
      }
      for (u64 k = 0; k < size; ++k) {
        if (ids[first + k] == none) continue;
        positions[k] = static_cast<u64>(starts[ids[first + k]]) + ranks[first + k];
        prefetch_to_write(to + positions[k]);
      }
      for (u64 k = 0; k < size; ++k) {
        if (ids[first + k] != none) to[positions[k]] = from[first + k];
      }
    }
  }
};

template <class Space, class Value, class Offset>
void scatter(Space& space, const scatter_to_groups<Value, Offset>& work) {
  if constexpr (Space::has_lanes)
    space.for_each_lane(work.n, work);
  else
    space.for_each_share(work.n, work);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
