// SPDX-License-Identifier: Apache-2.0
// The kernel of a join by regions (algorithm/region_join.hpp): a block counts or writes the rows of a region,
// or does both at once.
#pragma once

#include <tilehash/algorithm/bins.hpp>
#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/join_options.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The work on a region's rows.
enum class join_pass {
  count,
  write,            // at the positions that the counts give
  count_and_write,  // behind the rows of other regions, while the output has capacity
};

// A block's loop over rows by groups of lanes that stay together, so that use() may call collectives. Calls
// use(from, words). A lane's k-th word is that of row from + k * Tile::width + t.rank(), if that is below n.
template <u32 OfALane, u32 Threads, class Tile, class Word, class Use>
TILEHASH_FN void for_each_row_by_groups(Tile t, u32 rank, const Word* rows, u32 n, const Use& use) {
  constexpr u32 group = Tile::width;
  for (u32 from = rank / group * group * OfALane; from < n; from += Threads * OfALane) {
    Word w[OfALane];
    TILEHASH_UNROLL
    for (u32 k = 0; k < OfALane; ++k) {
      const u32 i = from + k * group + t.rank();
      w[k] = rows[i < n ? i : 0];
    }
    use(from, w);
  }
}

template <class Slot, u32 Threads, join_pass Pass>
struct join_regions {
  using word = typename Slot::word;
  using key_bits = typename Slot::key_bits;
  using row = routed_item<Slot>;
  using sums = block_sums<Threads>;
  using machine = tuning::of_block<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 longest = machine::joined_list;  // that a left row walks
  static constexpr bool writes = Pass != join_pass::count, counts_too = Pass != join_pass::write;
  // Requests that a thread has in flight; left rows that it walks for, and reserves output for, at once.
  static constexpr u32 at_once = machine::joined_at_once(sizeof(word));
  static constexpr u32 of_a_lane = machine::joined_rows(sizeof(word));

  hash_route<Slot> way;
  uneven_bins<word> left, right;
  u32 capacity;   // right rows that the scratch can hold
  u32 lists;      // of a region
  u32 most_left;  // rows that one block may walk for
  join_kind kind;
  u64* counts;  // rows of each region; for join_pass::write, where its next ones go
  u32* heavy;   // 1: a region that is left out
  join_output out;
  u64* next;         // for count_and_write: where the next rows of any region go,
  u64 out_capacity;  // and how many fit

  // Scratch: the right rows in order; the count of each list, later its end; the threads' sums; a flag. One
  // in 33 counts is unused, so that the threads of a warp, which add up neighbours, access different banks.
  TILEHASH_FN static constexpr u32 padded(u32 l) { return l + (l >> 5); }
  static constexpr u64 scratch_bytes(u32 capacity, u32 lists) {
    return capacity * sizeof(word) + (padded(lists) + sums::words + 2) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), region = static_cast<u32>(block.index());
    const u32 rights = right.fill[region], lefts = left.fill[region];
    if (counts_too ? rights > capacity || lefts > most_left : heavy[region] != 0) {
      if (counts_too && me == 0) leave_out(region);
      return;
    }
    const auto sorted = block.template scratch<word>();
    const auto ends = block.template scratch<u32>(capacity * sizeof(word));
    const auto total = ends + padded(lists) + 1, flag = total + sums::words;

    for (u32 i = me; i < padded(lists) + 1; i += Threads) ends[i] = 0;
    if (me == 0) flag[0] = 0;
    block.barrier();
    for_each_right(block, [&](word w) { fetch_add(ends + padded(list_of(w)), u32(1)); });
    block.barrier();
    const u32 each = (lists + Threads - 1) / Threads, first = me * each < lists ? me * each : lists;
    const u32 last = first + each < lists ? first + each : lists;
    u32 mine = 0, all = 0, longest_here = 0;
    for (u32 l = first; l < last; ++l) {
      const u32 count = ends[padded(l)];
      mine += count;
      longest_here = count > longest_here ? count : longest_here;
    }
    if (longest_here > longest) fetch_add(flag, u32(1));
    u32 start = sums::before(block, total, mine, all);
    for (u32 l = first; l < last; ++l) {
      const u32 count = ends[padded(l)];
      ends[padded(l)] = start;
      start += count;
    }
    block.barrier();
    if (u32(flag[0]) != 0) {  // in all threads alike
      if (me == 0) leave_out(region);
      return;
    }
    for_each_right(block, [&](word w) { sorted[fetch_add(ends + padded(list_of(w)), u32(1))] = w; });
    block.barrier();
    const u32 counted = walk(block, region, lefts, sorted, ends);
    if constexpr (counts_too) {
      u32 of_all = 0;
      sums::before(block, total, counted, of_all);
      if (me == 0) {
        counts[region] = of_all;
        heavy[region] = 0;
      }
    }
  }

 private:
  TILEHASH_FN void leave_out(u32 region) const {
    counts[region] = 0;
    heavy[region] = 1;
  }
  TILEHASH_FN u32 list_of(word w) const {
    return hashed_buckets<Slot>::scale(way.within(row::hash_of(w)), lists);
  }
  template <class Block, class Use>
  TILEHASH_FN void for_each_right(Block block, const Use& use) const {
    const u32 region = static_cast<u32>(block.index());
    fetch_items<at_once>(right.at(region), right.fill[region], block.rank(), Threads,
                         [&](u32, word w) { use(w); });
  }

  // The list that contains a left row's matches.
  template <class Words, class Ends>
  struct met {
    Words sorted;
    u32 begin, end;
    TILEHASH_FN met(const join_regions& of, Words words, Ends ends, word w)
        : sorted(words), begin(0), end(0) {
      const u32 list = of.list_of(w);
      if (list != 0) begin = ends[padded(list - 1)];
      end = ends[padded(list)];
    }
    TILEHASH_FN u32 count(key_bits hash) const {
      u32 n = 0;
      for (u32 r = begin; r < end; ++r) n += row::hash_of(sorted[r]) == hash;
      return n;
    }
  };
  // Returns how many rows this thread's left rows have.
  template <class Block, class Words, class Ends>
  TILEHASH_FN u32 walk(Block block, u32 region, u32 lefts, Words sorted, Ends ends) const {
    constexpr u32 group = sums::group;
    const auto t = block.template tile<group>();
    u32 counted = 0;
    const auto join = [&](u32 from, const word(&w)[of_a_lane]) {
      u32 rows[of_a_lane];
      TILEHASH_UNROLL
      for (u32 k = 0; k < of_a_lane; ++k) {
        rows[k] = 0;
        if (from + k * group + t.rank() < lefts)
          rows[k] = static_cast<u32>(
              joined_rows(kind, met<Words, Ends>(*this, sorted, ends, w[k]).count(row::hash_of(w[k]))));
        counted += rows[k];
      }
      if constexpr (writes) {
        u32 at[of_a_lane], of_group = 0;
        TILEHASH_UNROLL
        for (u32 k = 0; k < of_a_lane; ++k) {
          const u32 up_to = sums::up_to(t, rows[k]);
          at[k] = of_group + up_to - rows[k];
          of_group += t.broadcast(up_to, group - 1);
        }
        u64 base = 0;
        if (t.rank() == 0 && of_group != 0)
          base = fetch_add(counts_too ? next : counts + region, static_cast<u64>(of_group));
        base = t.broadcast(base, 0);
        if (counts_too && base + of_group > out_capacity) return;  // (all lanes of the group)
        TILEHASH_UNROLL
        for (u32 k = 0; k < of_a_lane; ++k) put(w[k], rows[k], base + at[k], sorted, ends);
      }
    };
    for_each_row_by_groups<of_a_lane, Threads>(t, block.rank(), left.at(region), lefts, join);
    return counted;
  }
  // Writes the rows of a left row.
  template <class Words, class Ends>
  TILEHASH_FN void put(word w, u32 rows, u64 to, Words sorted, Ends ends) const {
    if (rows == 0) return;
    const met<Words, Ends> list(*this, sorted, ends, w);
    const u32 number = static_cast<u32>(row::value_of(w));
    const key_bits hash = row::hash_of(w);
    const u64 end = to + rows;
    if (has_right_rows(kind)) {
      for (u32 r = list.begin; r < list.end; ++r) {
        const word x = sorted[r];
        if (row::hash_of(x) == hash) out.put(to++, number, static_cast<u32>(row::value_of(x)));
      }
    }
    if (to != end) out.put(to, number, no_match);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
