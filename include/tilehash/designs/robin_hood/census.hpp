// What a Robin Hood table keeps behind its slots: how many keys it has, and which homes have keys in hand.
//
//   | widest | due: a bit a bucket | journeys: a word for 16 buckets | counters: one in 128 bytes |
//
//   widest    the largest age that a key has had
//   due       homes whose keys do not all stand there: what tidying looks at
//   journeys  of the keys of these homes, how many were taken out and have no slot yet (the lower 24 bits of
//             8 bytes), and how many ever were (the upper 40). An insert that finds its key neither in the
//             table nor, before and after, on a journey, with the same number ever taken out, knows that the
//             key is absent. Only another 2^40 between the two reads would hide a journey: at one a
//             nanosecond that takes 18 minutes. Each thread has at most one key of a journey, and 2^24 do not
//             run at once.
//   counters  keys, shared out: each counter takes its share of the slots, and who finds one full goes to the
//             next. So it is known that there is a slot for a key before another is taken out for it.
//
// All start as zeros.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

class robin_hood_census {
 public:
  static constexpr u32 buckets_a_journey = 16;
  static constexpr u32 most_counters = 256, slots_a_counter = 4096, counter_words = 32;

  robin_hood_census() = default;
  TILEHASH_FN robin_hood_census(u32* memory, u64 slots, u32 buckets)
      : widest_(memory), slots_(slots), buckets_(buckets), counters_(counters_for(slots)) {}
  static u64 words(u64 slots, u64 buckets) {
    return counter_words * (1 + u64(counters_for(slots))) + due_words(buckets) + 2 * journey_words(buckets);
  }

  TILEHASH_FN u32 widest() const { return load_relaxed(widest_); }
  TILEHASH_FN void widen(u32 age) const {
    if (age > widest()) fetch_max(widest_, age);
  }
  TILEHASH_FN u32* due() const { return widest_ + counter_words; }
  TILEHASH_FN static u64 bit_words(u64 buckets) { return (buckets + 31) / 32; }
  TILEHASH_FN void make_due(u32 home) const {
    u32* const at = due() + home / 32;
    const u32 bit = 1U << home % 32;
    if ((load_relaxed(at) & bit) == 0) set_bits(at, bit);
  }

  // ---- journeys ----
  static constexpr u64 under_way = (u64(1) << 24) - 1, departure = under_way + 2;
  TILEHASH_FN u64 journeys(u32 home) const { return load_relaxed(journeys_of(home)); }
  // Before a key is taken out.
  TILEHASH_FN void depart(u32 home) const {
    fetch_add(journeys_of(home), departure);
    device_fence();
  }
  // When it stands in a slot and its home knows how far it is, or when it was not taken out after all.
  TILEHASH_FN void arrive(u32 home) const {
    device_fence();
    fetch_add(journeys_of(home), ~u64(0));
  }
  // A key that stands nowhere yet, if nothing has happened since `seen`: of equal keys only one.
  TILEHASH_FN bool depart_alone(u32 home, u64 seen) const {
    return compare_and_swap(journeys_of(home), seen, seen + departure) == seen;
  }

  // A key in hand is given up.
  TILEHASH_FN void drop(u32 home) const {
    arrive(home);
    leave(home);
  }
  // No key is in hand, and any may have moved: of the i-th word of due().
  TILEHASH_FN void none_in_hand(u64 i) const {
    make_all_due(static_cast<u32>(i));
    const u64 first = i * (32 / buckets_a_journey), end = first + 32 / buckets_a_journey;
    for (u64 k = first; k < end && k < journey_words(buckets_); ++k) all_journeys()[k] = 0;
  }

  // ---- keys ----
  // Is there a slot for one more? It is this one's then.
  TILEHASH_FN bool enter(u32 home) const {
    for (u32 i = 0; i < counters_; ++i) {
      const u32 which = (home + i) & (counters_ - 1);
      u32* const at = counter(which);
      const i32 room = static_cast<i32>(slots_ / counters_ + u64(which < slots_ % counters_));
      if (static_cast<i32>(load_relaxed(at)) >= room) continue;
      if (static_cast<i32>(fetch_add(at, 1U)) < room) return true;
      fetch_add(at, ~0U);
    }
    return false;
  }
  // Of a table that was filled at once, and so many keys: the i-th word of due(), and the i-th counter. All
  // homes are due, as it costs more to know better.
  TILEHASH_FN void begin_with(u32 i, u64 keys) const {
    if (i < bit_words(buckets_)) make_all_due(i);
    if (i < counters_) *counter(i) = static_cast<u32>(keys / counters_ + u64(i < keys % counters_));
  }
  // One gives back its slot; it need not be the counter that it was taken from.
  TILEHASH_FN void leave(u32 home) const { fetch_add(counter(home & (counters_ - 1)), ~0U); }

 private:
  using i32 = int;
  TILEHASH_FN void make_all_due(u32 i) const {
    due()[i] = i < buckets_ / 32 ? ~0U : (1U << buckets_ % 32) - 1;
  }
  TILEHASH_FN static u32 counters_for(u64 slots) {  // a power of two
    u32 n = 1;
    while (n < most_counters && u64(2 * n) * slots_a_counter <= slots) n *= 2;
    return n;
  }
  // Even, as words of 8 bytes come behind. (The slots before all this fill such, too.)
  TILEHASH_FN static u64 due_words(u64 buckets) { return (bit_words(buckets) + 1) / 2 * 2; }
  TILEHASH_FN static u64 journey_words(u64 buckets) { return buckets / buckets_a_journey + 1; }
  TILEHASH_FN u64* all_journeys() const { return reinterpret_cast<u64*>(due() + due_words(buckets_)); }
  TILEHASH_FN u64* journeys_of(u32 home) const { return all_journeys() + home / buckets_a_journey; }
  TILEHASH_FN u32* counter(u32 which) const {
    return reinterpret_cast<u32*>(all_journeys() + journey_words(buckets_)) + u64(which) * counter_words;
  }

  u32* widest_ = nullptr;
  u64 slots_ = 0;
  u32 buckets_ = 0;
  u32 counters_ = 1;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
