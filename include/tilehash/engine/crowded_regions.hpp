// SPDX-License-Identifier: Apache-2.0
// Finds the regions of a resized table where some keys may have no slot. A count in a block's scratch clears
// nearly all regions; engine/region_resize.hpp builds the others as a trial.
//
// Each key is counted in one of its two buckets. If no bucket counts more keys than it has slots, each key
// has a slot. At first each bucket is the first one of some keys, and counts these up to its slots; their
// second buckets count the others. Then, in rounds, a bucket with too many keys passes some on to their other
// buckets, to those with a free slot first. If it still has too many, it passes keys on to full buckets, and
// these pass on others in the next round. To pass a key on, only the number of its other bucket is needed. A
// bucket records it for each key that it counted first, and for the last key that came in another way:
//
//   firsts   loads   others
//   | 5 |    | 5 |   |  - | 17 | 40 |  2 | 33 |  9 |  . |  . |  . |      first bucket of 5 keys, of 8 slots
//   | 9 |    | 9 |   | 71 |  6 | 12 | 55 | 80 |  3 | 29 | 64 | 18 |      of 9; one came from bucket 71
//                     last |<------ counted first --------------->|
//
// At load 0.8 a bucket of 8 slots is the first one of 6.4 keys, and 38 % of the buckets are full after the
// first count. The first bucket is full for 1 150 of a region's 17 200 keys; for 400 of these the second one
// is full, too. One in 0.38^-8 = 2 300 buckets with 9 keys has no key with a free slot elsewhere. Together
// with fuller buckets, 0.7 keys of a region remain after a round. Share of listed regions, by load after the
// resize:
//
//   slots, load   0 rounds   1 round   2 rounds   4 rounds   8 rounds
//   8, 0.40           31 %       0 %        0 %        0 %        0 %
//   8, 0.80          100 %      52 %        0 %        0 %        0 %
//   8, 0.90          100 %     100 %       79 %        0 %        0 %
//   8, 0.95          100 %     100 %      100 %       58 %        0 %
//   4, 0.40          100 %       0 %        0 %        0 %        0 %
//   4, 0.80          100 %     100 %       95 %        5 %        2 %
//   4, 0.90          100 %     100 %      100 %      100 %       63 %
//   16, 0.80         100 %       0 %        0 %        0 %        0 %
//
// (Measured in tables of 4 * 10^6 pairs of 32 + 32 bits, 2 * 10^6 of 64 + 64, and 8 * 10^6 keys of 32 bits.)
// A round costs a pass over the loads: three for each thread of a block.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Lists these regions. Counts crowded keys (their first bucket is full of others), and regions with more keys
// than slots. Regions: old_regions.
template <class Regions>
struct find_crowded {
  using design_type = decltype(Regions::after);
  using entry = typename Regions::entry;
  static constexpr u32 block_size = tuning::gpu::large_block;
  static constexpr u32 slots = design_type::bucket_slots, records = slots + 1;  // of a bucket
  static constexpr u32 most_rounds = 8;
  static constexpr u16 none = 0xffff;                 // no bucket of a region
  static constexpr u32 totals = 2 + most_rounds + 1;  // crowded keys, items, and excess before each round

  Regions regions;
  u64* sums;  // crowded keys; regions with more keys than slots; listed regions
  u32* list;  // as many words as there are regions
  u32 rounds = most_rounds;

  static constexpr u64 others_at(u64 buckets) { return (2 * buckets + totals) * sizeof(u32); }
  static constexpr u64 scratch_bytes(u64 buckets) {
    return others_at(buckets) + buckets * records * sizeof(u16);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), all = block.size(), buckets = regions.after.region_buckets();
    const u32 region = static_cast<u32>(block.index());
    const auto firsts = block.template scratch<u32>();
    const auto loads = firsts + buckets, crowded = loads + buckets, items = crowded + 1, too_many = items + 1;
    const auto others = block.template scratch<u16>(others_at(buckets));
    for (u32 i = me; i < 2 * buckets + totals; i += all) firsts[i] = 0;
    for (u32 b = me; b < buckets; b += all) others[b * records] = none;
    block.barrier();
    u32 mine = 0, without = 0;
    regions.at_region(region).for_each_item(me, all, [&](u32, const auto& e) {
      const auto first = regions.after.location_of(entry::hash_of(e));
      auto second = first;
      regions.after.turn(second);
      ++mine;
      if (const u32 before = fetch_add(firsts + first.bucket, u32(1)); before < slots) {
        others[first.bucket * records + 1 + before] = static_cast<u16>(second.bucket);
        return;
      }
      store_relaxed(others + second.bucket * records, static_cast<u16>(first.bucket));
      fetch_add(loads + second.bucket, u32(1));
      ++without;
    });
    if (without != 0) fetch_add(crowded, without);
    if (mine != 0) fetch_add(items, mine);
    block.barrier();
    const bool listed = crowded[0] != 0 && !all_placed(block, firsts, loads, others, too_many);
    if (me != 0) return;
    if (listed) list[fetch_add(sums + 2, u64(1))] = region;
    if (crowded[0] != 0) fetch_add(sums, static_cast<u64>(u32(crowded[0])));
    if (items[0] > regions.after.region_slots()) fetch_add(sums + 1, u64(1));
  }

 private:
  // Is each key counted in a bucket with a slot for it, after `rounds`? All threads return the same.
  template <class Block, class Counts, class Others>
  TILEHASH_FN bool all_placed(Block block, Counts firsts, Counts loads, Others others,
                              Counts too_many) const {
    const u32 me = block.rank(), all = block.size(), buckets = regions.after.region_buckets();
    for (u32 b = me; b < buckets; b += all) {
      const u32 its = firsts[b];
      firsts[b] = its < slots ? its : slots;
      loads[b] += its < slots ? its : slots;
    }
    for (u32 round = 0;; ++round) {
      u32 mine = 0;
      for (u32 b = me; b < buckets; b += all) {  // no thread changes loads in this loop
        const u32 its = loads[b];
        if (its > slots) mine += its - slots;
      }
      if (mine != 0) fetch_add(too_many + round, mine);
      block.barrier();
      if (too_many[round] == 0) return true;
      if (round == rounds) return false;
      for (u32 b = me; b < buckets; b += all) pass_on(loads, others, b, firsts[b]);
      block.barrier();
    }
  }

  // A bucket with too many keys passes some on: to free slots first, then to any bucket. Each key stays
  // counted in one of its buckets, whatever other threads do: only this thread consumes the bucket's records.
  // If another thread overwrites a record, that record's key stays in its bucket.
  template <class Counts, class Others>
  TILEHASH_FN static void pass_on(Counts loads, Others others, u32 bucket, u32 firsts) {
    using counted_bucket = scratch_bucket<u32, slots>;
    const auto own = others + bucket * records;
    for (u32 anywhere = 0; anywhere < 2; ++anywhere) {
      for (u32 i = firsts + 1; i-- > 0;) {  // the last key that came is last, or it might oscillate
        if (load_relaxed(loads + bucket) <= slots) return;
        const u16 to = load_relaxed(own + i);
        if (to == none || to == bucket) continue;
        if (anywhere != 0) {
          store_relaxed(others + to * records, static_cast<u16>(bucket));
          fetch_add(loads + to, u32(1));
        } else if (!counted_bucket::reserve(loads + to)) {
          continue;
        }
        store_relaxed(own + i, none);
        fetch_add(loads + bucket, ~u32(0));
      }
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
