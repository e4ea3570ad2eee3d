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
// full, writes one more for the filter. A merge looks up both in the scratch.
//
// The steps of a block, with a barrier between them; 2 to 4 repeat if a bin has more items than the block's
// registers hold:
//   1  load             the region's stored keys, its filters, and the number of taken slots of each bucket
//   2  place            drops an item whose key is present, or puts it into its first bucket or, if that is full,
//                       its second; lists those that find no slot in either
//   3  displace         the listed items: a key of either bucket moves to its other bucket, or a third one makes a
//                       slot there for it. For the few that are left then, a fourth one
//   4  drop_equal_keys  that step 3 placed twice
//
// The lanes of a warp take their steps together, as they meet at a collective before each item. Otherwise each of
// them would go on to its next item by itself, and wait for the scratch by itself.
//
// Few of a warp's items have no slot, and each could move up to 16 keys. So all tiles of the block share the
// list. A lane looks at the keys of a bucket at once. Where a third key moves, the lanes of a tile look at
// these keys for one item after the other, one key a lane. Then all items move keys at once.
//
// If the items' values replace those of present keys (Assigns), these keys are found before step 2, in a step
// of its own. No key moves then, and no slot of the table is half written.
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
  static constexpr u32 early_blocks = ~u32(0);  // any number: a block takes 30 us
  static constexpr u32 at_once = tuning::gpu::merged_at_once(sizeof(word));  // items of each thread at a time
  static constexpr u32 slots = Design::bucket_slots;
  static constexpr u32 most_left = 61;  // of a region by step 3

  Design design;
  Bins bins;         // of the regions that get items
  u32 first_region;  // the first of these
  spill_list<word> spill;
  u64* inserted;

  template <class Offset = u32>
  struct layout {
    scratch_array<stored_key, Offset> keys;
    scratch_array<u32, Offset> states;  // of each bucket: its filter and, above it, its count
    scratch_array<u32, Offset> counts;  // of new keys, of items listed so far, and of those left by step 3
    scratch_array<u32, Offset> left;    // the numbers of the latter in the list
    scratch_array<word, Offset> list;   // the items of step 3

    TILEHASH_FN constexpr explicit layout(Offset buckets)
        : keys(buckets * slots),
          states(keys, buckets),
          counts(states, 3),
          left(counts, most_left),
          list(left, at_once * block_size) {}
    TILEHASH_FN constexpr Offset bytes() const { return list.end(); }
  };
  static constexpr u64 scratch_bytes(u64 buckets) { return layout<u64>(buckets).bytes(); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 nth = static_cast<u32>(block.index()), n = bins.size(nth);
    block_of<Block> work(*this, block, nth, n);
    work.fetch(0, bins.capacity_of(nth));  // in flight while the region is loaded; so is n
    work.load();
    block.barrier();
    if (n == 0) return;
    for (u32 from = 0;;) {
      if constexpr (Assigns) {
        work.assign_present(from);
        block.barrier();
      }
      work.place(from);
      block.barrier();
      work.displace();
      block.barrier();
      if (work.any_left()) {
        work.displace_left();
        block.barrier();
        work.clear_left();
      }
      work.drop_equal_keys();
      from += at_once * work.all;
      if (from >= n) break;
      work.fetch(from, n);
      block.barrier();
    }
    work.count();
  }

 private:
  // One thread's view of a block.
  template <class Block>
  struct block_of {
    using region = tiled_merge_region<Design, scratch_in<stored_key, Block>, scratch_in<u32, Block>>;
    struct alignas(slots * sizeof(word)) whole_bucket {
      word words[slots];
    };

    const tiled_merge& merge;
    const Block& block;
    u32 n, me, all, buckets;
    std::remove_cvref_t<decltype(std::declval<const Bins&>().at(0))> bin;
    scratch_in<u32, Block> counts, left;
    scratch_in<word, Block> list;
    region in;
    word mine[at_once] = {};
    u32 done = 0;  // bit k: mine[k] has replaced a value
    u32 came = 0;
    u32 listed_before = 0, waiting = 0;  // listed items of earlier rounds, and of this one

    TILEHASH_FN block_of(const tiled_merge& m, const Block& b, u32 nth, u32 items)
        : merge(m),
          block(b),
          n(items),
          me(b.rank()),
          all(b.size()),
          buckets(m.design.region_buckets()),
          bin(m.bins.at(nth)),
          counts(layout<>(buckets).counts.in(b)),
          left(layout<>(buckets).left.in(b)),
          list(layout<>(buckets).list.in(b)),
          in{m.design, m.design.region_at(m.first_region + nth), layout<>(buckets).keys.in(b),
             layout<>(buckets).states.in(b)} {}

    TILEHASH_FN void fetch(u32 from, u32 until) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        mine[k] = {};  // what it was would take registers meanwhile
        if (from + k * all + me < until) mine[k] = bin[from + k * all + me];
      }
    }
    // Step 1. A thread reads whole buckets, so no other one adds to their states.
    TILEHASH_FN void load() {
      if (me < 3) counts[me] = 0;
      const auto* const from = reinterpret_cast<const whole_bucket*>(in.home);
      fetch_items<1>(from, buckets, me, all, [&](u32 b, const whole_bucket& held) {
        u32 state = 0;
        TILEHASH_UNROLL
        for (u32 k = 0; k < slots; ++k) {
          in.keys[b * slots + k] = slot_type::stored_in(held.words[k]);
          state += slot_type::is_free(held.words[k]) ? 0 : region::one;
          state |= static_cast<u32>(slot_type::filter_of(held.words[k]) >> slot_type::filter_shift)
                   << (k % 8 * slot_type::filter_bits);
        }
        in.states[b] = state;
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
      const auto t = block.template tile<region::search_width>();
      TILEHASH_UNROLL_BY(1)
      for (u32 k = 0; k < at_once; ++k) {
        bool waits = from + k * all + me < n;
        if (!t.any(waits)) break;
        if constexpr (Assigns) waits = waits && (done >> k & 1) == 0;
        const word e = item(k);
        const outcome o = in.place(t, e, waits);
        came += u32(o == outcome::inserted);
        if (o == outcome::refused) list[fetch_add(counts + 1, u32(1)) - listed_before] = e;
      }
    }
    // Step 3. Neighbours in the list go to different tiles, so all tiles look for about as many items.
    TILEHASH_FN void displace() {
      constexpr u32 width = region::search_width;
      const auto t = block.template tile<width>();
      waiting = load_relaxed(counts + 1) - listed_before;
      listed_before += waiting;
      for (u32 first = 0; first < waiting; first += all) {
        const u32 i = first + me % width * (all / width) + me / width;
        bool waits = i < waiting;
        if (!t.any(waits)) continue;
        word e = {};
        if (waits) e = list[i];
        if (in.displace_by_one(t, e, waits)) waits = false, ++came;
        if (!t.any(waits)) continue;
        if (in.template displace_by<2>(t, e, waits)) waits = false, ++came;
        if (waits) leave(i, e);
      }
      if (came != 0) fetch_add(counts, came);
      came = 0;
    }
    TILEHASH_FN void leave(u32 i, const word& e) {
      const u32 at = fetch_add(counts + 2, u32(1));
      if (at < most_left)
        left[at] = i;
      else
        merge.spill.add(e);
    }
    TILEHASH_FN bool any_left() const { return load_relaxed(counts + 2) != 0; }
    TILEHASH_FN void clear_left() const {
      if (me == 0) counts[2] = 0;
    }
    // For items of which step 3 found no place: few, and with three moves nearly all have one.
    TILEHASH_FN void displace_left() {
      const auto t = block.template tile<region::search_width>();
      const u32 came_left = load_relaxed(counts + 2), n_left = came_left < most_left ? came_left : most_left;
      for (u32 first = 0; first < n_left; first += all / region::search_width) {
        const u32 i = first + me / region::search_width;
        const bool waits = i < n_left && t.rank() == 0;
        word e = {};
        if (waits) e = list[left[i]];
        if (in.template displace_by<3>(t, e, waits))
          fetch_add(counts, u32(1));
        else if (waits)
          merge.spill.add(e);
      }
    }
    // Step 4.
    TILEHASH_FN void drop_equal_keys() {
      u32 gone = 0;
      for (u32 i = me; i < waiting; i += all) gone += merge.drop_equal_keys(in, list[i]);
      if (gone != 0) fetch_add(merge.inserted, u64(0) - gone);
    }
    // mine[k]. An index that is not constant would put the array into local memory.
    TILEHASH_FN word item(u32 k) const {
      word e = mine[0];
      if constexpr (at_once > 1) {
        TILEHASH_UNROLL
        for (u32 i = 1; i < at_once; ++i) e = k == i ? mine[i] : e;
      }
      return e;
    }
    TILEHASH_FN void count() {
      if (me == 0) fetch_add(merge.inserted, static_cast<u64>(u32(counts[0])));
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
