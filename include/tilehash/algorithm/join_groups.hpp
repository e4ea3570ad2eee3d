// SPDX-License-Identifier: Apache-2.0
// The kernel of a join by regions whose right keys repeat (algorithm/region_join.hpp). A block groups the
// right rows of a region by key, and counts or writes the rows of its left rows.
//
//   a block's scratch   hashes    |   | b |   | a | c |   |    a set of the region's right keys
//                       ends      | 0 | 1 | 1 | 4 | 6 | 6 |    of each key's right rows; counts, if that is all
//                       numbers   | 9 | 3 1 2 | 5 4 |          of the right rows, by key
//
//   a group of lanes    rows      | 3 | 0 | 2 | 2 |            of each lane's left row
//                       writes      0 0 0 2 | 2 3 3            neighbouring lanes write neighbouring rows
//
// A left row takes one lookup, however many rows it gives. A region is left out if a key is so frequent that
// its block would write much longer than others.
#pragma once

#include <utility>

#include <tilehash/algorithm/bins.hpp>
#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/algorithm/join_regions.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/join_options.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Pass: join_pass::count or join_pass::write.
template <class Slot, u32 Threads, join_pass Pass>
struct join_groups {
  using word = typename Slot::word;
  using key_bits = typename Slot::key_bits;
  using row = routed_item<Slot>;
  using sums = block_sums<Threads>;
  using machine = tuning::of_block<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 group = sums::group;
  static constexpr bool writes = Pass == join_pass::write;
  static constexpr u32 at_once = machine::joined_at_once(sizeof(word));
  static constexpr u32 of_a_lane = machine::joined_groups_rows(sizeof(word));
  static constexpr u32 most_steps = 128;  // of a key's probe sequence, or the region is left out

  hash_route<Slot> way;  // of two regions or more
  uneven_bins<word> left, right;
  u32 capacity;   // right rows that the scratch can hold
  u32 slots;      // of the set
  u32 most_left;  // rows that one block may look up
  u64 most_rows;  // and write
  join_kind kind;
  u64* counts;  // rows of each region; for join_pass::write, where its next ones go
  u32* heavy;   // 1: a region that is left out
  join_output out;

  // One in 33 ends is unused, so that the threads of a warp, which add up neighbours, access different banks.
  TILEHASH_FN static constexpr u32 padded(u32 s) { return s + (s >> 5); }
  static constexpr u64 scratch_bytes(u64 capacity, u64 slots) {
    return slots * sizeof(key_bits) + (capacity + slots + slots / 32 + sums::words + 3) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), region = static_cast<u32>(block.index());
    const u32 lefts = left.fill[region];
    if (writes ? heavy[region] != 0 : right.fill[region] > capacity || lefts > most_left) {
      if (!writes && me == 0) leave_out(region);
      return;
    }
    const scratch_of<Block> in(block, *this, region);
    for (u32 s = me; s < slots; s += Threads) in.set[s] = in.free;
    for (u32 s = me; s < padded(slots) + 1; s += Threads) in.ends[s] = 0;
    if (me == 0) in.flag[0] = 0;
    block.barrier();
    for_each_right(block, [&](word w) {
      const u32 slot = claim(in, row::hash_of(w));
      if (slot != slots)
        fetch_add(in.ends + padded(slot), u32(1));
      else
        fetch_add(in.flag, u32(1));
    });
    block.barrier();
    add_up(block, in, lefts);
    block.barrier();
    if (u32(in.flag[0]) != 0) {  // in all threads alike, and not where the rows are written
      if (me == 0) leave_out(region);
      return;
    }
    if constexpr (writes) {
      for_each_right(block, [&](word w) {
        const u32 slot = find(in, row::hash_of(w));
        in.numbers[fetch_add(in.ends + padded(slot), u32(1))] = static_cast<u32>(row::value_of(w));
      });
      block.barrier();
    }
    const u32 counted = walk(block, in, region, lefts);
    if constexpr (!writes) {
      u32 of_all = 0;
      sums::before(block, in.sums_of_threads, counted, of_all);
      if (me == 0) {
        counts[region] = of_all;
        heavy[region] = 0;
      }
    }
  }

 private:
  template <class Block>
  struct scratch_of {
    scratch_in<key_bits, Block> set;
    scratch_in<u32, Block> ends, sums_of_threads, flag, numbers;
    key_bits free;  // in the set: no hash of this region

    TILEHASH_FN scratch_of(Block block, const join_groups& of, u32 region)
        : set(block.template scratch<key_bits>()),
          ends(block.template scratch<u32>(of.slots * sizeof(key_bits))),
          sums_of_threads(ends + padded(of.slots) + 1),
          flag(sums_of_threads + sums::words),
          numbers(flag + 1),
          free(region == 0 ? static_cast<key_bits>(~key_bits(0)) : key_bits(0)) {}
  };

  TILEHASH_FN void leave_out(u32 region) const {
    counts[region] = 0;
    heavy[region] = 1;
  }
  template <class Block, class Use>
  TILEHASH_FN void for_each_right(Block block, const Use& use) const {
    const u32 region = static_cast<u32>(block.index());
    fetch_items<at_once>(right.at(region), right.fill[region], block.rank(), Threads,
                         [&](u32, word w) { use(w); });
  }
  TILEHASH_FN u32 slot_of(key_bits hash) const {
    return hashed_buckets<Slot>::scale(way.within(hash), slots);
  }
  TILEHASH_FN u32 next(u32 slot) const { return slot + 1 == slots ? 0 : slot + 1; }
  // Finds a key's slot or takes a free one. Returns `slots` after too many steps. (Where rows are written, all
  // keys have slots: they had them where the rows were counted.)
  template <class Scratch>
  TILEHASH_FN u32 claim(const Scratch& in, key_bits hash) const {
    const u32 most = writes ? slots : most_steps;
    u32 slot = slot_of(hash);
    for (u32 steps = 0; steps < most; ++steps) {
      key_bits met = load_relaxed(in.set + slot);
      if (met == in.free) met = compare_and_swap(in.set + slot, in.free, hash);
      if (met == hash || met == in.free) return slot;
      slot = next(slot);
    }
    return slots;
  }
  // Finds a key's slot. Returns `slots` if it is absent.
  template <class Scratch>
  TILEHASH_FN u32 find(const Scratch& in, key_bits hash) const {
    u32 slot = slot_of(hash);
    for (u32 steps = 0; steps < slots; ++steps) {
      const key_bits met = in.set[slot];
      if (met == hash) return slot;
      if (met == in.free) return slots;
      slot = next(slot);
    }
    return slots;
  }
  // Turns the counts into starts, if rows are written; otherwise checks how frequent the keys are.
  template <class Block>
  TILEHASH_FN void add_up(Block block, const scratch_of<Block>& in, u32 lefts) const {
    const u32 me = block.rank(), each = (slots + Threads - 1) / Threads;
    const u32 first = me * each < slots ? me * each : slots;
    const u32 last = first + each < slots ? first + each : slots;
    u32 mine = 0, all = 0;
    for (u32 s = first; s < last; ++s) {
      const u32 count = in.ends[padded(s)];
      mine = writes ? mine + count : mine < count ? count : mine;
    }
    if constexpr (writes) {
      u32 start = sums::before(block, in.sums_of_threads, mine, all);
      for (u32 s = first; s < last; ++s) {
        const u32 count = in.ends[padded(s)];
        in.ends[padded(s)] = start;
        start += count;
      }
    } else {
      if (static_cast<u64>(mine) * lefts > most_rows) fetch_add(in.flag, u32(1));
    }
  }

  // The right rows of a left one.
  struct matches {
    u32 begin = 0, count = 0;
  };
  template <class Scratch>
  TILEHASH_FN matches matches_of(const Scratch& in, key_bits hash) const {
    const u32 slot = find(in, hash);
    if (slot == slots) return {};
    const u32 end = in.ends[padded(slot)];
    if constexpr (!writes) return {0, end};
    const u32 begin = slot == 0 ? 0 : u32(in.ends[padded(slot - 1)]);
    return {begin, end - begin};
  }
  // Returns how many rows this thread's left rows have.
  template <class Block>
  TILEHASH_FN u32 walk(Block block, const scratch_of<Block>& in, u32 region, u32 lefts) const {
    const auto t = block.template tile<group>();
    u32 counted = 0;
    const auto join = [&](u32 from, const word(&w)[of_a_lane]) {
      matches met[of_a_lane];
      u32 rows[of_a_lane];
      TILEHASH_UNROLL
      for (u32 k = 0; k < of_a_lane; ++k) {
        rows[k] = 0;
        if (from + k * group + t.rank() < lefts) {
          met[k] = matches_of(in, row::hash_of(w[k]));
          rows[k] = static_cast<u32>(joined_rows(kind, met[k].count));
        }
        counted += rows[k];
      }
      if constexpr (writes) {
        u32 up_to[of_a_lane], all = 0;
        TILEHASH_UNROLL
        for (u32 k = 0; k < of_a_lane; ++k) {
          up_to[k] = sums::up_to(t, rows[k]);
          all += t.broadcast(up_to[k], group - 1);
        }
        u64 base = 0;
        if (t.rank() == 0 && all != 0) base = fetch_add(counts + region, static_cast<u64>(all));
        base = t.broadcast(base, 0);
        TILEHASH_UNROLL
        for (u32 k = 0; k < of_a_lane; ++k)
          base += put(t, in, static_cast<u32>(row::value_of(w[k])), met[k], rows[k], up_to[k], base);
      }
    };
    for_each_row_by_groups<of_a_lane, Threads>(t, block.rank(), left.at(region), lefts, join);
    return counted;
  }
  // Writes the rows of a group's left rows from `base` on; up_to is their number up to this lane's. Returns the
  // number of them all.
  template <class Tile, class Scratch>
  TILEHASH_FN u32 put(Tile t, const Scratch& in, u32 number, const matches& met, u32 rows, u32 up_to,
                      u64 base) const {
    const u32 all = t.broadcast(up_to, group - 1);
    const u32 shift = met.begin - (up_to - rows);  // from a row's number here to that of its right row
    for (u32 first = 0; first < all; first += group) {
      const u32 i = first + t.rank();
      u32 lane = 0;  // whose row it is: so many lanes have all their rows before it
      TILEHASH_UNROLL
      for (u32 step = group / 2; step != 0; step /= 2)
        if (from_lane(t, up_to, lane + step - 1) <= i) lane += step;
      const u32 its_number = from_lane(t, number, lane), right_at = from_lane(t, shift, lane) + i;
      const bool matched = from_lane(t, met.count, lane) != 0;
      if (i >= all) continue;
      u32 right_number = no_match;
      if (matched && has_right_rows(kind)) right_number = in.numbers[right_at];
      out.put(base + i, its_number, right_number);
    }
    return all;
  }
  template <class Tile>
  TILEHASH_FN static u32 from_lane(Tile t, u32 x, u32 lane) {
    return t.from_left(x, (t.rank() + group - lane) % group);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
