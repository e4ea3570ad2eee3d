// SPDX-License-Identifier: Apache-2.0
// The bulk build of `tiled`: partition the items by region, then build each region in block-local memory.
//
//   items --partition--> | bin 0 | bin 1 | ... one for each region
//                           | ^     | ^
//                         block 0  block 1 ... each reads its bin, builds the region in its scratch and
//                                              writes it to the table
//
// A random write to memory costs a whole line read and written back; partitioned items are written in runs
// that the cache gathers, and the table is written once, in order. So a build runs at several times the rate
// of single inserts. On a GPU the scratch is shared memory. On a CPU a block is one thread, and its scratch
// is in the cache.
//
// An empty table's region is its own bin. It has a slot for each of its items, so the build needs next to no
// memory in addition to the table. Many new items are merged into a table that holds items in the same way.
// The bins have memory of their own, and a block begins with what its region holds. (Few: merge.hpp.)
//
// Items that do not fit their bin (many equal keys), or find no slot in their region, go to `left`, and the
// caller inserts them one by one. If even `left` overflows, the caller inserts all items one by one.
//
// The steps of a block, with a barrier between them (build_block.hpp; build_buckets.hpp has what they do to a
// bucket):
//   0  load                    clear the scratch, or fetch what the region holds and close the gaps in its
//                              buckets
//   1  place_in_first_buckets  count every item into its first bucket; the first to come take its slots, the
//                              others go on a list
//   2  drop_equal_keys         within each bucket
//   3  place_listed            listed items go to a free slot of their first or second bucket, or are dropped
//                              if their key is present
//   4  displace                an item that is still unplaced takes the slot of a key whose other bucket has
//                              a free one, or of any key that is displaced in turn
//   5  drop_equal_displaced    what step 4 placed twice
//   6  write_back              with the overflow filter's bits
//
// If the first of equal keys is kept (bins in order, algorithm/ordered_bins.hpp), the earlier of two equal
// keys that meet stays. An item is dropped only if one of its buckets has another item of its key, so the
// first of the items that were not left over stays. A full list leaves no item over: then step 3 runs for all
// items of the bin. The values come from the bin before step 6 (take_values).
//
// A table of one region skips the partition: the source is the bin, and some of its elements may be no items.
//
// If a table gets more or fewer regions (engine/region_resize.hpp), a block's items are stored in the old
// regions of the table, among free slots and keys of other blocks. No two keys are equal, so it skips steps 2
// and 5. A trial skips step 6, and its regions are those of a list.
//
// If values are assigned, the values of present keys are replaced in the scratch after step 0, while no key
// moves. Gaps are closed, and the next steps run, only if a block has new keys.
//
// A key that was present before a merge moves only where a slot is promised to it. So an item that finds no
// slot is always a new one, and no key leaves the table.
#pragma once

#include <tilehash/algorithm/ordered_bins.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/designs/tiled/build_block.hpp>
#include <tilehash/designs/tiled/build_few.hpp>
#include <tilehash/designs/tiled/scratch_slot.hpp>
#include <tilehash/space/tuning.hpp>

#include <bit>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Bins = even_bins<typename Design::word>, bool Assigns = false>
struct tiled_build {
  using slot_type = typename Design::slot_type;
  using table_word = typename slot_type::word;
  static constexpr bool keeps_first = in_order<Bins>, assigns = Assigns;
  using entries = std::conditional_t<keeps_first, ordered_item<slot_type>, routed_item<slot_type>>;
  template <class Items>
  using scratch_slot_of = tiled_scratch_slot<Design, Items, entries>;
  using scratch_slot = scratch_slot_of<table_word*>;
  using word = typename scratch_slot::word;
  using stored_key = typename scratch_slot::stored_key;
  using entry = routed_item<slot_type>;
  using location = typename Design::location;
  using design_type = Design;
  using layout = tiled_build_layout<scratch_slot>;
  static constexpr u32 block_size = tuning::gpu::large_block;
  static constexpr u32 slots = Design::bucket_slots;
  static constexpr bool takes_items = true;  // as bins
  static constexpr bool combines = false;    // the values of equal keys (combine.hpp)
  static constexpr bool moves_regions = requires { Bins::are_regions; };
  static constexpr bool walks_bins = moves_regions || requires { Bins::are_items; };  // some are no items
  static constexpr bool for_trial = requires { requires Bins::is_trial; };            // writes no region
  static constexpr u64 most_slots = scratch_slot::is_exact ? ~u32(0) : 1U << 14;      // of a region
  static constexpr bool builds_few = scratch_slot::is_exact && !keeps_first && !assigns && !moves_regions &&
                                     !for_trial && sizeof(table_word) >= 4 && sizeof(table_word) <= 8 &&
                                     sizeof(typename slot_type::key_bits) >= 4;  // (build_few.hpp)

  Design design;
  Bins bins;         // of the regions that are built
  u32 first_region;  // of these
  bool merges;       // the table holds items
  spill_list<table_word> spill;
  u64* inserted;

  static constexpr u64 scratch_bytes(u64 buckets) {
    return tiled_build_layout<scratch_slot, u64>(buckets).bytes();
  }

  // The number of entries that the scratch can hold, for words of 16 bytes.
  TILEHASH_FN static constexpr u32 most_numbers(u32 buckets) {
    return scratch_slot::is_exact ? ~u32(0) : buckets * slots;
  }

  // Builds an empty region, if it gets at most half as many items as `cells` and all their keys differ. Returns false,
  // and changes nothing, if not; else `placed` is the number of the items.
  template <class Block>
  TILEHASH_FN bool build_few(Block block, u32 cells, u32& placed) const
    requires builds_few
  {
    const u32 nth = static_cast<u32>(block.index());
    const auto& bin = bins.at(nth);
    placed = bins.size(nth);
    if (2 * placed > cells) return false;
    return tiled_few<tiled_build>::run(*this, block, region_of(nth), cells, placed, [&](u32 i, word& e) {
      if constexpr (requires { bin.get(i, e); })
        return bin.get(i, e);
      else
        return e = bin[i], true;
    });
  }
  // The cells for so many items of a region, on average.
  static u32 few_cells(u64 items) { return static_cast<u32>(std::bit_ceil(2 * items + 512)); }
  static constexpr u64 few_scratch_bytes(u64 buckets, u64 cells) {
    return tiled_few<tiled_build>::scratch_bytes(buckets, cells);
  }

  // The region of the nth bin.
  TILEHASH_FN u32 region_of(u32 nth) const {
    if constexpr (for_trial)
      return bins.number_of(nth);
    else
      return first_region + nth;
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    tiled_build_block<tiled_build, Block> region(*this, block);
    region.load();
    block.barrier();
    if constexpr (assigns) {
      region.assign_present();
      block.barrier();
      if (!region.has_new_items()) return region.write_back();
      region.close_up();
      block.barrier();
    }
    region.place_in_first_buckets();
    block.barrier();
    if constexpr (!moves_regions) {
      region.drop_equal_keys();
      block.barrier();
    }
    region.place_listed();
    block.barrier();
    region.displace();
    block.barrier();
    if constexpr (!moves_regions) {
      region.drop_equal_displaced();
      block.barrier();
    }
    if constexpr (keeps_first && scratch_slot::is_exact) {
      region.take_values();
      block.barrier();
    }
    if constexpr (!for_trial) region.write_back();
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
