// SPDX-License-Identifier: Apache-2.0
// Distributes work on segments of any lengths evenly.
//
//   offsets      | 0 | 2 | 2 | 2 | 9 | 10 |         segment s has positions offsets[s] ... offsets[s + 1] - 1
//   what is done   0 1 ] ] ] 2 3 | 4 5 6 7 8 ] | 9 ]      positions in order; ] is a segment's end
//                  share 0       | share 1     | share 2
//
// A share is a fixed number of positions and ends together. So many short or empty segments cost as much as
// few long ones, and no lane does a long one alone. A binary search finds the start of each share. The ends
// of a share are in the block's scratch; a thread searches its position's segment from that of its last
// position on.
//
// Source: merge path (Odeh, Green et al. 2012), as in the sparse matrix products of Merrill and Garland
// (SC 2016).
#pragma once

#include <tilehash/core/capacity.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/prefetch.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// splits[s]: how many segments end before share s.
template <class Offset>
struct find_splits {
  const Offset* ends;
  u64 segments, positions, share;
  u64* splits;

  TILEHASH_FN void operator()(u64 s) const {
    const u64 done = s * share < segments + positions ? s * share : segments + positions;
    u64 low = done > positions ? done - positions : 0, high = done < segments ? done : segments;
    while (low < high) {
      const u64 middle = low + (high - low) / 2;
      if (ends[middle] <= done - middle - 1)
        low = middle + 1;
      else
        high = middle;
    }
    splits[s] = low;
  }
};

template <class Offset, class Use, u32 Threads, u32 PerThread>
struct walk_shares {
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = Threads * PerThread;

  const Offset* ends;
  u64 segments, positions;
  const u64* splits;
  Use use;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto ends_here = block.template scratch<u32>();
    const u64 from = block.index() * share, left = segments + positions - from;
    const u64 segment = splits[block.index()], at = from - segment;
    const u32 segments_here = static_cast<u32>(splits[block.index() + 1] - segment);
    const u32 positions_here = static_cast<u32>(left < share ? left : share) - segments_here;
    for (u32 r = block.rank(); r < segments_here; r += Threads)
      ends_here[r] = static_cast<u32>(ends[segment + r] - at);
    block.barrier();
    if constexpr (Threads == 1) return walk_in_order(segment, at, segments_here, positions_here, ends_here);
    u32 r = 0;  // segments that end at or before the position
    for (u32 i = block.rank(); i < positions_here; i += Threads) {
      u32 step = 1, high = segments_here;
      while (r + step <= segments_here) {  // first by strides that double
        const u32 end = ends_here[r + step - 1];
        if (end > i) {
          high = r + step - 1;
          break;
        }
        r += step;
        step *= 2;
      }
      while (r < high) {
        const u32 middle = (r + high) / 2, end = ends_here[middle];
        if (end <= i)
          r = middle + 1;
        else
          high = middle;
      }
      use(segment + r, at + i);
    }
  }

 private:
  // One thread needs no search.
  template <class Ends>
  TILEHASH_FN void walk_in_order(u64 segment, u64 at, u32 segments_here, u32 positions_here,
                                 const Ends& ends_here) const {
    u32 i = 0;
    for (u32 r = 0; i < positions_here; ++r) {
      if constexpr (requires { use.prefetch(segment); }) {
        if (segment + r + in_flight < segments) use.prefetch(segment + r + in_flight);
      }
      const u32 end = r < segments_here ? ends_here[r] : positions_here;
      for (; i < end; ++i) use(segment + r, at + i);
    }
  }
};

// Calls use(segment, position) for every position of every segment; offsets has segments + 1 elements. Does
// not synchronize with the host. Throws out_of_memory. Temporary memory: 8 bytes for 4096 positions and ends.
template <class Space, class Offset, class Use>
void for_each_in_segments(Space& space, const Offset* offsets, u64 segments, u64 positions, const Use& use) {
  constexpr u32 threads = tuning::of<Space>::segments_block;
  constexpr u32 each = tuning::of<Space>::segments_share / threads;
  using work = walk_shares<Offset, Use, threads, each>;
  if (positions == 0) return;
  const u64 shares = detail::divide_up(segments + positions, work::share);
  buffer<u64, Space> splits(space, shares + 1);
  space.for_each(shares + 1,
                 find_splits<Offset>{offsets + 1, segments, positions, work::share, splits.data()});
  space.for_each_block(shares, threads, work::share * sizeof(u32),
                       work{offsets + 1, segments, positions, splits.data(), use});
}

// Segments in one array (compressed sparse rows): the start of each and, behind the last, its end.
//
//   counted       | 2 | 0 | 0 | 7 | 1 | . |
//   offsets       | 0 | 2 | 2 | 2 | 9 | 10 |        their sums
//
// The memory is the user's: count + 1 offsets.
template <class Offset>
struct segments {
  Offset* offsets = nullptr;
  u64 count = 0;

  TILEHASH_FN u64 begin(u64 s) const { return offsets[s]; }
  TILEHASH_FN u64 end(u64 s) const { return offsets[s + 1]; }

  // Prepares counting sizes in place of the offsets: offsets[s] is that of segment s.
  template <class Space>
  void start_counting(Space& space) const {
    space.fill(offsets, count + 1, Offset(0));
  }
  // Turns the counted sizes into offsets. Does not synchronize with the host.
  template <class Space>
  void end_counting(Space& space) const {
    set_sizes(space, offsets);
  }
  // The same for count + 1 sizes in another array; the last one does not matter.
  template <class Space>
  void set_sizes(Space& space, const Offset* sizes) const {
    space.exclusive_scan(sizes, offsets, count + 1);
  }
  // The number of all positions. Synchronizes with the host.
  template <class Space>
  u64 positions(Space& space) const {
    return read_one(space, offsets + count);
  }
  // Calls use(segment, position) for all `positions`; see for_each_in_segments().
  template <class Space, class Use>
  void for_each(Space& space, u64 positions, const Use& use) const {
    for_each_in_segments(space, offsets, count, positions, use);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
