// SPDX-License-Identifier: Apache-2.0
// Estimates from a sample how often keys repeat.
#pragma once

#include <cmath>
#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Counts how many of `size` random keys are different. Each block counts those of one part, chosen by their
// hashes, with a set in its scratch. (Two keys whose hashes agree in 31 bits count as one.)
template <class Key, u32 Threads>
struct count_different {
  static constexpr u32 block_size = Threads;
  using machine = tuning::of_block<Threads>;
  static constexpr u32 most = machine::sampled_keys;  // of a part
  static constexpr u32 slots_log2 = machine::sample_slots_log2, slots = 1U << slots_log2;
  static constexpr u64 scratch_bytes = slots * sizeof(u32);
  static constexpr u32 group = detail::block_sums<Threads>::group;

  const Key* keys;
  u32 size;  // `most` or less for each part
  u64* different;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    using detail::compare_and_swap;
    const auto set = block.template scratch<u32>();
    const auto t = block.template tile<group>();
    for (u32 s = block.rank(); s < slots; s += Threads) set[s] = 0;
    block.barrier();
    u32 mine = 0;
    constexpr u32 at_once = machine::sampled_at_once;
    for (u32 first = block.rank(); t.any(first < size); first += at_once * Threads) {
      u64 hashes[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        const u32 i = first + k * Threads;
        hashes[k] = i < size ? detail::hash_key(murmur(), keys[i]) : 0;
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        const u64 hash = hashes[k];
        bool goes_on = first + k * Threads < size && fast_range(rehash(hash), block.count()) == block.index();
        const u32 mark = static_cast<u32>(hash) | 1;
        u32 slot = static_cast<u32>(hash >> (64 - slots_log2));
        for (u32 steps = 0; t.any(goes_on) && steps < slots;
             ++steps) {  // (half of the slots should stay free)
          if (!goes_on) continue;
          const u32 met = compare_and_swap(set + slot, u32(0), mark);
          mine += met == 0;
          goes_on = met != 0 && met != mark;
          slot = (slot + 1) % slots;
        }
      }
    }
    if (mine != 0) detail::fetch_add(different, static_cast<u64>(mine));
  }
};

// All blocks' threads fetch the sample, because so many random reads take two blocks long.
template <class Key>
struct draw_keys {
  const Key* keys;
  u64 n;
  Key* drawn;
  TILEHASH_FN void operator()(u64 i) const { drawn[i] = keys[fast_range(mix64(i), n)]; }
};

// A sample of n keys, and the number of its different keys.
struct key_sample {
  u64 n = 0, size = 0, different = 0;

  // Whether the keys are more uneven than if each came `copies` times, which makes its number in the sample
  // Poisson-distributed. A very frequent key counts much, as it does where the memory for each of many keys
  // must have one size.
  bool more_uneven_than(double copies) const {
    const double times = copies * static_cast<double>(size) / static_cast<double>(n);
    return static_cast<double>(different) * times < static_cast<double>(size) * -std::expm1(-times);
  }
};
// Samples `parts` times 8192 keys, or all. The information about keys that come twice grows with the square
// of the sample. (If a GPU's blocks have too little scratch for it, the result is that all keys are equal.)
// A caller may want fewer.
template <class Space, class Key>
key_sample sample_keys(Space& space, const Key* keys, u64 n, u32 parts = 1, u64 at_most = ~u64(0)) {
  using work = count_different<Key, large_block<Space>>;
  if (work::scratch_bytes > space.largest_scratch()) return {n, n, 1};
  buffer<u64, Space> different(space, 1);
  space.fill(different.data(), 1, u64(0));
  const u64 most = at_most < parts * work::most ? at_most : parts * work::most;
  const u32 size = static_cast<u32>(n < most ? n : most);
  const buffer<Key, Space> drawn(space, size);
  space.for_each(size, draw_keys<Key>{keys, n, drawn.data()});
  space.for_each_block(parts, work::block_size, work::scratch_bytes,
                       work{drawn.data(), size, different.data()});
  return {n, size, read_one(space, different.data())};
}

// The result of a sample of a call's keys, which kernels read: 0 if few keys repeat. Otherwise one more than
// the number of times that the keys can be doubled until they fill a block's slots.
struct repeats_word {
  u32 word = 0;

  TILEHASH_FN bool repeat() const { return word != 0; }
  TILEHASH_FN u32 doublings() const { return word - 1; }
};

// One block samples the keys, and writes a repeats_word. Keys repeat if one in 8 of the sample does.
//
// The number of keys follows from those that the sample has once and twice (Chao, Scand. J. Statist.
// 1984: Nonparametric estimation of the number of classes in a population). It is a lower bound where some
// keys are much more frequent than others.
template <class Key, u32 Threads>
struct sample_repeats {
  static constexpr u32 block_size = Threads;
  using machine = tuning::of_block<Threads>;
  static constexpr u32 sampled = machine::repeats_sampled, each = sampled / Threads;
  static constexpr u32 slots = 2 * sampled;

  const Key* keys;
  u64 n;
  u32 fits;     // keys that leave a block no slots for replicas
  u64 most;     // keys: if there are more, the result is as if few repeated
  u64* length;  // becomes 0
  u32* result;

  // A set of hashes, how often each was sampled, and how many were once, twice, and at all.
  template <class Offset = u32>
  struct layout {
    scratch_array<u32, Offset> marks, counts, numbers;
    TILEHASH_FN constexpr layout() : marks(slots), counts(marks, slots), numbers(counts, 3) {}
  };
  static constexpr u64 scratch_bytes = layout<u64>().numbers.end();

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    using detail::fetch_add;
    const auto marks = layout<>().marks.in(block), counts = layout<>().counts.in(block),
               numbers = layout<>().numbers.in(block);
    u64 hashes[each];
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k)
      hashes[k] = hash_key(murmur(), keys[fast_range(mix64(k * Threads + block.rank() + 1), n)]);
    for (u32 s = block.rank(); s < slots; s += Threads) marks[s] = counts[s] = 0U;
    if (block.rank() < 3) numbers[block.rank()] = 0U;
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) fetch_add(counts + slot_of_hash(marks, hashes[k]), 1U);
    block.barrier();
    u32 mine[3] = {};  // once, twice, all
    for (u32 s = block.rank(); s < slots; s += Threads) {
      const u32 times = counts[s];
      mine[0] += times == 1, mine[1] += times == 2, mine[2] += times != 0;
    }
    for (u32 what = 0; what < 3; ++what) fetch_add(numbers + what, mine[what]);
    block.barrier();
    if (block.rank() != 0) return;
    *length = 0;
    *result = found(numbers[0], numbers[1], numbers[2]).word;
  }

 private:
  // (Two keys whose hashes agree in 31 bits count as one.)
  template <class Set>
  TILEHASH_FN static u32 slot_of_hash(Set marks, u64 hash) {
    using detail::compare_and_swap;
    using detail::load_relaxed;
    const u32 mark = static_cast<u32>(hash) | 1;
    u32 s = static_cast<u32>(hash >> 32) % slots;
    for (u32 steps = 0; steps < slots; ++steps) {  // half of the slots stay free
      u32 seen = load_relaxed(marks + s);
      if (seen == 0) seen = compare_and_swap(marks + s, 0U, mark);
      if (seen == 0 || seen == mark) return s;
      s = (s + 1) % slots;
    }
    return 0;
  }
  TILEHASH_FN repeats_word found(u32 once, u32 twice, u32 different) const {
    if ((sampled - different) * machine::repeats_one_in < sampled) return {};
    const u64 number = different + u64(once) * once / (u64(2) * (twice + 1));
    if (number > most) return {};
    u32 doublings = 0;
    while (doublings < machine::most_replicas_log2 && number << doublings <= fits) ++doublings;
    return {1 + doublings};
  }
};

// Does such a sample say that keys repeat, and that there are at most so many? Not if blocks have too little scratch.
// Synchronizes with the host.
template <class Space, class Key>
bool keys_repeat(Space& space, const Key* keys, u64 n, u64 most = ~u64(0)) {
  using sample = sample_repeats<Key, large_block<Space>>;
  if (sample::scratch_bytes > space.largest_scratch()) return false;
  const buffer<u64, Space> length(space, 1);
  const buffer<u32, Space> word(space, 1);
  space.for_each_block(1, sample::block_size, sample::scratch_bytes,
                       sample{keys, n, ~0U, most, length.data(), word.data()});
  return repeats_word{read_one(space, word.data())}.repeat();
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
