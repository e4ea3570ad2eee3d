// SPDX-License-Identifier: Apache-2.0
// One block of the bulk build of Horton tables, which builds one region in its scratch.
// designs/horton/build.hpp calls its steps, with a barrier between them.
#pragma once

#include <type_traits>
#include <utility>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/designs/horton/build_buckets.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The scratch of a block.
template <class Design, class Offset = u32>
struct horton_build_layout {
  using word = typename Design::word;
  static constexpr Offset slots = Design::bucket_slots;
  enum total : u32 { unplaced, evicted, stuck_before, stuck, change, stays, totals };

  scratch_array<word, Offset> words;           // the region's slots
  scratch_array<horton_mirrors, Offset> ways;  // of each tag
  scratch_array<word, Offset> unplaced_items;  // from the front; evicted ones from the end
  scratch_array<u32, Offset> counts;           // of each bucket
  scratch_array<u32, Offset> numbers;          // one for each `total`
  scratch_array<u16, Offset> unplaced_from;    // the primary bucket of each unplaced item
  scratch_array<u16, Offset> list;             // of unplaced items that found no slot

  TILEHASH_FN constexpr explicit horton_build_layout(Offset buckets)
      : words(buckets * slots),
        ways(words, Design::slot_type::entries),
        unplaced_items(ways, most_unplaced(buckets)),
        counts(unplaced_items, buckets),
        numbers(counts, totals),
        unplaced_from(numbers, most_unplaced(buckets)),
        list(unplaced_from, most_unplaced(buckets)) {}
  TILEHASH_FN constexpr Offset bytes() const { return list.end(); }

  TILEHASH_FN static constexpr Offset most_unplaced(Offset buckets) { return buckets * slots * 3 / 16 + 32; }
};

template <class Build, class Block>
struct horton_build_block {
  using design_type = typename Build::design_type;
  using slot_type = typename Build::slot_type;
  using word = typename Build::word;
  using entry = typename Build::entry;
  using layout = typename Build::layout;
  static constexpr u32 slots = Build::slots, last_slot = Build::last_slot, together = Build::together;
  static constexpr u32 overflows = u32(1) << 31;  // in a bucket's count: some of its items are unplaced

  using numbers_type = scratch_in<u32, Block>;
  using buckets_type =
      horton_buckets<design_type, scratch_in<word, Block>, numbers_type, scratch_in<horton_mirrors, Block>>;
  using view = typename buckets_type::view;

  const Build& build;
  const Block& block;
  u32 me, all, nth, region, buckets, n, capacity;
  std::remove_cvref_t<decltype(std::declval<const Build&>().bins.at(0))> bin;
  word* home;  // the region in the table
  scratch_in<word, Block> unplaced_items;
  numbers_type numbers;
  scratch_in<u16, Block> unplaced_from, list;
  buckets_type in;
  u32 before = 0;    // old items of this thread's share of the region
  u32 old_ones = 0;  // unplaced old items of the region, the first ones
  u32 unplaced = 0;  // unplaced items without the evicted ones

  TILEHASH_FN horton_build_block(const Build& of, const Block& b)
      : horton_build_block(of, b, layout(of.design.region_buckets())) {}

  // Step 0.
  TILEHASH_FN void load() {
    for (u32 i = me; i < buckets; i += all) in.counts[i] = 0;
    for (u32 i = me; i < layout::totals; i += all) numbers[i] = 0;
    for (u32 tag = me; tag < slot_type::entries; tag += all) {
      horton_mirrors m;
      for (u32 f = 0; f < 8; ++f) m.sums[f] = static_cast<u16>(build.design.sum_of(tag, f));
      in.ways[tag] = m;
    }
    if (build.merges) {
      fetch_words<together>(home, buckets * slots, me, all, [&](u32 first, const word* held) {
        TILEHASH_UNROLL
        for (u32 k = 0; k < together; ++k) in.words[first + k] = held[k];
      });
    } else {
      for (u32 i = me; i < buckets * slots; i += all) in.words[i] = word(0);
    }
  }
  // Closes up the old primary items of the region, and makes the secondary ones unplaced. Ends with a
  // barrier.
  TILEHASH_FN void take_out_secondary_items() {
    for (u32 b = me; b < buckets; b += all) {
      u32 kept = 0;
      for (u32 s = 0; s < slots; ++s) {
        const word w = in.words[b * slots + s];
        if (!design_type::holds(0, w)) continue;
        ++before;
        if (slot_type::function_of(slot_type::stored_in(w)) == 0) {
          in.words[b * slots + kept++] = w;
          continue;
        }
        const auto p = build.design.primary_of({0, b, slot_type::stored_in(w)});
        if (!make_unplaced(p.bucket, slot_type::make(p.stored, slot_type::value_of(w))))
          set_bits(numbers + layout::stays, 1U);
      }
      for (u32 s = kept; s < slots; ++s) in.words[b * slots + s] = word(0);
      in.counts[b] = kept;
    }
    block.barrier();
    old_ones = length(layout::unplaced);
    block.barrier();
  }

  // Step 1.
  TILEHASH_FN void place_in_primary_buckets() {
    fetch_items(bin, n, me, all, [&](u32 /*i*/, const word& e) {
      const auto p = build.design.location_of(entry::hash_of(e));
      const word content = slot_type::make(p.stored, entry::value_of(e));
      const u32 s = fetch_add(in.counts + p.bucket, u32(1));
      if (s < slots)
        in.words[p.bucket * slots + s] = content;
      else if (!make_unplaced(p.bucket, content))
        spill_or_stay(e);
    });
  }

  // Step 2.
  TILEHASH_FN void drop_equal_keys() {
    for (u32 b = me; b < buckets; b += all) {
      if (in.drop_equal_keys(b, in.read(b)) != 0) in.close_up(b);
      in.counts[b] = 0;
    }
    unplaced = length(layout::unplaced);
  }

  // Step 3.
  TILEHASH_FN void place_unplaced() {
    for (u32 q = me; q < unplaced; q += all) {
      const u32 b = unplaced_from[q];
      if (in.put(b, unplaced_items[q], q < old_ones))
        unplaced_items[q] = word(0);
      else
        set_bits(in.counts + b, overflows);
    }
  }

  // Step 4.
  TILEHASH_FN void evict_last_slots() {
    for (u32 b = me; b < buckets; b += all) {
      const u32 taken = slots - count_ones(in.read(b).match_if(slot_type::is_free));
      if ((in.counts[b] & overflows) != 0) {
        const word content = in.words[b * slots + last_slot];
        in.words[b * slots + last_slot] = slot_type::no_entries;
        const u32 at = fetch_add(numbers + layout::evicted, u32(1));
        if (unplaced + at < capacity)
          unplaced_items[capacity - 1 - at] = content, unplaced_from[capacity - 1 - at] = static_cast<u16>(b);
        else
          spill_or_stay(entry_of(b, content));
      }
      in.counts[b] = taken;
    }
  }

  // Step 5. Items that find no slot are listed under a total.
  TILEHASH_FN void remap_evicted() {
    const u32 came = numbers[layout::evicted], most = capacity - unplaced,
              evicted = came < most ? came : most;
    remap(capacity - evicted, capacity, layout::stuck_before, false);
  }
  TILEHASH_FN void remap_unplaced() { remap(0, unplaced, layout::stuck_before, false); }
  TILEHASH_FN void remap_old() { remap(0, old_ones, layout::stuck_before, false); }
  TILEHASH_FN void remap_new() { remap(old_ones, unplaced, layout::stuck, true); }

  // Step 6.
  TILEHASH_FN void swap_old() {
    for_each_stuck(layout::stuck_before, [&](word e) { spill_or_stay(e); });
  }
  TILEHASH_FN void swap_new() {
    for_each_stuck(layout::stuck, [&](word e) { build.spill.add(e); });
  }
  // True if the region stays unchanged. Then all its new items are left to the caller.
  TILEHASH_FN bool stays() const { return numbers[layout::stays] != 0; }
  TILEHASH_FN void spill_bin() const {
    for (u32 i = me; i < n; i += all) build.spill.add(bin[i]);
  }

  // Step 7, with a barrier between the count and the writes.
  TILEHASH_FN void write_back() {
    u32 after = 0;
    for (u32 b = me; b < buckets; b += all) {
      const view v = in.read(b);
      after +=
          count_ones(v.match_if([](word w) { return design_type::holds(0, w); })) - in.drop_equal_keys(b, v);
    }
    if (after != before) fetch_add(numbers + layout::change, after - before);  // modulo 2^32, as is its sum
    block.barrier();
    put_words<together>(in.words, buckets * slots, me, all, home);
    if (me == 0) fetch_add(build.inserted, static_cast<u64>(u32(numbers[layout::change])));
  }

 private:
  TILEHASH_FN horton_build_block(const Build& of, const Block& b, const layout& memory)
      : build(of),
        block(b),
        me(b.rank()),
        all(b.size()),
        nth(static_cast<u32>(b.index())),
        region(of.first_region + nth),
        buckets(of.design.region_buckets()),
        n(of.bins.size(nth)),
        capacity(memory.list.size),
        bin(of.bins.at(nth)),
        home(of.design.region_at(region)),
        unplaced_items(memory.unplaced_items.in(b)),
        numbers(memory.numbers.in(b)),
        unplaced_from(memory.unplaced_from.in(b)),
        list(memory.list.in(b)),
        in{of.design, memory.words.in(b), memory.counts.in(b), memory.ways.in(b)} {}

  TILEHASH_FN u32 length(u32 of) const { return numbers[of] < capacity ? u32(numbers[of]) : capacity; }
  TILEHASH_FN word entry_of(u32 bucket, word content) const {
    return entry::pack(build.design.hash_in(region, bucket, slot_type::stored_in(content)),
                       slot_type::value_of(content));
  }
  // Leaves an item to the caller. In a merge the region stays unchanged, which leaves all new items to it.
  TILEHASH_FN void spill_or_stay(word e) const {
    if (build.merges)
      set_bits(numbers + layout::stays, 1U);
    else
      build.spill.add(e);
  }
  // False if there are too many.
  TILEHASH_FN bool make_unplaced(u32 bucket, word content) const {
    const u32 at = fetch_add(numbers + layout::unplaced, u32(1));
    if (at >= capacity) return false;
    unplaced_items[at] = content;
    unplaced_from[at] = static_cast<u16>(bucket);
    return true;
  }
  TILEHASH_FN void remap(u32 from, u32 to, u32 stuck, bool is_new) const {
    for (u32 q = from + me; q < to; q += all) {
      const word content = unplaced_items[q];
      const u32 b = unplaced_from[q];
      if (slot_type::is_free(content)) continue;
      if (is_new && in.is_present(b, content, 0)) continue;  // swap_old() stored an old item of its key
      if (!in.remap(b, content)) list[fetch_add(numbers + stuck, u32(1))] = static_cast<u16>(q);
    }
  }
  // These items are few and take long, so neighbours in the block take neighbours in the list.
  template <class Spill>
  TILEHASH_FN void for_each_stuck(u32 stuck, const Spill& spill) const {
    for (u32 i = me, end = numbers[stuck]; i < end; i += all) {
      const u32 q = list[i], b = unplaced_from[q];
      const word content = unplaced_items[q];
      if (!in.swap(b, content)) spill(entry_of(b, content));
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
