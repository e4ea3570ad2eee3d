// SPDX-License-Identifier: Apache-2.0
// The bulk build of Horton tables, region by region in block-local memory (engine/region_fill.hpp). All eight
// buckets of a key are in its region, so a block can finish it alone.
//
// The steps of a block, with a barrier between them (build_block.hpp; build_buckets.hpp has what they do to a
// bucket):
//   0  load                      clears the scratch or, in a merge, fetches the region
//      take_out_secondary_items  in a merge: primary items close up, secondary ones are unplaced
//   1  place_in_primary_buckets  counts every new item into its primary bucket; the first to come take its
//                                slots, the others are unplaced
//   2  drop_equal_keys           within each bucket, which is then closed up
//   3  place_unplaced            drops an unplaced item whose key is in its primary bucket, or puts it into
//                                a free slot of it
//   4  evict_last_slots          buckets whose items are still unplaced become type B: the item in the last
//                                slot is evicted
//   5  remap_...                 old unplaced and evicted items, and then the new ones: by the function in
//                                their remap entry, or by that to the emptiest of seven buckets, which the
//                                first of them writes into the entry
//   6  swap_...                  for each that finds no free slot there, a primary item moves instead that
//                                has a remap entry of its own and a free slot where it leads
//   7  write_back                drops equal keys within each bucket again, which took the same way in
//                                step 5, and writes the region to the table
//
// From step 2 on a bucket's items are in its lowest slots, as many as its count says. Each thread that counts
// an item into a bucket has a slot of its own there.
//
// A region that new items are merged into equals one that is built from all of them. Items that find no slot
// (no item moves twice), and items beyond the capacity for unplaced ones, go to `left`, and the caller
// inserts them one by one. Items that were in the table may not go there. Where there are too many unplaced
// items, or an old one finds no slot, the region stays unchanged, and all its new items go to `left`.
//
// Among equal keys the old item's value stays. A secondary item that finds its key in its primary bucket puts
// its value there. Old items take slots of a secondary bucket before new ones, and the lowest slot is kept.
//
// Shared memory has no compare-and-swap of 16 bytes: tables with such words are not built by regions.
#pragma once

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/designs/horton/build_block.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The largest region, in buckets, that a block's scratch can build. Fewer regions give the partition longer
// runs.
constexpr u64 horton_region(u64 slots, u64 word_bytes) {
  const u64 unplaced = word_bytes + 2 * sizeof(u16);  // as horton_build_layout
  return (tuning::table::block_scratch - 32 * unplaced) /
         (slots * word_bytes + sizeof(u32) + (slots * 3 * unplaced + 15) / 16);
}

template <class Design, class Bins = even_bins<typename Design::word>>
struct horton_build {
  using design_type = Design;
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using entry = routed_item<slot_type>;
  static constexpr u32 block_size = tuning::gpu::large_block;
  static constexpr u32 slots = Design::bucket_slots, last_slot = Design::last_slot;
  static constexpr u32 together = slots * sizeof(word) < 16 ? 1 : 16 / sizeof(word);  // written at once
  static constexpr u64 most_slots = u64(1) << 16;  // of a region, as slot numbers have 16 bits
  using layout = horton_build_layout<Design>;

  Design design;
  Bins bins;         // of the regions that are built
  u32 first_region;  // of these
  bool merges;       // the table holds items
  spill_list<word> spill;
  u64* inserted;

  static constexpr u64 scratch_bytes(u64 buckets) {
    return horton_build_layout<Design, u64>(buckets).bytes();
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    horton_build_block<horton_build, Block> region(*this, block);
    region.load();
    block.barrier();
    if (merges) region.take_out_secondary_items();
    region.place_in_primary_buckets();
    block.barrier();
    region.drop_equal_keys();
    block.barrier();
    region.place_unplaced();
    block.barrier();
    region.evict_last_slots();
    block.barrier();
    region.remap_evicted();
    if (merges) {
      region.remap_old();
      block.barrier();
      region.swap_old();
      block.barrier();
      if (region.stays()) return region.spill_bin();
      region.remap_new();
      block.barrier();
      region.swap_new();
    } else {
      region.remap_unplaced();
      block.barrier();
      region.swap_old();
    }
    block.barrier();
    region.write_back();
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
