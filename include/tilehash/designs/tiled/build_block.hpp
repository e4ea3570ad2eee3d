// SPDX-License-Identifier: Apache-2.0
// One block of `tiled`'s bulk build, which builds one region in its scratch. designs/tiled/build.hpp calls
// its steps, with a barrier between them.
#pragma once

#include <type_traits>
#include <utility>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/ordered_bins.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/tiled/build_buckets.hpp>
#include <tilehash/designs/tiled/scratch_slot.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The scratch of a block. `Slot` is a tiled_scratch_slot.
template <class Slot, class Offset = u32>
struct tiled_build_layout {
  using word = typename Slot::word;
  using table_word = typename Slot::table_word;
  static constexpr Offset slots = Slot::design_type::bucket_slots;
  // Positions in a bin that keeps first items have 16 bits, so the list has twice the capacity.
  using listed_item = std::conditional_t<Slot::keeps_first, u16, u32>;
  static constexpr u32 listed_a_word = Slot::keeps_first ? 2 : 1;
  // At a load of 0.96 an 8th of the items have no slot in their first bucket of 8, and a 12th in one of 16. The
  // list of these has more, and fits a block's scratch in addition to the region.
  static constexpr u32 listed_of_32 = Slot::design_type::bucket_slots > 8 ? 4 : 6;
  enum total : u32 { listed, unplaced, taken_up, change, numbered, totals };

  scratch_array<word, Offset> words;           // the region's slots
  scratch_array<table_word, Offset> entries;   // the items, where a scratch word is no table word
  scratch_array<word, Offset> unplaced_items;  // items that have a slot in neither bucket
  scratch_array<u32, Offset> counts;           // of each bucket
  scratch_array<listed_item, Offset> list;     // items that have no slot in their first bucket
  scratch_array<u32, Offset> filters;          // of each bucket
  scratch_array<u32, Offset> numbers;          // one for each `total`
  scratch_array<u16, Offset> slot_of;          // overlays unplaced_items, counts and list in take_values()

  TILEHASH_FN constexpr explicit tiled_build_layout(Offset buckets)
      : words(buckets * slots),
        entries(words, Slot::is_exact ? 0 : buckets * slots),
        unplaced_items(entries, buckets * slots * 3 / 32),
        counts(unplaced_items, buckets),
        list(counts, buckets * slots * listed_of_32 / 32 * listed_a_word),
        filters(list, buckets),
        numbers(filters, totals),
        slot_of(entries, (filters.at - unplaced_items.at) / Offset(sizeof(u16))) {}
  TILEHASH_FN constexpr Offset bytes() const { return numbers.end(); }
};

template <class Build, class Block>
struct tiled_build_block {
  using design_type = typename Build::design_type;
  using slot_type = typename Build::slot_type;
  using table_word = typename Build::table_word;
  using word = typename Build::word;
  using location = typename Build::location;
  using entry = typename Build::entry;
  using layout = typename Build::layout;
  using listed_item = typename layout::listed_item;
  static constexpr bool keeps_first = Build::keeps_first, is_exact = Build::scratch_slot::is_exact;
  static constexpr u32 slots = Build::slots, assigned_bits = 32;
  static constexpr u32 together = 16 / sizeof(table_word);  // words of one bucket that are moved at once

  using bin_type = std::remove_cvref_t<decltype(std::declval<const Build&>().bins.at(0))>;
  using entries_type = scratch_in<table_word, Block>;
  // If the first of equal keys is kept, a word names its entry in the bin, or in its copy.
  using items_type = std::conditional_t<keeps_first && is_exact, const table_word*, entries_type>;
  using slot = typename Build::template scratch_slot_of<items_type>;
  using buckets_type = tiled_buckets<slot, scratch_in<word, Block>, scratch_in<u32, Block>>;
  using view = typename buckets_type::view;
  using displaced = typename buckets_type::displaced;

  const Build& build;
  const Block& block;
  u32 me, all, nth, region, buckets;
  bin_type bin;
  table_word* home;  // the region in the table
  layout memory;
  entries_type entries;
  scratch_in<word, Block> unplaced_items;
  scratch_in<listed_item, Block> list;
  scratch_in<u32, Block> numbers;
  buckets_type in;
  u32 before = 0;          // old items of this thread's share of the region
  u32 assigned = 0;        // bit k: the thread's k-th item has replaced a value
  u32 count_unplaced = 0;  // items that are to be displaced

  TILEHASH_FN tiled_build_block(const Build& of, const Block& b)
      : build(of),
        block(b),
        me(b.rank()),
        all(b.size()),
        nth(static_cast<u32>(b.index())),
        region(of.region_of(nth)),
        buckets(of.design.region_buckets()),
        bin(of.bins.at(nth)),
        home(of.design.region_at(region)),
        memory(buckets),
        entries(memory.entries.in(b)),
        unplaced_items(memory.unplaced_items.in(b)),
        list(memory.list.in(b)),
        numbers(memory.numbers.in(b)),
        in{slot_for(of, region, bin, entries), memory.words.in(b), memory.counts.in(b),
           memory.filters.in(b)} {}

  // Step 0.
  TILEHASH_FN void load() {
    for (u32 i = me; i < buckets; i += all) in.counts[i] = 0, in.filters[i] = 0;
    for (u32 i = me; i < layout::totals; i += all) numbers[i] = 0;
    if (build.merges) {
      block.barrier();
      fetch_region();
      block.barrier();
      in.in.held = numbers[layout::numbered];
      if constexpr (!Build::assigns) close_up();
    } else {
      for (u32 i = me; i < buckets * slots; i += all) in.words[i] = word(0);
    }
  }

  // Before step 1, if values are replaced. A bin that has more items than a thread has bits leaves them over.
  TILEHASH_FN void assign_present() {
    const u32 n = build.bins.size(nth);
    bool any_new = false;
    fetch_items(bin, n, me, all, [&](u32 i, const table_word& e) {
      const u32 nth_own = i / all;
      if (nth_own >= assigned_bits) return build.spill.add(e);
      location p = build.design.location_of(in.in.entries.hash_of(e));
      const bool goes_on = in.has_bit(p.bucket, build.design.filter_index(p.stored));
      bool found = in.assign(p.bucket, p.stored, e);
      if (!found && goes_on) {
        build.design.turn(p);
        found = in.assign(p.bucket, p.stored, e);
      }
      assigned |= u32(found) << nth_own;
      any_new |= !found;
    });
    if (any_new) store_relaxed(numbers + layout::numbered, u32(1));
  }
  TILEHASH_FN bool has_new_items() const { return numbers[layout::numbered] != 0; }
  // Closes the gaps in the buckets of the old region.
  TILEHASH_FN void close_up() {
    for (u32 b = me; b < buckets; b += all) {
      const view v = in.read(b);
      const u32 taken = ~v.by_slots(v.match(0)) & ((1U << slots) - 1);
      in.counts[b] = count_ones(taken);
      if ((taken & (taken + 1)) != 0) in.close_up(b);
    }
  }

  // Step 1.
  TILEHASH_FN void place_in_first_buckets() {
    if constexpr (Build::assigns) {
      fetch_items(bin, build.bins.size(nth), me, all, [&](u32 i, const table_word& e) {
        const u32 nth_own = i / all;
        if (nth_own < assigned_bits && (assigned >> nth_own & 1) == 0) place_in_first_bucket(i, e);
      });
    } else if constexpr (Build::walks_bins) {
      bin.for_each_item(me, all, [&](u32 i, const table_word& e) {
        place_in_first_bucket(is_exact ? i : fetch_add(numbers + layout::numbered, u32(1)), e);
      });
    } else {
      fetch_items(bin, build.bins.size(nth), me, all,
                  [&](u32 i, const table_word& e) { place_in_first_bucket(i, e); });
    }
  }

  // Step 2.
  TILEHASH_FN void drop_equal_keys() {
    for (u32 b = me; b < buckets; b += all) in.drop_equal_keys(b);
  }

  // Step 3.
  TILEHASH_FN void place_listed() {
    const u32 capacity = memory.list.size, came = numbers[layout::listed];
    u32 waiting = came < capacity ? came : capacity;
    bool from_list = true;
    if constexpr (
        keeps_first) {  // the list is too short: all items of the bin try, and those with a slot find it
      from_list = came <= capacity;
      if (!from_list)
        waiting = build.bins.size(nth) < Build::most_numbers(buckets) ? build.bins.size(nth)
                                                                      : Build::most_numbers(buckets);
    }
    for (u32 q = me; q < waiting; q += all) {
      const u32 number = from_list ? u32(list[q]) : q;
      if constexpr (is_exact)
        place_in_either_bucket(number, bin[number]);
      else
        place_in_either_bucket(number, entries[number]);
    }
  }

  // Step 4. A thread that has found a slot for an item takes the next.
  TILEHASH_FN void displace() {
    const u32 capacity = memory.unplaced_items.size;
    count_unplaced = capacity;
    if constexpr (!Build::combines) {
      const u32 came = numbers[layout::unplaced];
      count_unplaced = came < capacity ? came : capacity;
    }
    displaced d;
    for (bool unplaced = false;;) {
      if (!unplaced) {
        const u32 q = fetch_add(numbers + layout::taken_up, u32(1));
        if (q >= count_unplaced) break;
        const word handle = unplaced_items[q];
        if constexpr (Build::combines) {
          if (Build::is_free(region, handle)) continue;
        }
        const table_word e = in.in.entry_at(handle);
        location p = build.design.location_of(in.in.entries.hash_of(e));
        build.design.turn(p);
        d = {in.in.make(p.stored, e, slot::number_in(handle)), p.bucket, 0,
             static_cast<u64>(in.in.entries.hash_of(e))};
      }
      const bool placed = in.step(d);
      unplaced = !placed && ++d.looks < buckets_type::max_looks;
      if (!placed && !unplaced) build.spill.add(in.in.entry_of(region, d.bucket, d.mover));
    }
  }

  // Step 5. All threads that look up a key keep the same item of it.
  TILEHASH_FN void drop_equal_displaced() {
    for (u32 q = me; q < count_unplaced; q += all) {
      const word handle = unplaced_items[q];
      const table_word e = in.in.entry_at(handle);
      location p = build.design.location_of(in.in.entries.hash_of(e));
      auto stays = in.words;
      word it = 0;
      for (u32 half = 0; half < 2; ++half, build.design.turn(p)) {
        const view b = in.read(p.bucket);
        u32 equal = in.match_key(b, in.in.make(p.stored, e, slot::number_in(handle)));
        for (; equal != 0; equal &= equal - 1) {
          const auto at = in.words + (p.bucket * slots + b.lowest_slot(equal));
          const word w = load_relaxed(at);
          if (slot::is_free(w)) continue;  // another thread has dropped it
          bool stays_now = slot::is_free(it);
          if constexpr (keeps_first) {
            if (!stays_now && in.in.is_before(w, it)) compare_and_swap(stays, it, word(0)), stays_now = true;
          }
          if (stays_now)
            stays = at, it = w;
          else
            compare_and_swap(at, w, word(0));
        }
      }
    }
  }

  // Before step 6, if the first of equal keys is kept: the words get their values, before the region's buffer
  // overwrites the bin. The bin is read in order, as single values would cost a sector each.
  TILEHASH_FN void take_values() {
    const auto slot_of = memory.slot_of.in(block);
    const auto two = scratch_array<u32>(memory.entries, 0).in(block);
    constexpr u32 nowhere = 0xffff;
    const u32 n = build.bins.size(nth), most = memory.slot_of.size;
    const u32 known = n < most ? n : most;  // (a bin may be larger than its region)
    for (u32 i = me; i < (known + 1) / 2; i += all) two[i] = ~u32(0);
    block.barrier();
    for (u32 i = me; i < buckets * slots; i += all) {
      const word w = in.words[i];
      if (slot::is_free(w)) continue;
      const u32 number = slot::number_in(w);
      if (number < known)
        slot_of[number] = static_cast<u16>(i);
      else
        slot::set_value(in.words + i, bin[number]);
    }
    block.barrier();
    fetch_items(bin, known, me, all, [&](u32 i, const table_word& e) {
      const u32 at = slot_of[i];
      if (at != nowhere) slot::set_value(in.words + at, e);
    });
  }

  // Step 6, with a barrier before the count.
  TILEHASH_FN void write_back() {
    u32 after = 0;
    for (u32 i = me * together; i < buckets * slots; i += all * together) {
      struct alignas(16) some {
        table_word words[together];
      } out;
      const u32 filter = in.filters[i / slots];
      TILEHASH_UNROLL
      for (u32 k = 0; k < together; ++k) {
        const word w = in.words[i + k];
        const u32 s = (i + k) % slots;
        const u32 bits = s < 8 ? filter >> (s * slot_type::filter_bits) & 7 : 0;
        after += !slot::is_free(w);
        out.words[k] = static_cast<table_word>(in.in.in_table(w) | static_cast<table_word>(bits)
                                                                       << slot_type::filter_shift);
      }
      *reinterpret_cast<some*>(home + i) = out;
    }
    if (after != before) fetch_add(numbers + layout::change, after - before);  // modulo 2^32, as is its sum
    block.barrier();
    if (me == 0) fetch_add(build.inserted, static_cast<u64>(u32(numbers[layout::change])));
  }

 private:
  TILEHASH_FN static slot slot_for(const Build& of, [[maybe_unused]] u32 region,
                                   [[maybe_unused]] const bin_type& bin,
                                   [[maybe_unused]] const entries_type& entries) {
    if constexpr (!keeps_first)
      return {of.design, {}, entries};
    else if constexpr (is_exact)
      return {of.design, of.bins.items_of(of.design.route().first_of(region)), bin};
    else
      return {of.design, of.bins.items_of(of.design.route().first_of(region)), entries};
  }

  // The region as it is in the table.
  TILEHASH_FN void fetch_region() {
    const auto hashes = build.design.hashes_in(region);
    u32 found = 0;
    fetch_words<together>(home, buckets * slots, me, all, [&](u32 first, const table_word* held) {
      u32 bits = 0;
      TILEHASH_UNROLL
      for (u32 k = 0; k < together; ++k) {
        const u32 i = first + k;
        const bool taken = !slot_type::is_free(held[k]);
        in.words[i] =
            taken ? in.in.from_table(hashes, i / slots, held[k], numbers + layout::numbered) : word(0);
        bits |= static_cast<u32>((held[k] & slot_type::filter_mask) >> slot_type::filter_shift)
                << (i % slots % 8 * slot_type::filter_bits);
        found += taken;
      }
      if (bits != 0) set_bits(in.filters + first / slots, bits);
    });
    before = found;
  }
  // The i-th item of the bin takes a slot of its first bucket, or is listed.
  TILEHASH_FN void place_in_first_bucket(u32 i, const table_word& e) {
    if constexpr (!is_exact) {
      i += in.in.held;
      if (i >= Build::most_numbers(buckets)) return build.spill.add(in.in.entries.routed_as(e));
      entries[i] = e;
    }
    const location p = build.design.location_of(in.in.entries.hash_of(e));
    // With its filter bit set, the key may be present in its second bucket.
    const bool waits = build.merges && in.has_bit(p.bucket, build.design.filter_index(p.stored));
    const u32 s = waits ? slots : fetch_add(in.counts + p.bucket, u32(1));
    if (s < slots) {
      in.words[p.bucket * slots + s] = in.in.make(p.stored, e, i);
    } else if constexpr (keeps_first) {
      const u32 at = fetch_add(numbers + layout::listed, u32(1));
      if (at < memory.list.size) list[at] = static_cast<listed_item>(i);
    } else {
      append(list, layout::listed, memory.list.size, i, in.in.entries.routed_as(e));
    }
  }
  // Puts a listed item into its first or second bucket, unless its key is present; else it is unplaced.
  TILEHASH_FN void place_in_either_bucket(u32 number, const table_word& e) {
    const location p = build.design.location_of(in.in.entries.hash_of(e));
    location second = p;
    build.design.turn(second);
    const u32 bit = build.design.filter_index(p.stored);
    if (build.merges && in.has_bit(p.bucket, bit) &&
        in.match_key(in.read(second.bucket), in.in.make(second.stored, e, number)) != 0)
      return;
    outcome o = in.put(p.bucket, in.in.make(p.stored, e, number));
    if (o == outcome::refused) {
      set_bits(in.filters + p.bucket, 1U << bit);
      o = in.put(second.bucket, in.in.make(second.stored, e, number));
    }
    if (o == outcome::refused)
      append(unplaced_items, layout::unplaced, memory.unplaced_items.size, slot::handle(e, number),
             in.in.entries.routed_as(e));
  }
  // Puts an item on a list, or spills it when the list is full.
  template <class List, class Item>
  TILEHASH_FN void append(List to, u32 length, u32 capacity, Item item, const table_word& e) const {
    const u32 at = fetch_add(numbers + length, u32(1));
    if (at < capacity)
      to[at] = item;
    else
      build.spill.add(e);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
