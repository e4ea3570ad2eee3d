// SPDX-License-Identifier: Apache-2.0
// Merges few items into `tiled` in place. A block reads the buckets of its region's items, and no others, while a block
// of designs/tiled/merge.hpp reads all of its region.
//
// The steps of a block, with a barrier between them; they repeat if a bin has more items than the block's registers hold:
//   1  sort           the items by bucket, so that a block reads the table in the order of addresses
//   2  place          drops an item whose key is in its first bucket, or is that of an earlier item. Puts it there, or on a
//                     list, if the bucket is full or its filter has the key's bit
//   3  place_second   the same with the second bucket and another list
//   4  displace       a tile takes an item of that list. A key of either bucket moves to its other bucket. In words of 16 bytes
//                     the items that are left after their first buckets are listed again
//   5  displace_left  the few items that are left then: two keys move. In words of 16 bytes there are more, and a tile of 16
//                     looks at all pairs of keys at once
//
// No key moves before step 4, so steps 2 and 3 find all present keys. Items that find no slot go to `spill`, and the
// caller inserts them one by one.
#pragma once

#include <type_traits>
#include <utility>

#include <tilehash/algorithm/bins.hpp>
#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/designs/tiled/shared_buckets.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Bins = even_bins<typename Design::word>>
struct tiled_merge_few {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using value_bits = typename slot_type::value_bits;
  using entry = routed_item<slot_type>;
  using location = typename Design::location;
  static constexpr u32 block_size = tuning::gpu::merge_few_block(sizeof(word));
  static constexpr u32 resident_blocks = tuning::gpu_here::merge_few_occupancy(sizeof(word));
  static constexpr u32 early_blocks = ~u32(0);  // any number: a block takes 10 us
  static constexpr u32 at_once =
      tuning::gpu::merged_few_at_once(sizeof(word));  // items of each thread at a time
  static constexpr u32 most = at_once * block_size;
  static constexpr u32 cells_log2 = 10, cells = 1U << cells_log2;  // of neighbouring buckets

  Design design;
  Bins bins;         // of the regions that get items
  u32 first_region;  // the first of these
  spill_list<word> spill;
  u64* inserted;

  using sums_type = block_sums<block_size>;

  template <class Offset = u32>
  struct layout {
    scratch_array<word, Offset> items;
    scratch_array<u32, Offset> starts;  // of each cell's items
    scratch_array<u32, Offset> second;  // listed by step 2, and those left in first buckets by step 4
    scratch_array<u32, Offset> third;   // listed by step 3, and those left by step 4
    scratch_array<u32, Offset> sums;    // of warps
    scratch_array<u32, Offset> counts;  // of the first two lists, of new keys, and of the other lists
    scratch_array<u32, Offset> bits;    // of slots: the last, so that the others begin at constants

    TILEHASH_FN constexpr explicit layout(Offset buckets)
        : items(most),
          starts(items, cells),
          second(starts, most),
          third(second, most),
          sums(third, sums_type::words),
          counts(sums, 5),
          bits(counts, (buckets * Design::bucket_slots + 31) / 32) {}
    TILEHASH_FN constexpr Offset bytes() const { return bits.end(); }
  };
  static constexpr u64 scratch_bytes(u64 buckets) { return layout<u64>(buckets).bytes(); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 nth = static_cast<u32>(block.index()), n = bins.size(nth);
    block_of<Block> work(*this, block, nth);
    word mine[at_once] = {};
    work.fetch(mine, 0, bins.capacity_of(nth));  // in flight while n is
    if (n == 0) return;
    work.clear_bits();
    for (u32 from = 0; from < n; from += at_once * work.all) {
      if (from != 0) {
        work.fetch(mine, from, n);
        block.barrier();
      }
      work.clear();
      block.barrier();
      work.sort(mine, n - from);
      block.barrier();
      work.place();
      block.barrier();
      work.place_second();
      block.barrier();
      work.move_keys();
    }
    work.count();
  }

 private:
  // One thread's view of a block.
  template <class Block>
  struct block_of {
    using buckets_type = tiled_shared_buckets<Design, scratch_in<u32, Block>>;
    using requested = typename buckets_type::requested;
    using seen = typename buckets_type::seen;
    static constexpr u32 width = buckets_type::width, slots = buckets_type::slots;
    // An entry of a list: the item's number, whether the filter of the first bucket has its bit, and its slot there.
    static constexpr u32 number_bits = 16, marked_bit = 1U << 16, slot_shift = 20;

    const tiled_merge_few& merge;
    const Block& block;
    u32 me, all, n = 0;
    std::remove_cvref_t<decltype(std::declval<const Bins&>().at(0))> bin;
    scratch_in<word, Block> items;
    scratch_in<u32, Block> starts, second, third, sums, counts;
    buckets_type in;
    u32 came = 0;

    TILEHASH_FN block_of(const tiled_merge_few& m, const Block& b, u32 nth)
        : block_of(m, b, nth, layout<>(m.design.region_buckets())) {}
    TILEHASH_FN block_of(const tiled_merge_few& m, const Block& b, u32 nth, const layout<>& its)
        : merge(m),
          block(b),
          me(b.rank()),
          all(b.size()),
          bin(m.bins.at(nth)),
          items(its.items.in(b)),
          starts(its.starts.in(b)),
          second(its.second.in(b)),
          third(its.third.in(b)),
          sums(its.sums.in(b)),
          counts(its.counts.in(b)),
          in{m.design, m.design.region_at(m.first_region + nth), its.bits.in(b)} {}

    TILEHASH_FN void clear_bits() {
      for (u32 i = me; i < (merge.design.region_buckets() * slots + 31) / 32; i += all) in.bits[i] = 0;
    }
    TILEHASH_FN void clear() {
      for (u32 i = me; i < cells; i += all) starts[i] = 0;
      if (me < sums_type::words) sums[me] = 0;
      if (me < 5) counts[me] = 0;
    }
    TILEHASH_FN void fetch(word (&mine)[at_once], u32 from, u32 until) const {
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (from + k * all + me < until) mine[k] = bin[from + k * all + me];
      }
    }
    // Step 1. Counts the items of each cell, and gives each item its number there.
    TILEHASH_FN void sort(const word (&mine)[at_once], u32 left) {
      n = left < at_once * all ? left : at_once * all;
      u32 ranks[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (k * all + me < n) ranks[k] = fetch_add(starts + cell_of(mine[k]), u32(1));
      }
      block.barrier();
      sum_up_cells();
      block.barrier();
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (k * all + me < n) items[u32(starts[cell_of(mine[k])]) + ranks[k]] = mine[k];
      }
    }
    // Replaces the count of each cell by the number of items in front of it.
    TILEHASH_FN void sum_up_cells() const {
      const u32 each = (cells + all - 1) / all, from = me * each < cells ? me * each : cells,
                to = from + each < cells ? from + each : cells;
      u32 its_items = 0, of_all = 0;
      for (u32 c = from; c < to; ++c) its_items += u32(starts[c]);
      u32 start = sums_type::before(block, sums, its_items, of_all);
      for (u32 c = from; c < to; ++c) {
        const u32 count = starts[c];
        starts[c] = start;
        start += count;
      }
    }
    TILEHASH_FN u32 cell_of(const word& e) const {
      return in.design.route().within(entry::hash_of(e)) >> (32 - cells_log2);
    }
    // Has an earlier item this item's key? It is in the same cell.
    TILEHASH_FN bool repeats(u32 i, const word& e) const {
      for (u32 k = starts[cell_of(e)]; k < i; ++k) {
        if (entry::hash_of(items[k]) == entry::hash_of(e)) return true;
      }
      return false;
    }
    // Step 2.
    TILEHASH_FN void place() {
      const auto t = block.template tile<width>();
      for (u32 i = me; t.any(i < n); i += all) {
        bool waits = i < n;
        word e = {};
        if (waits) e = items[i];
        const location p = at(e);
        requested r;
        in.request(t, waits ? p.bucket : in.no_bucket, r);
        if (waits && repeats(i, e)) waits = false;
        const seen s = in.look(t, r, p.stored);
        if (!waits || s.is_present) continue;
        const u32 slot = in.own_any(p.bucket, s.free);
        if (slot == slots || s.is_marked)
          second[fetch_add(counts + 0, u32(1))] = i | (s.is_marked ? marked_bit : 0) | slot << slot_shift;
        else
          in.put(p.bucket, slot, p.stored, entry::value_of(e)), ++came;
      }
    }
    // Step 3.
    TILEHASH_FN void place_second() {
      const auto t = block.template tile<width>();
      const u32 listed = load_relaxed(counts + 0);
      for (u32 i = me; t.any(i < listed); i += all) {
        const bool waits = i < listed;
        u32 what = 0;
        word e = {};
        if (waits) what = second[i], e = items[number_of(what)];
        const location first = at(e);
        location p = first;
        in.design.turn(p);
        requested r;
        in.request(t, waits ? p.bucket : in.no_bucket, r);
        const seen s = in.look(t, r, p.stored);
        if (!waits) continue;
        const u32 reserved = what >> slot_shift;
        if (s.is_present) {
          if (reserved != slots) in.give_back(first.bucket, reserved);
          continue;
        }
        if (reserved != slots) {
          in.put(first.bucket, reserved, first.stored, entry::value_of(e)), ++came;
          continue;
        }
        const u32 slot = in.own_any(p.bucket, s.free);
        if (slot == slots) {
          third[fetch_add(counts + 1, u32(1))] = what;
          continue;
        }
        in.put(p.bucket, slot, p.stored, entry::value_of(e));
        came_to(1, first, what);
      }
    }
    // Steps 4 and 5.
    TILEHASH_FN void move_keys() {
      if constexpr (sizeof(word) <= 8) {
        displace_either();
        block.barrier();
        displace_left_alone();
      } else {
        TILEHASH_UNROLL_BY(1)
        for (u32 half = 0; half < 2; ++half) {
          displace(half);
          block.barrier();
        }
        displace_left();
      }
    }
    // Step 4. A tile takes an item, and looks at the keys of one of its buckets.
    TILEHASH_FN void displace(u32 half) {
      const auto t = block.template tile<width>();
      const auto& from = half == 0 ? third : second;
      const auto& left = half == 0 ? second : third;
      const u32 listed = load_relaxed(counts + (half == 0 ? 1 : 3));
      for (u32 i = me / width; t.any(i < listed); i += all / width) {
        bool waits = i < listed;
        const bool is_first = waits && t.rank() == 0;
        const u32 what = waits ? u32(from[i]) : 0;
        if (in.push(t, at(what, half).bucket, waits, [&] { return stored(what, half); })) waits = false;
        if (!is_first) continue;
        if (waits)
          left[fetch_add(counts + (3 + half), u32(1))] = what;
        else
          came_to(half, at(what, 0), what);
      }
    }
    // Step 5. A tile takes an item.
    TILEHASH_FN void displace_left() {
      constexpr u32 two_width = 16;
      const auto t = block.template tile<two_width>();
      const u32 listed = load_relaxed(counts + 4);
      for (u32 i = me / two_width; t.any(i < listed); i += all / two_width) {
        bool waits = i < listed;
        const bool is_first = waits && t.rank() == 0;
        const u32 what = waits ? u32(third[i]) : 0;
        u32 half = 0;
        TILEHASH_UNROLL_BY(1)
        for (u32 k = 0; k < 4 && t.any(waits); ++k) {  // twice, as others may be faster
          const u32 bucket = at(what, k % 2).bucket;
          if (in.push_two(t, bucket, waits, [&] { return stored(what, k % 2); })) waits = false, half = k % 2;
        }
        if (!is_first) continue;
        if (waits)
          merge.spill.add(items[number_of(what)]);
        else
          came_to(half, at(what, 0), what);
      }
    }
    // Step 4 for words of 8 bytes: a tile looks at both buckets of an item, as few items are left in the first.
    TILEHASH_FN void displace_either() {
      const auto t = block.template tile<width>();
      const u32 listed = load_relaxed(counts + 1);
      for (u32 i = me / width; t.any(i < listed); i += all / width) {
        bool waits = i < listed;
        u32 what = 0, half = 0;
        word e = {};
        if (waits) what = third[i], e = items[number_of(what)];
        const location first = at(e);
        location p = first;
        const bool is_first = waits && t.rank() == 0;
        TILEHASH_UNROLL_BY(1)
        for (u32 k = 0; k < 2 && t.any(waits); ++k, in.design.turn(p)) {
          if (in.push_either(t, p.bucket, p.stored, entry::value_of(e), waits)) waits = false, half = k;
        }
        if (!is_first) continue;
        if (waits)
          second[fetch_add(counts + 3, u32(1))] = what;
        else
          came_to(half, first, what);
      }
    }
    // Step 5 for these: a thread takes an item.
    TILEHASH_FN void displace_left_alone() {
      const u32 listed = load_relaxed(counts + 3);
      for (u32 i = me; i < listed; i += all) {
        const u32 what = second[i];
        const word e = items[number_of(what)];
        const location first = at(e);
        location p = first;
        bool waits = true;
        TILEHASH_UNROLL_BY(1)
        for (u32 k = 0; k < 4 && waits; ++k, in.design.turn(p)) {  // twice, as others may be faster
          if (!in.push_two_alone(p.bucket, p.stored, entry::value_of(e))) continue;
          came_to(k % 2, first, what);
          waits = false;
        }
        if (waits) merge.spill.add(e);
      }
    }
    // An item has come to its first bucket, or its second one.
    TILEHASH_FN void came_to(u32 half, const location& first, u32 what) {
      ++came;
      if (half == 1 && (what & marked_bit) == 0) in.mark(first.bucket, first.stored);
    }
    TILEHASH_FN void count() {
      if (came != 0) fetch_add(counts + 2, came), came = 0;
      block.barrier();
      if (me == 0) fetch_add(merge.inserted, static_cast<u64>(u32(counts[2])));
    }

   private:
    TILEHASH_FN location at(const word& e) const { return in.design.location_of(entry::hash_of(e)); }
    // The first or second location of a listed item.
    TILEHASH_FN location at(u32 what, u32 half) const {
      location p = at(items[number_of(what)]);
      if (half == 1) in.design.turn(p);
      return p;
    }
    // How it is stored there.
    TILEHASH_FN std::pair<stored_key, value_bits> stored(u32 what, u32 half) const {
      return {at(what, half).stored, entry::value_of(items[number_of(what)])};
    }
    TILEHASH_FN static u32 number_of(u32 what) { return what & ((1U << number_bits) - 1); }
  };
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
