// A bucket that lies in a block's scratch, as one thread reads it: all its words at once, without waiting for
// one before asking for the next. Neighbouring buckets are read from different slots on, which keeps the
// reads of a GPU's warp in different banks of its shared memory:
//
//   bucket 0   words[0..7] are slots  0 1 2 3 4 5 6 7
//   bucket 1                          1 0 3 2 5 4 7 6       words[k] is slot k ^ turn
//   bucket 2                          2 3 0 1 6 7 4 5
//
// Beside it may stand its count, of the slots that are taken or promised: who is promised a slot finds a free
// one. A count may be too high for a moment, while one who was too late gives back; it is never too low.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

template <class Word, u32 Slots>
struct scratch_bucket {
  Word words[Slots];
  u32 turn;

  template <class Words>
  TILEHASH_FN scratch_bucket(Words all, u32 number, u32 from) : turn(from % Slots) {
    const u32 first = number * Slots + turn;
    TILEHASH_UNROLL
    for (u32 k = 0; k < Slots; ++k) words[k] = load_relaxed(all + (first ^ k));
  }
  // Which pass test(word)? Bit k: words[k].
  template <class Test>
  TILEHASH_FN u32 match_if(const Test& test) const {
    u32 mask = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < Slots; ++k) mask |= u32(test(words[k])) << k;
    return mask;
  }
  TILEHASH_FN u32 lowest_slot(u32 mask) const { return lowest(mask) ^ turn; }

  // Promises a slot of the bucket with this count; false: all are taken or promised.
  template <class Count>
  TILEHASH_FN static bool reserve(Count count) {
    if (load_relaxed(count) >= Slots) return false;
    if (fetch_add(count, u32(1)) < Slots) return true;
    give_back(count);
    return false;
  }
  template <class Count>
  TILEHASH_FN static void give_back(Count count) {
    fetch_add(count, ~u32(0));
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
