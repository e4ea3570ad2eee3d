// SPDX-License-Identifier: Apache-2.0
// The counters behind the slots of a Robin Hood table: its number of keys, and the homes with keys in flight.
//
//   | widest | due: a bit a bucket | relocations: a word for 16 buckets | taken slots: a sharded_count |
//
//   widest       the largest age that a key has had
//   due          homes whose keys are not all stored there: tidying looks at these
//   relocations  for the keys of these homes, the number in flight, taken out and without a slot yet (the
//                lower 24 bits of 8 bytes), and the number ever taken out (the upper 40). If an insert does
//                not find its key in the table, reads no key in flight before and after, and the number ever
//                taken out is the same, the key is absent. Only another 2^40 between the two reads would hide
//                a relocation: at one a nanosecond that takes 18 minutes. Each thread has at most one key in
//                flight, and 2^24 threads do not run at once.
//   taken slots  reserves a slot for a key before another key is taken out for it
//
// All start as zeros.
#pragma once

#include <tilehash/algorithm/sharded_count.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

class robin_hood_counters {
 public:
  static constexpr u32 buckets_per_word = 16;  // of relocations

  robin_hood_counters() = default;
  TILEHASH_FN robin_hood_counters(u32* memory, u64 slots, u32 buckets)
      : widest_(memory), slots_(slots), buckets_(buckets), shards_(sharded_count::shards_for(slots)) {}
  static u64 words(u64 slots, u64 buckets) {
    return line_words + due_words(buckets) + 2 * relocation_words(buckets) + sharded_count::words(slots);
  }

  TILEHASH_FN u32 widest() const { return load_relaxed(widest_); }
  TILEHASH_FN void widen(u32 age) const {
    if (age > widest()) fetch_max(widest_, age);
  }
  TILEHASH_FN u32* due() const { return widest_ + line_words; }
  TILEHASH_FN static u64 bit_words(u64 buckets) { return (buckets + 31) / 32; }
  TILEHASH_FN void make_due(u32 home) const {
    u32* const at = due() + home / 32;
    const u32 bit = 1U << home % 32;
    if ((load_relaxed(at) & bit) == 0) set_bits(at, bit);
  }

  // ---- relocations ----
  static constexpr u64 in_flight = (u64(1) << 24) - 1, one_move = in_flight + 2;
  TILEHASH_FN u64 relocations(u32 home) const { return load_relaxed(relocations_of(home)); }
  // Call before a key is taken out.
  TILEHASH_FN void begin_move(u32 home) const {
    fetch_add(relocations_of(home), one_move);
    device_fence();
  }
  // Call when it is stored and its home's maximum age is raised, or when it was not taken out after all.
  TILEHASH_FN void end_move(u32 home) const {
    device_fence();
    fetch_add(relocations_of(home), ~u64(0));
  }
  // Begins the relocation of a new key, unless a counter has changed since `seen`: only one of equal keys
  // succeeds.
  TILEHASH_FN bool begin_move_alone(u32 home, u64 seen) const {
    return compare_and_swap(relocations_of(home), seen, seen + one_move) == seen;
  }

  // Gives up a key in flight.
  TILEHASH_FN void drop(u32 home) const {
    end_move(home);
    release_slot(home);
  }
  // Clears the relocations of the i-th word of due(): no key is in flight, and any may have moved.
  TILEHASH_FN void none_evicted(u64 i) const {
    make_all_due(static_cast<u32>(i));
    const u64 first = i * (32 / buckets_per_word), end = first + 32 / buckets_per_word;
    for (u64 k = first; k < end && k < relocation_words(buckets_); ++k) all_relocations()[k] = 0;
  }

  // ---- keys ----
  // Reserves a slot for one more key; false if there is none.
  TILEHASH_FN bool acquire_slot(u32 home) const { return taken_slots().acquire(home); }
  TILEHASH_FN void release_slot(u32 home) const { taken_slots().release(home); }
  // Sets the counters of a table that was filled at once with so many keys: the i-th word of due(), and the
  // i-th shard. All homes become due, as finding the exact ones costs more.
  TILEHASH_FN void begin_with(u32 i, u64 keys) const {
    if (i < bit_words(buckets_)) make_all_due(i);
    taken_slots().begin_with(i, keys);
  }

 private:
  static constexpr u32 line_words = 32;  // 128 bytes

  TILEHASH_FN void make_all_due(u32 i) const {
    due()[i] = i < buckets_ / 32 ? ~0U : (1U << buckets_ % 32) - 1;
  }
  // Even, as words of 8 bytes follow. (The slots before these words end at a multiple of 8 bytes, too.)
  TILEHASH_FN static u64 due_words(u64 buckets) { return (bit_words(buckets) + 1) / 2 * 2; }
  TILEHASH_FN static u64 relocation_words(u64 buckets) { return buckets / buckets_per_word + 1; }
  TILEHASH_FN u64* all_relocations() const { return reinterpret_cast<u64*>(due() + due_words(buckets_)); }
  TILEHASH_FN u64* relocations_of(u32 home) const { return all_relocations() + home / buckets_per_word; }
  TILEHASH_FN sharded_count taken_slots() const {
    return {reinterpret_cast<u32*>(all_relocations() + relocation_words(buckets_)), slots_, shards_};
  }

  u32* widest_ = nullptr;
  u64 slots_ = 0;
  u32 buckets_ = 0;
  u32 shards_ = 1;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
