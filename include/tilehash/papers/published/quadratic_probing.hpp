// SPDX-License-Identifier: Apache-2.0
// Quadratic probing as in the thesis, with a key and its value in one slot of 64 bits or in two arrays.
//
//   one slot     | k v | . . | k v |        one compare-and-swap stores both
//   two arrays   | k | . | k |  | v | . | v |   a compare-and-swap for the key, then a store of the value
//
// The probes are h + i c1 + i^2 c2 with c1 = 0 and c2 = 1, at most min(S, 10 000) of them. An insert fails
// after those, and the thesis builds the table again with another function.
//
// Two arrays hold the same pairs in the same slots. A probe reads 4 bytes instead of 8, and a lookup that
// finds its key reads a second line. Lookups must not run before all inserts have ended.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, sections 3.1, 3.2, 3.3.1.
#pragma once

#include <type_traits>

#include <tilehash/core/hash.hpp>
#include <tilehash/papers/published/table.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

enum class pairs_in { one_slot, two_arrays };

template <pairs_in Where>
class quadratic_probing {
 public:
  static constexpr double max_load_factor = 1;
  static constexpr u32 most_probes = 10'000;
  static constexpr u64 initial_word = Where == pairs_in::one_slot ? pair_slot::empty_word : ~u64(0);

  static u64 capacity_for(u64 pairs, double load_factor) {
    const u64 size = detail::slots_for(pairs, load_factor, max_load_factor);
    detail::require(size < u64(1) << 32, "published::quadratic_probing has fewer than 2^32 slots");
    return size;
  }
  static u64 words_for(u64 capacity) { return capacity; }

  quadratic_probing(u64* memory, u64 capacity, u64 seed, double /*load_factor*/)
      : slots_(memory),
        keys_(reinterpret_cast<u32*>(memory)),
        values_(keys_ + capacity),
        size_(static_cast<u32>(capacity)),
        a_(static_cast<u32>(mix64(seed))),
        b_(static_cast<u32>(mix64(seed + 1) % thesis_prime)) {}

  TILEHASH_FN insert_end insert(u32 key, u32 value) const {
    u32 at = first(key), probes = 1;
    for (; probes <= most(); at = next(at, probes++)) {
      const u32 seen = claim(at, key, value);
      if (seen == pair_slot::empty_mark) return {false, false, probes};
      if (seen == key) return {false, true, probes};
    }
    return {true, false, probes};
  }
  TILEHASH_FN u64 find(u32 key) const {
    u32 at = first(key);
    for (u32 probes = 1; probes <= most(); at = next(at, probes++)) {
      if constexpr (Where == pairs_in::one_slot) {
        const u64 seen = detail::load_relaxed(slots_ + at);
        if (seen == pair_slot::empty_word || pair_slot::key_of(seen) == key) return seen;
      } else {
        const u32 seen = detail::load_relaxed(keys_ + at);
        if (seen == pair_slot::empty_mark) return pair_slot::empty_word;
        if (seen == key) return pair_slot::pack(key, values_[at]);
      }
    }
    return pair_slot::empty_word;
  }

 private:
  // Stores the pair if the slot is free; returns the slot's previous key. A known key gets the value.
  TILEHASH_FN u32 claim(u32 at, u32 key, u32 value) const {
    if constexpr (Where == pairs_in::one_slot) {
      const u64 word = pair_slot::pack(key, value);
      const u64 seen = detail::compare_and_swap(slots_ + at, pair_slot::empty_word, word);
      if (seen != pair_slot::empty_word && pair_slot::key_of(seen) == key)
        detail::exchange(slots_ + at, word);
      return seen == pair_slot::empty_word ? pair_slot::empty_mark : pair_slot::key_of(seen);
    } else {
      const u32 seen = detail::compare_and_swap(keys_ + at, u32(pair_slot::empty_mark), key);
      if (seen == pair_slot::empty_mark || seen == key) detail::store_relaxed(values_ + at, value);
      return seen;
    }
  }
  TILEHASH_FN u32 first(u32 key) const {
    return static_cast<u32>(((a_ ^ key) + u64(b_)) % thesis_prime % size_);
  }
  // h + i^2 is h + (i - 1)^2 + 2 i - 1.
  TILEHASH_FN u32 next(u32 at, u32 i) const { return static_cast<u32>((at + 2 * u64(i) - 1) % size_); }
  TILEHASH_FN u32 most() const { return size_ < most_probes ? size_ : most_probes; }

  u64* slots_;
  u32 *keys_, *values_;
  u32 size_, a_, b_;
};

static_assert(std::is_trivially_copyable_v<quadratic_probing<pairs_in::two_arrays>>);

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
