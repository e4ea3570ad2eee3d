// SPDX-License-Identifier: Apache-2.0
// The step of a Robin Hood table's bulk build (build.hpp) that sorts each bin's items by their homes.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/designs/robin_hood/plan.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Sorts a bin's items by their homes, and counts these.
template <class Design, u32 Threads>
struct robin_hood_sort {
  using plan_type = robin_hood_plan<Design>;
  using word = typename Design::word;
  using entry = typename plan_type::entry;
  using group = typename plan_type::group;
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads, resident_blocks = tuning::gpu_here::sort_occupancy;
  static constexpr u32 homes_each = group::homes;

  plan_type plan;
  even_bins<word> bins;
  spill_list<word> spill;
  u64* inserted;

  // A gap after every 32 homes keeps threads with several homes each in different banks.
  TILEHASH_FN static constexpr u64 padded(u64 h) { return h + h / 32; }
  template <class Offset = u32>
  struct layout {
    static constexpr Offset sixteen_bytes = 16 / sizeof(word);  // in words
    scratch_array<word, Offset> items;
    scratch_array<u32, Offset> ends;    // of each home: where its items end
    scratch_array<u32, Offset> uneven;  // one number: whether a home has equal keys, or too many items
    scratch_array<u32, Offset> sums_words;

    TILEHASH_FN constexpr layout(Offset capacity, Offset groups)
        : items((capacity + sixteen_bytes - 1) / sixteen_bytes * sixteen_bytes),
          ends(items, static_cast<Offset>(padded(u64(groups) * homes_each))),
          uneven(ends, 1),
          sums_words(uneven, sums::words) {}
    TILEHASH_FN constexpr Offset bytes() const { return sums_words.end(); }
  };
  static constexpr u64 scratch_bytes(u64 capacity, u64 groups) {
    return layout<u64>(capacity, groups).bytes();
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    block_of<Block> work(*this, block);
    work.clear();
    block.barrier();
    work.count_homes();
    block.barrier();
    work.sum_up_homes();
    block.barrier();
    work.sort();
    block.barrier();
    work.write_back();
    block.barrier();
    if (work.is_even())
      work.start_groups();
    else
      work.start_uneven_groups();
  }

 private:
  // One thread's view of a block that sorts its bin. The thread owns some of the homes.
  template <class Block>
  struct block_of {
    const robin_hood_sort& sort_of;
    const Block& block;
    u32 bin, n, me, all, groups;
    word* in_bin;
    scratch_in<word, Block> items;
    scratch_in<u32, Block> ends, uneven, sums_words;
    u32 from, to, first_home, last_home;

    TILEHASH_FN block_of(const robin_hood_sort& s, const Block& b)
        : block_of(s, b, layout<>(s.bins.capacity, s.plan.bin_groups())) {}

    TILEHASH_FN void clear() {
      const u32 homes = static_cast<u32>(padded(u64(groups) * homes_each));
      for (u32 h = me; h < homes; h += all) ends[h] = 0;
      if (me == 0) uneven[0] = 0;
    }
    TILEHASH_FN void count_homes() {
      fetch_items(in_bin, n, me, all,
                  [&](u32 /*i*/, const word& e) { fetch_add(ends + padded(home_of(e)), u32(1)); });
    }
    // Converts each home's number of items to the position where they begin.
    TILEHASH_FN void sum_up_homes() {
      u32 mine = 0, sum = 0;
      for (u32 h = first_home; h < last_home; ++h) mine += u32(ends[padded(h)]);
      u32 start = sums::before(block, sums_words, mine, sum);
      for (u32 h = first_home; h < last_home; ++h) {
        const u32 its = ends[padded(h)];
        ends[padded(h)] = start;
        start += its;
      }
    }
    TILEHASH_FN void sort() {
      fetch_items(in_bin, n, me, all,
                  [&](u32 /*i*/, const word& e) { items[fetch_add(ends + padded(home_of(e)), u32(1))] = e; });
    }
    // Also detects equal keys, and homes with more items than a count can hold.
    TILEHASH_FN void write_back() {
      for (u32 j = me; j < n; j += all) {
        const word e = items[j];
        const u32 begin = begin_of(home_of(e));
        bool odd = j - begin >= group::most;
        for (u32 k = begin; !odd && k < j; ++k) odd = entry::hash_of(items[k]) == entry::hash_of(e);
        if (odd) set_bits(uneven, u32(1));
        in_bin[j] = e;
      }
    }
    TILEHASH_FN bool is_even() const { return uneven[0] == 0; }

    TILEHASH_FN void start_groups() {
      for (u32 nth = me; nth < groups; nth += all) {  // neighbours write neighbouring words
        sort_of.start_group(bin, nth, bin * sort_of.bins.capacity + begin_of(nth * homes_each),
                            [&](u32 h) { return u32(ends[padded(h)]) - begin_of(h); });
      }
      if (me == 0) fetch_add(sort_of.inserted, static_cast<u64>(n));
    }
    // Keeps one of equal keys, and as many items of a home as a count can hold, and rewrites these.
    TILEHASH_FN void start_uneven_groups() {
      const u32 begin = begin_of(first_home);
      u32 kept = 0, sum = 0;
      for (u32 h = first_home, first = begin; h < last_home; ++h) {
        const u32 end = ends[padded(h)];
        kept += sort_of.keep_one_of_each(items, first, end);
        first = end;
      }
      u32 goes_to = sums::before(block, sums_words, kept, sum), first = begin;
      for (u32 nth = from; nth < to; ++nth) {
        sort_of.start_group(bin, nth, bin * sort_of.bins.capacity + goes_to, [&](u32 h) {
          const u32 end = ends[padded(h)], its = count_kept(items, first, end);
          for (u32 k = 0; k < its; ++k) in_bin[goes_to + k] = items[first + k];
          goes_to += its, first = end;
          return its;
        });
      }
      if (me == 0) fetch_add(sort_of.inserted, static_cast<u64>(sum));
    }

   private:
    TILEHASH_FN block_of(const robin_hood_sort& s, const Block& b, const layout<>& memory)
        : sort_of(s),
          block(b),
          bin(static_cast<u32>(b.index())),
          n(s.bins.size(bin)),
          me(b.rank()),
          all(b.size()),
          groups(s.plan.bin_groups()),
          in_bin(s.bins.at(bin)),
          items(memory.items.in(b)),
          ends(memory.ends.in(b)),
          uneven(memory.uneven.in(b)),
          sums_words(memory.sums_words.in(b)) {
      const u32 each = (groups - 1) / all + 1;
      from = me * each < groups ? me * each : groups;
      to = groups - from < each ? groups : from + each;
      first_home = from * homes_each, last_home = to * homes_each;
    }
    TILEHASH_FN u32 home_of(const word& e) const { return sort_of.plan.in_bin(entry::hash_of(e)); }
    TILEHASH_FN u32 begin_of(u32 h) const { return h == 0 ? 0 : u32(ends[padded(h - 1)]); }
  };

  // Keeps the first of equal keys among a home's items and closes the gaps; a copy of the first item marks
  // the end. Returns how many stay.
  template <class Items>
  TILEHASH_FN u32 keep_one_of_each(Items items, u32 first, u32 end) const {
    u32 kept = 0;
    for (u32 j = first; j < end; ++j) {
      const word e = items[j];
      bool known = false;
      for (u32 k = 0; k < kept; ++k) known |= entry::hash_of(items[first + k]) == entry::hash_of(e);
      if (known) continue;
      if (kept < group::most)
        items[first + kept++] = e;
      else
        spill.add(e);
    }
    if (first + kept < end) items[first + kept] = items[first];
    return kept;
  }
  template <class Items>
  TILEHASH_FN static u32 count_kept(Items items, u32 first, u32 end) {
    u32 kept = first < end;
    while (first + kept < end && entry::hash_of(items[first + kept]) != entry::hash_of(items[first])) ++kept;
    return kept;
  }
  // Starts a group of a bin, whose items begin at `at`. Each home gets its first slots: no other home asks
  // for these at age 1.
  template <class Number>
  TILEHASH_FN void start_group(u32 bin, u32 nth, u32 at, const Number& number_of) const {
    const u64 g = plan.group_of(bin, nth);
    if (g >= plan.groups) return;
    u32 number = 0, ages = 0, waiting = 0;
    TILEHASH_UNROLL
    for (u32 h = 0; h < homes_each; ++h) {
      const u32 its = number_of(nth * homes_each + h);
      const u32 there = its < Design::bucket_slots ? its : Design::bucket_slots;
      const u32 by = h * group::bits % 32, slots = static_cast<u32>((u64(1) << there * group::age_bits) - 1);
      number |= its << by, waiting |= (its - there) << by, ages |= (group::each_slot & slots) << by;
    }
    plan.keys()[g] = {number, at};
    plan.ages().words[g] = ages;
    plan.waiting().words[g] = waiting;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
