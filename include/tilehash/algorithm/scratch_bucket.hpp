// A bucket in a block's scratch, as one thread reads it: the thread requests all words before it uses the
// first. Neighbouring buckets are read from different slots on, so that the reads of a GPU's warp use
// different banks of its shared memory:
//
//   bucket 0   words[0..7] are slots  0 1 2 3 4 5 6 7
//   bucket 1                          1 0 3 2 5 4 7 6       words[k] is slot k ^ turn
//   bucket 2                          2 3 0 1 6 7 4 5
//
// A bucket may have a count of its slots that are taken or promised: an item that is promised a slot finds a
// free one. A count may be too high until an item that came too late gives back; it is never too low.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

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
  // The words that pass test(word): bit k is words[k].
  template <class Test>
  TILEHASH_FN u32 match_if(const Test& test) const {
    u32 mask = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < Slots; ++k) mask |= u32(test(words[k])) << k;
    return mask;
  }
  TILEHASH_FN u32 lowest_slot(u32 mask) const { return lowest(mask) ^ turn; }
  // The same mask by slots: bit s is slot s.
  TILEHASH_FN u32 by_slots(u32 mask) const {
    TILEHASH_UNROLL
    for (u32 pairs = 1; pairs < Slots; pairs *= 2) {
      const u32 low = ~u32(0) / ((1U << pairs) + 1);  // every second group of so many bits
      if ((turn & pairs) != 0) mask = (mask & low) << pairs | (mask >> pairs & low);
    }
    return mask;
  }

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

// Fetches n words of the table (whole buckets) with all threads of a block. A thread requests several runs of
// words before it uses the first. use(i, words) has `Together` words from the i-th on.
template <u32 Together, class Word, class Use>
TILEHASH_FN void fetch_words(const Word* from, u32 n, u32 me, u32 all, const Use& use) {
  struct alignas(Together * sizeof(Word)) some {
    Word words[Together];
  };
  constexpr u32 at_once = tuning::here::fetched_at_once;
  const u32 runs = n / Together;
  for (u32 first = me; first < runs; first += at_once * all) {
    some fetched[at_once] = {};
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      if (first + k * all < runs) fetched[k] = reinterpret_cast<const some*>(from)[first + k * all];
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      if (first + k * all < runs) use((first + k * all) * Together, fetched[k].words);
    }
  }
}

// ... and writes them back.
template <u32 Together, class Words, class Word>
TILEHASH_FN void put_words(Words words, u32 n, u32 me, u32 all, Word* to) {
  struct alignas(Together * sizeof(Word)) some {
    Word words[Together];
  };
  for (u32 i = me * Together; i < n; i += all * Together) {
    some out;
    TILEHASH_UNROLL
    for (u32 k = 0; k < Together; ++k) out.words[k] = words[i + k];
    *reinterpret_cast<some*>(to + i) = out;
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
