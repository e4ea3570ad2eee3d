// SPDX-License-Identifier: Apache-2.0
// Google's dense_hash_map, which Li et al. measure on a CPU: quadratic probing in a table that is at most
// half full.
//
//   k ---> slot k mod S, then 1, 3, 6, 10 ... slots further        S a power of two
//
// One array has the pairs. The hash of an integer is the integer. The number of slots is the power of two
// that keeps the table at most half full; a load factor that is asked for can only make it larger. So the
// factor is between 0.25 and 0.5. Here the table is made for its pairs at once; the original doubles when
// it is half full. The original is for one thread; here inserts may be concurrent.
//
// Source: sparsehash, dense_hash_map (HT_OCCUPANCY_PCT = 50, JUMP_ = the number of the probe); Y. Li et al.,
// Dynamic Hash Tables on GPUs, section 6.1 (GoogleHash).
#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include <tilehash/core/hash.hpp>
#include <tilehash/papers/published/table.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

class dense_hash_map {
 public:
  static constexpr double max_load_factor = 1, most_filled = 0.5;

  static u64 capacity_for(u64 pairs, double load_factor) {
    return std::bit_ceil(
        std::max(u64(32), detail::slots_for(pairs, std::min(load_factor, most_filled), max_load_factor)));
  }
  static u64 words_for(u64 capacity) { return capacity; }

  dense_hash_map(u64* memory, u64 capacity, u64 /*seed*/, double /*load_factor*/)
      : slots_(memory), mask_(capacity - 1) {}

  TILEHASH_FN insert_end insert(u32 key, u32 value) const {
    const u64 word = pair_slot::pack(key, value);
    u64 at = key & mask_;
    for (u32 probes = 1; probes <= mask_; at = (at + probes++) & mask_) {
      u64 seen = detail::load_relaxed(slots_ + at);
      if (seen == pair_slot::empty_word) seen = detail::compare_and_swap(slots_ + at, seen, word);
      if (seen == pair_slot::empty_word) return {false, false, probes};
      if (pair_slot::key_of(seen) != key) continue;
      detail::exchange(slots_ + at, word);
      return {false, true, probes};
    }
    return {true, false, static_cast<u32>(mask_)};
  }

  TILEHASH_FN u64 find(u32 key) const {
    u64 at = key & mask_;
    for (u32 probes = 1; probes <= mask_; at = (at + probes++) & mask_) {
      const u64 seen = detail::load_relaxed(slots_ + at);
      if (seen == pair_slot::empty_word || pair_slot::key_of(seen) == key) return seen;
    }
    return pair_slot::empty_word;
  }

 private:
  u64* slots_;
  u64 mask_;
};

static_assert(std::is_trivially_copyable_v<dense_hash_map>);

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
