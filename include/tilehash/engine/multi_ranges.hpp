// SPDX-License-Identifier: Apache-2.0
// The two kernels of a retrieval of few keys' values on a GPU. One looks up the keys and sums the numbers of
// their values for each block. The other turns these into offsets and copies the values. A general scan and a
// copy take eight calls of the driver more, each as long as a kernel.
//
//   counts     | 1 1 0 2 | 1 1 1 1 | ...       a block has 256 keys
//   sums       | 4       | 4       | ...
//   offsets    | 0 1 2 2 | 4 5 6 7 | ...       a block adds up the sums before its own
//
// If a block's keys have many values, the retrieval takes the general way, which copies evenly.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/engine/multi_view.hpp>
#include <tilehash/kernel/lookup_lanes.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Where the values of each key begin, and how many they all are.
template <class Offset, class Space>
struct found_ranges {
  buffer<Offset, Space> begins;
  u64 total = 0;
  bool copied = false;  // the values too
};

template <u32 Threads>
struct few_ranges {
  using sums = block_sums<Threads>;
  static constexpr u32 most_each = 8 * Threads;                 // values of a block's keys that it copies
  static constexpr u32 most_blocks = 1024;                      // which each read all sums
  static constexpr u32 too_many = most_blocks * most_each + 1;  // the sum of a block with more

  // Sums a number of each thread for the block.
  template <class Block>
  TILEHASH_FN static void write_sum(Block block, u64 number, u32* sums_of_blocks) {
    u32 all = 0;
    sums::before(block, block.template scratch<u32>(),
                 number < most_each ? static_cast<u32>(number) : most_each + 1, all);
    if (block.rank() == 0) sums_of_blocks[block.index()] = all <= most_each ? all : too_many;
  }
};

// Looks up keys as look_up() does, and sums the numbers of each block's values.
template <class View, u32 Threads>
struct look_up_few {
  using design = typename View::design_type;
  using Key = typename View::key_type;
  using ids = typename design::ids_design;
  using sink_type = range_sink<typename View::mapped_type, typename design::offset>;
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 resident_blocks =
      look_up_lanes<ids, const Key*, sink_type, ids::preferred_width>::resident_blocks;
  static constexpr u64 scratch_bytes = sums::words * sizeof(u32);

  View view;
  const Key* keys;
  u64 n;
  sink_type sink;
  u32* sums_of_blocks;

  struct counting_sink {
    sink_type to;
    u64* number;
    template <class Hit>
    TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
      to(i, hit);
      *number = hit.number;
    }
  };

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    using passing = through_starts<View, counting_sink>;
    u64 count = 0;
    look_up_lanes<ids, const Key*, passing, ids::preferred_width>{
        view.ids.design, view.ids.sentinels, keys, n, {view, {sink, &count}}}(block.lane());
    few_ranges<Threads>::write_sum(block, count, sums_of_blocks);
  }
};

// The second half of look_up_few, where keys are stored in records.
template <u32 Threads>
struct sum_few_counts {
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u64 scratch_bytes = sums::words * sizeof(u32);
  const u64* counts;
  u64 n;
  u32* sums_of_blocks;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u64 i = block.index() * Threads + block.rank();
    few_ranges<Threads>::write_sum(block, i < n ? counts[i] : 0, sums_of_blocks);
  }
};

// Leaves the counts as they are if a block has too many values, and copies none if they do not all fit.
template <class Value, class Offset, u32 Threads>
struct copy_few_values {
  using sums = block_sums<Threads>;
  using few = few_ranges<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u64 scratch_bytes = (Threads + 2 * sums::words) * sizeof(u32);
  u64* offsets;  // the counts at first
  u64 n;
  const u32* sums_of_blocks;
  u32* total;  // or too_many; in host memory, if there is some that kernels write to
  const Offset* begins;
  const Value* from;
  Value* to;
  u64 capacity;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto ends = block.template scratch<u32>();
    const u32 me = block.rank(), blocks = static_cast<u32>(block.count()),
              my_block = static_cast<u32>(block.index());
    u32 before = 0, after = 0;
    for (u32 b = me; b < blocks; b += Threads) {
      const u32 sum = sums_of_blocks[b];
      before += b < my_block ? sum : 0;
      after += b < my_block ? 0 : sum;
    }
    u32 base = 0, rest = 0, all = 0;
    sums::before(block, ends + Threads, before, base);
    sums::before(block, ends + Threads + sums::words, after, rest);
    const bool fits = base < few::too_many && rest < few::too_many;
    if (me == 0 && my_block == 0) total[0] = fits ? base + rest : few::too_many;
    if (!fits) return;  // in all blocks alike
    const u64 i = block.index() * Threads + me;
    const u32 count = i < n ? static_cast<u32>(offsets[i]) : 0;
    block.barrier();
    const u32 start = sums::before(block, ends + Threads, count, all);
    ends[me] = start + count;
    if (i <= n) offsets[i] = base + start;
    if (me == Threads - 1 && i + 1 == n) offsets[n] = base + all;
    block.barrier();
    if (base + rest > capacity) return;
    for (u32 at = me; at < all; at += Threads) {
      u32 low = 0, high = Threads - 1;  // the first key that ends behind `at`
      while (low < high) {
        const u32 middle = (low + high) / 2;
        if (u32(ends[middle]) <= at)
          low = middle + 1;
        else
          high = middle;
      }
      const u32 its_start = low == 0 ? 0 : u32(ends[low - 1]);
      to[base + at] = from[begins[block.index() * Threads + low] + (at - its_start)];
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
