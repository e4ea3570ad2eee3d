// The step of a Robin Hood table's bulk build (build.hpp) that sorts each bin's items by their homes.
#pragma once

#include <tilehash/algorithm/block_scan.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/designs/robin_hood/plan.hpp>

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
  static constexpr u32 block_size = Threads, resident_blocks = 3, homes_each = group::homes;

  plan_type plan;
  even_bins<word> bins;
  spill_list<word> spill;
  u64* inserted;

  // Scratch: the items; of each home, where its items end, with a gap after 32 of them, which keeps threads
  // that have some homes each in different banks; and some numbers.
  TILEHASH_FN static constexpr u64 padded(u64 h) { return h + h / 32; }
  static constexpr u64 ends_at(u64 room) { return (room * sizeof(word) + 15) / 16 * 16; }
  static constexpr u64 scratch_bytes(u64 room, u64 groups) {
    return ends_at(room) + (padded(u64(groups) * homes_each) + sums::words + 1) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 bin = static_cast<u32>(block.index()), n = bins.size(bin), me = block.rank(),
              all = block.size();
    const u32 groups = plan.bin_groups(), homes = static_cast<u32>(padded(u64(groups) * homes_each));
    const auto items = block.template scratch<word>();
    const auto ends = block.template scratch<u32>(ends_at(bins.room));
    const auto uneven = ends + homes, scratch = uneven + 1;
    word* const in_bin = bins.at(bin);
    const auto home_of = [&](const word& e) { return plan.in_bin(entry::hash_of(e)); };
    const auto begin_of = [&](u32 h) { return h == 0 ? 0 : u32(ends[padded(h - 1)]); };
    const u32 each = (groups - 1) / all + 1, from = me * each < groups ? me * each : groups;
    const u32 to = groups - from < each ? groups : from + each;
    const u32 first_home = from * homes_each, last_home = to * homes_each;

    for (u32 h = me; h < homes; h += all) ends[h] = 0;
    if (me == 0) uneven[0] = 0;
    block.barrier();
    visit(in_bin, n, me, all, [&](const word& e) { fetch_add(ends + padded(home_of(e)), u32(1)); });
    block.barrier();
    u32 mine = 0, sum = 0;
    for (u32 h = first_home; h < last_home; ++h) mine += u32(ends[padded(h)]);
    u32 start = sums::before(block, scratch, mine, sum);
    for (u32 h = first_home; h < last_home; ++h) {
      const u32 its = ends[padded(h)];
      ends[padded(h)] = start;
      start += its;
    }
    block.barrier();
    visit(in_bin, n, me, all,
          [&](const word& e) { items[fetch_add(ends + padded(home_of(e)), u32(1))] = e; });
    block.barrier();

    // Are there equal keys, or more of a home than can be counted?
    for (u32 j = me; j < n; j += all) {
      const word e = items[j];
      const u32 begin = begin_of(home_of(e));
      bool odd = j - begin >= group::most;
      for (u32 k = begin; !odd && k < j; ++k) odd = entry::hash_of(items[k]) == entry::hash_of(e);
      if (odd) set_bits(uneven, u32(1));
      in_bin[j] = e;
    }
    block.barrier();
    if (uneven[0] == 0) {
      for (u32 nth = me; nth < groups; nth += all) {  // neighbours write neighbouring words
        start_group(bin, nth, bin * bins.room + begin_of(nth * homes_each),
                    [&](u32 h) { return u32(ends[padded(h)]) - begin_of(h); });
      }
      if (me == 0) fetch_add(inserted, static_cast<u64>(n));
      return;
    }
    const u32 begin = begin_of(first_home);
    u32 kept = 0;
    for (u32 h = first_home, first = begin; h < last_home; ++h) {
      const u32 end = ends[padded(h)];
      kept += keep_one_of_each(items, first, end);
      first = end;
    }
    u32 goes_to = sums::before(block, scratch, kept, sum), first = begin;
    for (u32 nth = from; nth < to; ++nth) {
      start_group(bin, nth, bin * bins.room + goes_to, [&](u32 h) {
        const u32 end = ends[padded(h)], its = count_kept(items, first, end);
        for (u32 k = 0; k < its; ++k) in_bin[goes_to + k] = items[first + k];
        goes_to += its, first = end;
        return its;
      });
    }
    if (me == 0) fetch_add(inserted, static_cast<u64>(sum));
  }

 private:
  template <class Use>
  TILEHASH_FN static void visit(const word* items, u32 n, u32 me, u32 all, const Use& use) {
    constexpr u32 at_once = 4;
    for (u32 first = me; first < n; first += at_once * all) {
      word e[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all < n) e[k] = items[first + k * all];
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all < n) use(e[k]);
      }
    }
  }
  // Of equal keys among a home's items the first stays; those that stay close up, and behind them stands the
  // first once more. Gives how many stay.
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
  // A group of a bin, whose items stand from `at` on. All homes have their first slots: nobody
  // else asks for these at age 1.
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
