// SPDX-License-Identifier: Apache-2.0
// Bounds of inserts into nearly full tables: bare kernels that do the accesses of such an insert, on random keys,
// and compare nothing. A table whose keys have two buckets of 64 bytes does them in one of three ways.
//
//   one by one   a thread a key: it reads the first bucket and, if that is full, the second; and swaps a word. For an
//                item without a slot it reads the other buckets of stored keys until one has a free slot, and swaps a
//                word there, too. A key that goes to its second bucket may set a bit in its first
//   in order     the items are copied into the order of the table first. The buckets that an item reads are in one
//                region, which is read and changed at about the same time
//   by regions   the items are copied; all of the table is read, and a word is swapped for each item, each key that
//                has to move and each new bit
//
// These bound the three ways alone. In order, the items of a region come in any order: if a list has their buckets sorted
// by address, the accesses take a fourth less (docs/measured/goals.md). An insert reads the buckets of its key. A key
// whose buckets are full needs another key's slot, and that key another one. Items come to their regions in runs: a block
// sorts as many as fit its memory, so a run has 4 to 8 items. The copy has such runs, but neither counts nor sorts.
//
// The shares of items are those of such a table, filled one key after the other on a CPU.
#include <algorithm>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>

#include "goal.hpp"
#include "measure.hpp"

namespace tilehash::bench {
namespace {

using word = unsigned long long;
constexpr u32 bucket_words = 8;       // of 8 bytes
constexpr u64 region_buckets = 2688;  // of a table in order

struct tail_shares {
  u64 slots;  // of a bucket
  double load;
  double first_full;       // of the last 1/16 of the items
  double new_bit;          // of these, in their first bucket
  double both_full;        // of the last 1/16
  double looks_for_a_key;  // buckets that an item reads until it finds a free slot for a stored key
};
constexpr tail_shares all_shares[] = {
    {8, 0.8, 0.365, 0.224, 0.133, 1.93},
    {8, 0.9, 0.576, 0.233, 0.334, 3.38},
    {8, 0.95, 0.711, 0.195, 0.509, 5.50},
    {4, 0.8, 0.515, 0.243, 0.266, 2.72},
};
u32 scaled_to_32_bits(double share) { return static_cast<u32>(share * 4294967295.0); }

template <bool Wide>  // words of 16 bytes
struct insert_alone {
  word* memory;
  u64 region_items, buckets;  // of a region
  u64 seed;
  u32 first_full, new_bit, both_full, looks_on;  // of 2^32

  __device__ word read(u64 bucket) const {
    const auto* line = reinterpret_cast<const ulonglong2*>(memory + bucket_words * bucket);
    word seen = 0;
#pragma unroll
    for (u32 k = 0; k < bucket_words / 2; ++k) seen ^= line[k].x ^ line[k].y;
    return seen;
  }
  __device__ void swap(u64 bucket, word seen) const {
    word* const at = memory + bucket_words * bucket;
    if constexpr (Wide)
      detail::compare_and_swap(reinterpret_cast<u128*>(at) + seen % 4, u128(0), u128(seen + 1));
    else
      atomicCAS(at + seen % 8, word(0), seen + 1);
  }
  __device__ void operator()(u64 i) const {
    const u64 home = i / region_items * buckets;
    const auto place_of = [&](u64 h) { return home + fast_range(h, buckets); };
    const u64 hash = mix64(seed + i), other_hash = mix64(hash + 1), dice = mix64(hash + 2);
    const u64 first = place_of(hash);
    const word seen = read(first);
    const u32 die = static_cast<u32>(dice);
    if (die >= first_full) return swap(first, seen + i);
    const u64 second = place_of(other_hash + seen % 2);
    const word seen_there = read(second);
    if (static_cast<u32>(dice >> 32) < new_bit)
      atomicOr(memory + bucket_words * first + i % 8, word(1) << 40);
    if (die >= both_full) return swap(second, seen_there + i);
    u64 at = mix64(other_hash + seen_there % 2);
    word last = read(place_of(at));
    for (u32 looks = 1; looks < 64 && static_cast<u32>(mix64(at)) < looks_on; ++looks) {
      at = mix64(at + last % 2);
      last = read(place_of(at));
    }
    swap(place_of(at), last + i);
    swap(first, seen + i);
  }
};

// Copies the items in shares. Each share's items go to the bins of all regions, as many to each.
template <u32 Words>
struct copy_in_runs {
  static constexpr u32 share = 24576 / Words;  // they fill the memory of a block, with two numbers a region
  struct alignas(Words * sizeof(word)) item {
    word words[Words];
  };
  const word* from;
  word* to;
  u32 regions, shares;

  __device__ u32 first_of(u32 region) const { return (region * share + regions - 1) / regions; }
  __device__ void operator()(u64 i) const {
    const u32 number = static_cast<u32>(i / share), j = static_cast<u32>(i % share);
    const u32 region = static_cast<u32>(static_cast<u64>(j) * regions / share);
    const u32 first = first_of(region), run = first_of(region + 1) - first;
    const u64 at = static_cast<u64>(first) * shares + number * run + (j - first);
    reinterpret_cast<item*>(to)[at] = reinterpret_cast<const item*>(from)[i];
  }
};
// Each thread reads a part of a bucket. Some swap a word of theirs: one for each item, and one for some.
struct change_regions {
  word* memory;
  word* items;
  u64 parts_an_item;
  u32 moves;  // further words for an item, of 2^32
  __device__ void operator()(u64 i) const {
    const ulonglong2 seen = reinterpret_cast<const ulonglong2*>(memory)[i];
    const u64 part = i % parts_an_item;
    if (part == 0 || (part == 1 && static_cast<u32>(mix64(i)) < moves))
      atomicXor(memory + 2 * i + seen.x % 2, items[i / parts_an_item] + seen.y);
  }
};
// A block reads a region and then swaps words of it.
struct change_by_blocks {
  static constexpr u32 block_size = 640, resident_blocks = 3, most = 4;
  word* memory;
  const word* items;
  u32 region_items, moves;  // further words for an item, of 2^32

  __device__ void operator()(detail::cuda_block block) const {
    constexpr u32 parts = static_cast<u32>(region_buckets) * bucket_words / 2;
    const u32 me = block.rank();
    word* const home = memory + block.index() * region_buckets * bucket_words;
    word mine[most] = {};
    for (u32 k = 0; k < most; ++k) {
      if (k * block_size + me < region_items)
        mine[k] = items[block.index() * region_items + k * block_size + me];
    }
    word seen = 0;
    for (u32 i = me; i < parts; i += 4 * block_size) {
      ulonglong2 part[4] = {};
#pragma unroll
      for (u32 k = 0; k < 4; ++k) {
        if (i + k * block_size < parts)
          part[k] = reinterpret_cast<const ulonglong2*>(home)[i + k * block_size];
      }
#pragma unroll
      for (u32 k = 0; k < 4; ++k) seen ^= part[k].x ^ part[k].y;
    }
    block.barrier();
    for (u32 k = 0; k < most; ++k) {
      const u32 i = k * block_size + me;
      if (i >= region_items) break;
      const u64 h = mix64(block.index() * region_items + i), other = mix64(h + 1);
      atomicXor(home + fast_range(h, region_buckets * bucket_words), mine[k] + seen);
      if (static_cast<u32>(other) < moves)
        atomicXor(home + fast_range(mix64(other), region_buckets * bucket_words), mine[k] + seen);
    }
  }
};

template <bool Wide>
tail_bounds bounds_of(cuda& space, const tail_shares& its, u64 slots, u64 items) {
  const u64 buckets = slots / its.slots;
  const buffer<word, cuda> memory(space, buckets * bucket_words);
  const auto seconds_of = [&](const auto& run) {
    return measure(
               space, 5, [&] { space.fill(memory.data(), memory.size(), word(0)); },
               [&] {
                 run();
                 space.synchronize();
               })
        .median;
  };
  insert_alone<Wide> insert{memory.data(),
                            items,
                            buckets,
                            items << 32,
                            scaled_to_32_bits(its.first_full),
                            scaled_to_32_bits(its.new_bit / its.first_full),
                            scaled_to_32_bits(its.both_full),
                            scaled_to_32_bits(1 - 1 / its.looks_for_a_key)};
  constexpr u32 words = Wide ? 2 : 1;
  using copy_type = copy_in_runs<words>;
  const u64 parts = memory.size() / 2, regions = buckets / region_buckets;
  const u64 shares = detail::divide_up(items, u64(copy_type::share));
  const buffer<word, cuda> from(space, items * words), to(space, shares * copy_type::share * words);
  space.fill(from.data(), from.size(), word(0));
  space.fill(to.data(), to.size(), word(0));
  const copy_type copy{from.data(), to.data(), static_cast<u32>(regions), static_cast<u32>(shares)};
  tail_bounds bounds;
  bounds.one_by_one = seconds_of([&] { space.for_each(items, insert); });
  insert.region_items = items / regions + 1;
  insert.buckets = region_buckets;
  bounds.in_order = seconds_of([&] {
    space.for_each(items, copy);
    space.for_each(items, insert);
  });
  const u32 moves = scaled_to_32_bits(its.new_bit + its.both_full);
  const change_regions in_parts{memory.data(), to.data(), parts / items + 1, moves};
  const double part_by_part = seconds_of([&] {
    space.for_each(items, copy);
    space.for_each(parts, in_parts);
  });
  const change_by_blocks change{memory.data(), to.data(), static_cast<u32>(items / regions), moves};
  const double block_by_block = seconds_of([&] {
    space.for_each(items, copy);
    space.for_each_block(regions, change_by_blocks::block_size, 0, change);
  });
  bounds.by_regions = std::min(part_by_part, block_by_block);
  return bounds;
}

}  // namespace

tail_bounds measure_tail_bounds(u64 n, double load, unsigned bits) {
  cuda space;
  for (const tail_shares& its : all_shares) {
    if (its.load != load || its.slots != 512 / (2 * bits)) continue;
    const u64 slots = static_cast<u64>(static_cast<double>(n) / load);
    return bits == 64 ? bounds_of<true>(space, its, slots, n / 16)
                      : bounds_of<false>(space, its, slots, n / 16);
  }
  return {};
}

}  // namespace tilehash::bench
