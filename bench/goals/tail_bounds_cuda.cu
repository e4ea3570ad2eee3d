// SPDX-License-Identifier: Apache-2.0
// Bounds of inserts into nearly full tables: bare kernels that do the accesses of such an insert, on random keys,
// and compare nothing. A table whose keys have two buckets of 64 bytes does them in one of three ways.
//
//   one by one   a thread a key: it reads the first bucket and, if that is full, the second; and swaps a word. For an
//                item without a slot it reads the other buckets of stored keys until one has a free slot, and swaps a
//                word there, too. A key that goes to its second bucket may set a bit in its first
//   in order     the items are copied into the order of the table first. The buckets that an item reads are in one
//                region, which is read and changed at about the same time
//   by regions   the items are copied; all of the table is read, and a word is swapped for each item
//
// The shares of items are those of such a table, filled one key after the other on a CPU.
#include <tilehash/core/atomic.hpp>
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

struct copy_item {
  const word* from;
  word* to;
  u32 words;
  __device__ void operator()(u64 i) const {
    for (u32 k = 0; k < words; ++k) to[i * words + k] = from[i * words + k];
  }
};
// Each thread reads a part of a bucket; the first of as many as there are items also swaps a word of theirs.
struct change_regions {
  word* memory;
  word* items;
  u64 parts_an_item;
  __device__ void operator()(u64 i) const {
    const ulonglong2 seen = reinterpret_cast<const ulonglong2*>(memory)[i];
    if (i % parts_an_item == 0) atomicXor(memory + 2 * i + seen.x % 2, items[i / parts_an_item] + seen.y);
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
  const u32 words = Wide ? 2 : 1;
  const u64 parts = memory.size() / 2;
  const buffer<word, cuda> from(space, items * words), to(space, items * words);
  space.fill(from.data(), from.size(), word(0));
  const copy_item copy{from.data(), to.data(), words};
  tail_bounds bounds;
  bounds.one_by_one = seconds_of([&] { space.for_each(items, insert); });
  insert.region_items = items / (buckets / region_buckets) + 1;
  insert.buckets = region_buckets;
  bounds.in_order = seconds_of([&] {
    space.for_each(items, copy);
    space.for_each(items, insert);
  });
  bounds.by_regions = seconds_of([&] {
    space.for_each(items, copy);
    space.for_each(parts, change_regions{memory.data(), to.data(), parts / items + 1});
  });
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
