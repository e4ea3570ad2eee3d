// SPDX-License-Identifier: Apache-2.0
// Merges items into `tiled` in place, if they are few compared with those of its regions.
//
//   items --partition--> | bin 0 | bin 1 | ... one for each region
//                           |       |
//                         block 0  block 1 ... each reads its region once, keeps its stored keys in scratch,
//                                              finds its items' slots there, and changes those slots of the
//                                              table
//
// designs/tiled/build.hpp fetches a region whole, builds it and writes it back, which suits changes of most
// slots. A merge writes only the lines that change, and leaves values in the table. Its scratch has half of
// the region's bytes or less, so two blocks share a multiprocessor, and one fetches while the other works. It
// also takes words of 16 bytes. A single insert reads a random line for each item and, if the first bucket is
// full, writes one more for the filter; a merge looks up both in the scratch.
//
// The steps of a block, with a barrier between them; 2 to 4 repeat if a bin has more items than the block's
// registers hold:
//   1  clear, load      the region's stored keys, its filters, and the number of taken slots of each bucket
//   2  place            drops an item whose key is present, or puts it into its first bucket or, if that is full,
//                       its second
//   3  displace         those that found no slot in either: a key of either bucket moves to its other bucket, or a
//                       third one makes a slot there for it
//   4  drop_equal_keys  that step 3 placed twice
//
// Few of a warp's items have no slot, and each could move up to 16 keys. So in step 3 the lanes of a tile look at
// these keys for one item after the other, one key a lane; then all items move keys at once.
//
// If the items' values replace those of present keys (Assigns), these keys are found before step 2, in a step
// of its own: no key moves then, and no slot of the table is half written.
//
// In step 2 a taken slot stays taken, so two items of one key try the same free slots in the same order, and one
// finds the other (invariant 3 of designs/tiled.hpp). In step 3 a key moves at most once, and only to a promised
// slot. A compare-and-swap in the scratch decides which item changes a slot of the table; no other item changes
// it afterwards. The filter's bits in that slot's word belong to the bucket: so a slot changes by an exclusive
// or, and the bits by an or.
//
// Items that find no slot go to `spill`, and the caller inserts them one by one.
#pragma once

#include <type_traits>
#include <utility>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/tiled/merge_region.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Bins = even_bins<typename Design::word>, bool Assigns = false>
struct tiled_merge {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using value_bits = typename slot_type::value_bits;
  using entry = routed_item<slot_type>;
  using location = typename Design::location;
  static constexpr u32 block_size = tuning::gpu::merge_block(sizeof(word));
  static constexpr u32 resident_blocks = tuning::gpu_here::merge_occupancy;
  static constexpr u32 at_once = tuning::here::merged_at_once;  // items of each thread at a time
  static constexpr u32 slots = Design::bucket_slots;
  static constexpr u32 together = 16 / sizeof(word);  // words of one bucket that are read at once

  Design design;
  Bins bins;         // of the regions that get items
  u32 first_region;  // the first of these
  spill_list<word> spill;
  u64* inserted;

  template <class Offset = u32>
  struct layout {
    scratch_array<stored_key, Offset> keys;
    scratch_array<u32, Offset> states;  // of each bucket: its filter and, above it, its count
    scratch_array<u32, Offset> fresh;   // the number of new keys

    TILEHASH_FN constexpr explicit layout(Offset buckets)
        : keys(buckets * slots), states(keys, buckets), fresh(states, 1) {}
    TILEHASH_FN constexpr Offset bytes() const { return fresh.end(); }
  };
  static constexpr u64 scratch_bytes(u64 buckets) { return layout<u64>(buckets).bytes(); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 nth = static_cast<u32>(block.index()), n = bins.size(nth);
    if (n == 0) return;
    block_of<Block> work(*this, block, nth, n);
    work.fetch(0);  // these items are in flight while the region is loaded
    work.clear();
    block.barrier();
    work.load();
    block.barrier();
    for (u32 from = 0;;) {
      if constexpr (Assigns) {
        work.assign_present(from);
        block.barrier();
      }
      work.place(from);
      block.barrier();
      work.displace();
      block.barrier();
      work.drop_equal_keys();
      from += at_once * work.all;
      if (from >= n) break;
      work.fetch(from);
      block.barrier();
    }
    work.count();
  }

 private:
  // One thread's view of a block.
  template <class Block>
  struct block_of {
    using region = tiled_merge_region<Design, scratch_in<stored_key, Block>, scratch_in<u32, Block>>;
    using view = typename region::view;
    static constexpr u32 one = region::one;

    const tiled_merge& merge;
    const Block& block;
    u32 n, me, all, buckets;
    std::remove_cvref_t<decltype(std::declval<const Bins&>().at(0))> bin;
    scratch_in<u32, Block> fresh;
    region in;
    word mine[at_once] = {};
    u32 unplaced = 0;  // bit k: mine[k] found no slot in either bucket
    u32 done = 0;      // bit k: mine[k] has replaced a value
    u32 came = 0;

    TILEHASH_FN block_of(const tiled_merge& m, const Block& b, u32 nth, u32 items)
        : merge(m),
          block(b),
          n(items),
          me(b.rank()),
          all(b.size()),
          buckets(m.design.region_buckets()),
          bin(m.bins.at(nth)),
          fresh(layout<>(buckets).fresh.in(b)),
          in{m.design, m.design.region_at(m.first_region + nth), layout<>(buckets).keys.in(b),
             layout<>(buckets).states.in(b)} {}

    TILEHASH_FN void fetch(u32 from) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (from + k * all + me < n) mine[k] = bin[from + k * all + me];
      }
    }
    // Step 1.
    TILEHASH_FN void clear() {
      for (u32 b = me; b <= buckets; b += all) in.states[b] = 0;  // and `fresh`
    }
    TILEHASH_FN void load() {
      fetch_words<together>(in.home, buckets * slots, me, all, [&](u32 first, const word* held) {
        u32 state = 0;
        TILEHASH_UNROLL
        for (u32 k = 0; k < together; ++k) {
          in.keys[first + k] = slot_type::stored_in(held[k]);
          state += slot_type::is_free(held[k]) ? 0 : one;
          state += static_cast<u32>((held[k] & slot_type::filter_mask) >> slot_type::filter_shift)
                   << ((first + k) % slots % 8 * slot_type::filter_bits);
        }
        if (state != 0) fetch_add(in.states + first / slots, state);
      });
    }
    // Before step 2, if values are replaced.
    TILEHASH_FN void assign_present(u32 from) {
      done = 0;
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (from + k * all + me >= n) continue;
        location p = in.design.location_of(entry::hash_of(mine[k]));
        const value_bits v = entry::value_of(mine[k]);
        const bool goes_on = in.has_bit(p.bucket, Design::filter_index(p.stored));
        bool found = in.assign(p.bucket, p.stored, v);
        if (!found && goes_on) {
          in.design.turn(p);
          found = in.assign(p.bucket, p.stored, v);
        }
        done |= u32(found) << k;
      }
    }
    // Step 2.
    TILEHASH_FN void place(u32 from) {
      unplaced = 0;
      TILEHASH_UNROLL_BY(1)
      for (u32 k = 0; k < at_once; ++k) {
        if (from + k * all + me >= n) break;
        if (Assigns && (done >> k & 1) != 0) continue;
        const word e = item(k);
        const outcome o = in.place(in.design.location_of(entry::hash_of(e)), entry::value_of(e));
        came += u32(o == outcome::inserted);
        unplaced |= u32(o == outcome::refused) << k;
      }
    }
    // Step 3.
    TILEHASH_FN void displace() {
      const auto t = block.template tile<region::search_width>();
      TILEHASH_UNROLL_BY(1)
      for (u32 k = 0; k < at_once; ++k) {
        bool waits = (unplaced >> k & 1) != 0;
        if (!t.any(waits)) continue;
        const word e = item(k);
        if (in.displace_by_one(t, e, waits)) waits = false, ++came;
        if (!t.any(waits)) continue;
        if (in.displace_by_two(t, e, waits)) waits = false, ++came;
        if (waits) merge.spill.add(e);
      }
    }
    // Step 4.
    TILEHASH_FN void drop_equal_keys() {
      TILEHASH_UNROLL_BY(1)
      for (u32 k = 0; k < at_once; ++k) {
        if ((unplaced >> k & 1) != 0) came -= merge.drop_equal_keys(in, item(k));
      }
    }
    // mine[k]. An index that is not constant would put the array into local memory.
    TILEHASH_FN word item(u32 k) const {
      word e = mine[0];
      TILEHASH_UNROLL
      for (u32 i = 1; i < at_once; ++i) e = k == i ? mine[i] : e;
      return e;
    }
    TILEHASH_FN void count() {
      if (came != 0) fetch_add(fresh, came);
      block.barrier();
      if (me == 0) fetch_add(merge.inserted, static_cast<u64>(u32(fresh[0])));
    }
  };

  // Keeps one of the items with this item's key. Returns the number of dropped items.
  TILEHASH_FN u32 drop_equal_keys(const auto& in, const word& e) const {
    location p = design.location_of(entry::hash_of(e));
    bool seen = false;
    u32 gone = 0;
    for (u32 half = 0; half < 2; ++half, design.turn(p)) {
      const typename std::remove_cvref_t<decltype(in)>::view b(in.keys, p.bucket, p.bucket);
      for (u32 equal = b.match(p.stored); equal != 0; equal &= equal - 1) {
        const u32 at = p.bucket * slots + b.lowest_slot(equal);
        gone += u32(seen && in.remove(at));
        seen = true;
      }
    }
    return gone;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
