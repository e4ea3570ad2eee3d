// SPDX-License-Identifier: Apache-2.0
// Finds where runs of equal keys begin in a sorted list.
//
//   sorted    | 4 4 4 7 | 7 7 19 | 19 20 |       a block serves a share
//   counts    | 2       | 1      | 1     |       the runs that begin in it; summed, the number of the first
//   keys      | 4 7 19 20 |
//   starts    | 0 3 6 8 |
//
// One pass counts; a second one, after the scan, writes. Each reads the list once, with coalesced accesses.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Word, class Key, class Offset, u32 Threads, u32 PerThread>
struct find_runs {
  using sums = detail::block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = Threads * PerThread;
  static constexpr u32 group = sums::group;
  static constexpr u64 scratch_bytes = sums::words * sizeof(u32);

  const Word* sorted;
  u64 n;
  Offset* counts;
  Key* keys;  // null in the pass that counts
  Offset* starts;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto scratch = block.template scratch<u32>();
    const auto t = block.template tile<group>();
    const u32 me = block.rank();
    const u64 first = block.index() * share + me / group * group * PerThread + t.rank();
    u32 begins[PerThread], mine = 0, all = 0;  // a bit for each lane of the group
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u64 i = first + static_cast<u64>(k) * group;
      begins[k] = t.ballot(i < n && (i == 0 || sorted[i] != sorted[i - 1]));
      mine += detail::count_ones(begins[k]);
    }
    const u32 before = t.broadcast(sums::before(block, scratch, t.rank() == 0 ? mine : 0, all), 0);
    if (keys == nullptr) {
      if (me == 0) counts[block.index()] = static_cast<Offset>(all);
      return;
    }
    u64 run = counts[block.index()] + before;
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u64 i = first + static_cast<u64>(k) * group;
      if ((begins[k] >> t.rank() & 1) != 0) {
        const u64 r = run + detail::count_ones(begins[k] & ((1U << t.rank()) - 1));
        keys[r] = detail::key_from_bits<Key>(sorted[i]);
        starts[r] = static_cast<Offset>(i);
      }
      run += detail::count_ones(begins[k]);
    }
  }
};

template <class Space, class Word, class Key, class Offset>
using find_runs_in =
    find_runs<Word, Key, Offset, tuning::of<Space>::runs_block, tuning::of<Space>::runs_items>;

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
