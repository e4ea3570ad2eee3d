// SPDX-License-Identifier: Apache-2.0
// Writes the rows of a join from the matches of its left rows, which are segments (algorithm/segments.hpp).
// Row `at` of segment s pairs left row numbers[s] with right row values[begins[s] + at - offsets[s]].
//
// A GPU's thread writes four neighbouring rows with one store of 16 bytes to each side:
//
//   rows       | 0 1 2 3 | 4 5 6 7 | 8 9 10 11 | ...      aligned to 16 bytes in memory
//   segments   | a a a a | a b b b | b b c c   | ...      one search for four rows, and a step at each end
//
// So memory is the limit: 3.0 of the 3.1 TB/s that stores alone reach on an H100 (docs/measured/joins.md).
#pragma once

#include <cstdint>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/segments.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/join_options.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/streaming_store.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The matches of left rows. begins[s] is no_match for a left row without a match.
struct match_segments {
  const u64* offsets;  // one more than segments
  u64 count = 0;
  const u32 *begins, *numbers, *values;  // numbers: null if they are the segments' own
};

// For each row, on a CPU.
struct write_match {
  match_segments from;
  join_output out;
  TILEHASH_FN void operator()(u64 s, u64 at) const {
    const u32 row = from.numbers != nullptr ? from.numbers[s] : static_cast<u32>(s);
    out.put(at, row,
            from.begins[s] == no_match ? no_match : from.values[from.begins[s] + (at - from.offsets[s])]);
  }
};

// For each share of positions and ends, on a GPU.
template <u32 Threads, u32 PerThread>
struct write_matches_of_shares {
  static constexpr u32 block_size = Threads, share = Threads * PerThread;
  static constexpr u32 group = block_sums<Threads>::group;
  static constexpr u32 runs = 2;  // of four rows, that a thread has in flight
  static constexpr u64 scratch_bytes = 2 * sizeof(u64) + (2 * share + 1) * sizeof(u32);
  static_assert(PerThread % (4 * runs) == 0 && Threads >= 2 * group);

  match_segments from;
  u64 positions;
  const u64* splits;  // as find_splits has them; null: a block searches its own
  join_output out;
  bool all_matched;  // no begin is no_match, or there are no right rows

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto split = block.template scratch<u64>();
    const u32 me = block.rank();
    if (splits != nullptr) {
      if (me < 2) split[me] = splits[block.index() + me];
    } else if (me < 2 * group) {
      const u64 segments_before = search(block.template tile<group>(), block.index() + me / group);
      if (me % group == 0) split[me / group] = segments_before;
    }
    block.barrier();
    const u64 segment = split[0], begin = block.index() * share, at = begin - segment;
    const u64 left = from.count + positions - begin;
    const u32 segments_here = static_cast<u32>(split[1] - segment);
    const share_of<scratch_in<u32, Block>> h(block, segment, at, segments_here,
                                             static_cast<u32>(left < share ? left : share) - segments_here);
    for (u32 r = me; r <= h.segments; r += Threads) {
      if (segment + r >= from.count) break;
      if (r < h.segments) h.ends[r] = static_cast<u32>(from.offsets[segment + r + 1] - at);
      // The right row of position i of this share is values[shift + i].
      h.shifts[r] = from.begins[segment + r] - static_cast<u32>(from.offsets[segment + r] - at);
    }
    block.barrier();
    write(h, me);
  }

 private:
  // The share of a block.
  template <class Words>
  struct share_of {
    Words ends, shifts;
    u64 segment, at;          // the first of each
    u32 segments, positions;  // segments that end here

    template <class Block>
    TILEHASH_FN share_of(Block block, u64 s, u64 first, u32 segments_here, u32 positions_here)
        : ends(block.template scratch<u32>(2 * sizeof(u64))),
          shifts(ends + share),
          segment(s),
          at(first),
          segments(segments_here),
          positions(positions_here) {}
    TILEHASH_FN u32 end_of(u32 r) const { return r < segments ? u32(ends[r]) : ~u32(0); }
    // The segment of position i, which is segment r or later.
    TILEHASH_FN u32 find(u32 r, u32 i) const {
      u32 step = 1, high = segments;
      while (r + step <= segments) {  // first by strides that double
        if (u32(ends[r + step - 1]) > i) {
          high = r + step - 1;
          break;
        }
        r += step;
        step *= 2;
      }
      while (r < high) {
        const u32 middle = (r + high) / 2;
        if (u32(ends[middle]) <= i)
          r = middle + 1;
        else
          high = middle;
      }
      return r;
    }
  };
  // How many segments end before share s, as find_splits has it, by all lanes of a group.
  template <class Tile>
  TILEHASH_FN u64 search(Tile t, u64 s) const {
    const u64 all = from.count + positions, done = s * share < all ? s * share : all;
    u64 low = done > positions ? done - positions : 0, high = done < from.count ? done : from.count;
    while (low < high) {  // in all lanes alike
      const u64 step = (high - low) / group + 1, middle = low + t.rank() * step;
      const u32 before = count_ones(t.ballot(middle < high && from.offsets[middle + 1] <= done - middle - 1));
      if (before == 0) break;
      if (low + before * step < high) high = low + before * step;
      low += (before - 1) * step + 1;
    }
    return low;
  }
  // The position of an address in its 16 bytes.
  TILEHASH_FN static u32 skew_of(const u32* p) {
    return static_cast<u32>(reinterpret_cast<std::uintptr_t>(p) / sizeof(u32)) % 4;
  }
  template <class Share>
  TILEHASH_FN u32 number_of(const Share& h, u32 r) const {
    return from.numbers != nullptr ? from.numbers[h.segment + r] : static_cast<u32>(h.segment + r);
  }
  template <class Share>
  TILEHASH_FN void write(const Share& h, u32 me) const {
    u32* const left = out.left + h.at;
    u32* const right = out.right != nullptr ? out.right + h.at : nullptr;
    const u32 skew = skew_of(right != nullptr ? right : left);
    const bool both = skew_of(left) == skew, reads = right != nullptr && from.values != nullptr;
    u32 r = 0;
    for (u32 begin = me * 4; begin < h.positions + skew; begin += runs * Threads * 4) {
      u32 rows[runs][4], others[runs][4];
      TILEHASH_UNROLL
      for (u32 k = 0; k < runs; ++k) {
        const u32 first = begin + k * Threads * 4 - skew;
        u32 at[4] = {};  // among the values
        // (The first run may begin before position 0, so these numbers are large.)
        if (first < h.positions) r = h.find(r, first);
        if (first < h.positions && h.positions - first >= 4 && h.end_of(r) - first >= 4) {
          const u32 number = number_of(h, r), other = all_matched ? 0 : from.begins[h.segment + r];
          TILEHASH_UNROLL
          for (u32 e = 0; e < 4; ++e) {
            rows[k][e] = number;
            others[k][e] = other;
            if (other != no_match) at[e] = u32(h.shifts[r]) + first + e;
          }
        } else {
          TILEHASH_UNROLL
          for (u32 e = 0; e < 4; ++e) {
            rows[k][e] = others[k][e] = 0;
            if (first + e >= h.positions) continue;
            r = h.find(r, first + e);
            rows[k][e] = number_of(h, r);
            others[k][e] = all_matched ? 0 : from.begins[h.segment + r];
            if (others[k][e] != no_match) at[e] = u32(h.shifts[r]) + first + e;
          }
        }
        TILEHASH_UNROLL
        for (u32 e = 0; e < 4; ++e)
          if (reads) others[k][e] = others[k][e] == no_match ? no_match : from.values[at[e]];
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < runs; ++k) {
        const u32 first = begin + k * Threads * 4;
        const bool whole = first >= skew && first + 4 <= h.positions + skew;
        put(left, first - skew, h.positions, whole && both, rows[k]);
        if (right != nullptr) put(right, first - skew, h.positions, whole, others[k]);
      }
    }
  }
  TILEHASH_FN static void put(u32* to, u32 first, u32 end, bool whole, const u32 (&x)[4]) {
    if (whole) {
      store_streaming(to + first, x);
    } else {
      TILEHASH_UNROLL
      for (u32 e = 0; e < 4; ++e)
        if (first + e < end) to[first + e] = x[e];
    }
  }
};

template <u32 Share, class Space>
void write_shares(Space& space, const match_segments& from, u64 positions, join_kind kind,
                  const join_output& out) {
  constexpr u32 threads = tuning::of<Space>::segments_block;
  using work = write_matches_of_shares<threads, Share / threads>;
  if (positions == 0) return;
  const u64 shares = divide_up(from.count + positions, u64(work::share));
  buffer<u64, Space> splits;
  if (shares > tuning::gpu::searched_shares) {  // fewer search while they wait for memory
    splits = buffer<u64, Space>(space, shares + 1);
    space.for_each(shares + 1,
                   find_splits<u64>{from.offsets + 1, from.count, positions, work::share, splits.data()});
  }
  space.for_each_block(shares, threads, work::scratch_bytes,
                       work{from, positions, splits.data(), out, kind != join_kind::left});
}
// Writes `positions` rows. Does not synchronize with the host. Throws out_of_memory. Temporary memory: 8 bytes
// for 4096 rows and segments, if they are many.
template <class Space>
void write_matches(Space& space, const match_segments& from, u64 positions, join_kind kind,
                   const join_output& out) {
  if constexpr (Space::has_lanes) {
    // Few rows have small shares, so that all multiprocessors have some.
    if (from.count + positions <= tuning::gpu::few_matches)
      write_shares<tuning::gpu::few_written_matches>(space, from, positions, kind, out);
    else
      write_shares<tuning::gpu::written_matches>(space, from, positions, kind, out);
  } else {
    for_each_in_segments(space, from.offsets, from.count, positions, write_match{from, out});
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
