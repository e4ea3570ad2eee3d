// How many more keys a table takes, known by all who insert at once: a seat for each, shared out among
// counters, so that not all of a GPU's lanes queue at one word. Who finds its counter's seats taken goes to
// the next one's; so the last seat of all is found.
//
//   | seats taken, exchanges so far | ... | ...       128 bytes a counter, zeros at first
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

class mega_kv_seats {
 public:
  mega_kv_seats() = default;
  // Of 32 slots, so many are seats.
  TILEHASH_FN mega_kv_seats(u32* memory, u64 slots, u32 of_32)
      : memory_(memory), seats_(slots * of_32 / 32), counters_(counters_for(slots)) {}
  static constexpr u64 words(u64 slots) { return counter_words * u64(counters_for(slots)); }

  // Takes a seat; false: there is none.
  TILEHASH_FN bool enter(u32 bucket) const {
    for (u32 i = 0; i < counters_; ++i) {
      const u32 which = (bucket + i) & (counters_ - 1);
      u32* const at = counter(which);
      const int room = static_cast<int>(seats_ / counters_ + u64(which < seats_ % counters_));
      if (static_cast<int>(load_relaxed(at)) >= room) continue;
      if (static_cast<int>(fetch_add(at, 1U)) < room) return true;
      fetch_add(at, ~0U);
    }
    return false;
  }
  // Gives one back; it need not be of the counter that it was taken from.
  TILEHASH_FN void leave(u32 bucket) const { fetch_add(counter(bucket & (counters_ - 1)), ~0U); }
  // Another number each time.
  TILEHASH_FN u32 next_turn(u32 bucket) const { return fetch_add(counter(bucket & (counters_ - 1)) + 1, 1U); }

 private:
  static constexpr u32 most_counters = 256, slots_a_counter = 4096, counter_words = 32;
  TILEHASH_FN static constexpr u32 counters_for(u64 slots) {  // a power of two
    u32 n = 1;
    while (n < most_counters && u64(2 * n) * slots_a_counter <= slots) n *= 2;
    return n;
  }
  TILEHASH_FN u32* counter(u32 which) const { return memory_ + u64(which) * counter_words; }

  u32* memory_ = nullptr;
  u64 seats_ = 0;
  u32 counters_ = 1;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
