// SPDX-License-Identifier: Apache-2.0
// Parts of block kernels: the layout of their scratch, reads of several items at once, sums over the threads,
// and a bucket in scratch.
#pragma once

#include <type_traits>
#include <utility>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// ---- layout ----
//
// The layout of a block's scratch memory: arrays one after the other, each aligned for its elements.
//
// A block kernel lists its arrays in a struct. The host calls bytes(), and a block takes the arrays:
//
//   template <class Offset = u32>
//   struct layout {
//     scratch_array<u64, Offset> words;
//     scratch_array<u32, Offset> counts;
//
//     TILEHASH_FN constexpr explicit layout(Offset buckets) : words(8 * buckets), counts(words, buckets) {}
//     TILEHASH_FN constexpr Offset bytes() const { return counts.end(); }
//   };
//   static constexpr u64 scratch_bytes(u64 buckets) { return layout<u64>(buckets).bytes(); }
//   const auto counts = layout<>(buckets).counts.in(block);
//
// A block calculates in 32 bits, which is faster on a GPU and enough for a scratch. The host calculates in 64
// bits, because it does not yet know whether the scratch is large enough.

template <class T, class Offset = u32>
struct scratch_array {
  Offset at;    // first byte
  Offset size;  // elements

  // The first array of a layout.
  TILEHASH_FN constexpr explicit scratch_array(Offset elements) : at(0), size(elements) {}
  // The array after another one.
  template <class Before>
  TILEHASH_FN constexpr scratch_array(const scratch_array<Before, Offset>& before, Offset elements)
      : at(begin_after(before)), size(elements) {}

  TILEHASH_FN constexpr Offset end() const { return at + size * Offset(sizeof(T)); }

  // The elements: a pointer, or the space's substitute for one.
  template <class Block>
  TILEHASH_FN auto in(const Block& block) const {
    return block.template scratch<T>(at);
  }

 private:
  // Rounds up only where the element types do not imply that the end is aligned.
  template <class Before>
  TILEHASH_FN static constexpr Offset begin_after(const scratch_array<Before, Offset>& before) {
    if constexpr (alignof(Before) % alignof(T) == 0)
      return before.end();
    else
      return (before.end() + Offset(alignof(T) - 1)) / Offset(alignof(T)) * Offset(alignof(T));
  }
};

// The type of scratch_array<T>::in(block).
template <class T, class Block>
using scratch_in = decltype(std::declval<const Block&>().template scratch<T>());

// ---- reads ----
//
// Reads an array with all threads of a block. Each thread requests several elements before it uses the first,
// so that its requests to memory overlap.

#if defined(__GNUC__) && !defined(__clang__)  // g++ 13 does not see that both loops ask the same
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

// Calls use(i, from[i]) for each i < n that is this thread's: `me`, `me` + `all`, ...
template <u32 AtOnce = tuning::here::fetched_at_once, class From, class Use>
TILEHASH_FN void fetch_items(const From& from, u32 n, u32 me, u32 all, const Use& use) {
  for (u32 first = me; first < n; first += AtOnce * all) {
    std::remove_cvref_t<decltype(from[0])> e[AtOnce];
    TILEHASH_UNROLL
    for (u32 k = 0; k < AtOnce; ++k) {
      if (first + k * all < n) e[k] = from[first + k * all];
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < AtOnce; ++k) {
      if (first + k * all < n) use(first + k * all, e[k]);
    }
  }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// Replaces the low half of a word of 8 bytes in a block's scratch, while other threads read the word or do the same.
template <class At>
TILEHASH_FN void replace_low_half(At at, u32 x) {
#if defined(__CUDA_ARCH__)
  store_low_half(at, x);
#else
  for (u64 old = load_relaxed(at);;) {  // repeats when another thread was faster
    const u64 seen = compare_and_swap(at, old, old >> 32 << 32 | x);
    if (seen == old) return;
    old = seen;
  }
#endif
}

// ---- additions ----

#if defined(__CUDA_ARCH__)
template <class Word>
  requires(sizeof(Word) == 8)
__device__ __forceinline__ u32* halves_of(Word* at) {
  return reinterpret_cast<u32*>(at);
}
#endif
// Adds to a word of 8 bytes in a block's scratch. No thread may read the word until a barrier after all adds,
// because each half changes by itself, and the upper one gets the carry. A GPU has no instruction that adds 8
// bytes in shared memory: a compare-and-swap loop takes a round for each lane of a warp that has one address.
template <class At>
TILEHASH_FN void add_by_halves(At at, u64 by) {
  using detail::fetch_add;
  if constexpr (requires { halves_of(at); }) {
    const auto halves = halves_of(at);
    const u32 low = static_cast<u32>(by), before = fetch_add(halves, low);
    const u32 high = static_cast<u32>(by >> 32) + u32(before + low < low);
    if (high != 0) fetch_add(halves + 1, high);
  } else {
    fetch_add(at, static_cast<std::remove_cvref_t<decltype(at[0])>>(by));
  }
}

// ---- sums over the threads of a block ----

// The threads of a block that takes all of a multiprocessor's scratch; a CPU's block is one thread.
template <class Space>
inline constexpr u32 large_block = tuning::of<Space>::large_block;

// For a block of `Threads` threads, a power of two up to 1024. Its scratch is `words` words of 32 bits.
template <u32 Threads>
struct block_sums {
  static constexpr u32 group = Threads < 32 ? Threads : 32, words = Threads / group;
  static_assert(words <= group);

  // Returns the sum of `mine` over the threads before this one, and sets `all` to the sum over all threads.
  // All threads of the block must call it. The scratch is free again after the next barrier.
  template <class Block, class Words>
  TILEHASH_FN static u32 before(Block block, Words scratch, u32 mine, u32& all) {
    const auto t = block.template tile<group>();
    const u32 me = block.rank(), in_group = up_to(t, mine);
    if (t.rank() == group - 1) scratch[me / group] = in_group;
    block.barrier();
    const u32 groups = up_to(t, t.rank() < words ? u32(scratch[t.rank()]) : 0);  // every group for itself
    all = t.broadcast(groups, group - 1);
    const u32 before_group = t.broadcast(groups, me / group != 0 ? me / group - 1 : 0);
    return in_group - mine + (me / group != 0 ? before_group : 0);
  }

  // The sum of x over this lane of a group and the lanes to its left.
  template <class Tile>
  TILEHASH_FN static u32 up_to(Tile t, u32 x) {
    TILEHASH_UNROLL
    for (u32 by = 1; by < group; by *= 2) {
      const u32 left = t.from_left(x, by);
      if (t.rank() >= by) x += left;
    }
    return x;
  }
};

// ---- buckets ----
//
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

// A thread may read several neighbouring slots by one request, each of them in one access. `turn` is then a multiple
// of their number. That suits a warp whose lanes read any buckets.

template <u32 Together, class Words, class Word>
TILEHASH_FN void load_relaxed_together(Words from, Word* to) {
#if defined(__CUDA_ARCH__)
  if constexpr (Together * sizeof(Word) == 16 && std::is_pointer_v<Words>) {
    const u32 at = static_cast<u32>(__cvta_generic_to_shared(from));
    if constexpr (sizeof(Word) == 4)
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "r"(at)
                   : "memory");
    else
      asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];"
                   : "=l"(to[0]), "=l"(to[1])
                   : "r"(at)
                   : "memory");
  } else
#endif
  {
    TILEHASH_UNROLL
    for (u32 k = 0; k < Together; ++k) to[k] = load_relaxed(from + k);
  }
}

template <class Word, u32 Slots, u32 Together = 1>
struct scratch_bucket {
  Word words[Slots];
  u32 turn;

  TILEHASH_FN static constexpr u32 turn_of(u32 from) { return from % Slots / Together * Together; }
  template <class Words>
  TILEHASH_FN scratch_bucket(Words all, u32 number, u32 from) : turn(turn_of(from)) {
    const u32 first = number * Slots + turn;
    TILEHASH_UNROLL
    for (u32 k = 0; k < Slots; k += Together) load_relaxed_together<Together>(all + (first ^ k), words + k);
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
