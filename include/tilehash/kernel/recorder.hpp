// The outcomes of a call's items: counters, and a bit for each item that is not stored yet.
//
//   items     | a b c d e f g h | i j k ...        numbered by the source
//   pending   | 0 0 1 0 0 0 1 0 | 0 1 0 ...        1: not stored yet; phases read and write it (no list)
//   outcomes  | ins pre ref ... |                  only if the caller requests them
//
// Each counter has many copies, so that warps do not contend for one word. The counters belong to the table
// and are zero between calls.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The counters of a call. `left` and the kinds after it count the items without a slot after the first
// phase, the second and so on.
enum class counter : u32 { inserted, illegal, gone, left };

struct call_counters {
  static constexpr u32 stripes = tuning::table::call_stripes, kinds = 16,
                       phases = kinds - static_cast<u32>(counter::left);
  static constexpr u64 words = u64(stripes) * kinds, bytes = words * sizeof(u64);

  u64* at = nullptr;

  TILEHASH_FN void add(counter what, u64 spot, u64 n, u32 phase = 0) const {
    fetch_add(at + spot % stripes * kinds + static_cast<u32>(what) + phase, n);
  }
};
// The sums of the counters.
struct call_counts {
  u64 of[call_counters::kinds] = {};
  u64 operator[](counter what) const { return of[static_cast<u32>(what)]; }
  u64 left(u32 phase) const { return of[static_cast<u32>(counter::left) + phase]; }
};

inline constexpr u32 bits_a_word = 32;

struct outcome_recorder {
  call_counters counters;
  u32* pending = nullptr;
  outcome* outcomes = nullptr;  // may be null
  u32 phase = 0;                // the phase of the `left` that is counted

  TILEHASH_FN bool is_pending(u64 i) const { return (pending[i / bits_a_word] >> i % bits_a_word & 1) != 0; }

  // Records the outcome of a lane's item, the i-th; neighbouring lanes have neighbouring items. A collective
  // of the warp: it writes the whole word, so the bit of an item that is not `mine` becomes 0.
  template <class Lane>
  TILEHASH_FN void record(Lane lane, u64 i, bool mine, bool legal, outcome became) const {
    const auto warp = lane.template tile<bits_a_word>();
    if (mine && outcomes != nullptr) outcomes[i] = became;
    const u32 waits = warp.ballot(mine && legal && became == outcome::refused);
    const u32 inserted = warp.ballot(mine && became == outcome::inserted);
    const u32 illegal = warp.ballot(mine && !legal);
    if (warp.rank() != 0) return;
    const u64 spot = i / bits_a_word;
    pending[spot] = waits;
    if (waits != 0) counters.add(counter::left, spot, count_ones(waits), phase);
    if (inserted != 0) counters.add(counter::inserted, spot, count_ones(inserted));
    if (illegal != 0) counters.add(counter::illegal, spot, count_ones(illegal));
  }
};

// The counts of a thread that owns whole words of `pending`. It adds them to the counters at its end.
struct thread_recorder {
  const outcome_recorder& all;
  u64 inserted = 0, illegal = 0, left = 0;

  TILEHASH_FN void record(u64 i, bool legal, outcome became) {
    if (all.outcomes != nullptr) all.outcomes[i] = became;
    inserted += became == outcome::inserted;
    illegal += !legal;
    const bool waits = legal && became == outcome::refused;
    left += waits;
    const u32 bit = 1U << i % bits_a_word;
    u32& word = all.pending[i / bits_a_word];
    word = waits ? word | bit : word & ~bit;
  }
  TILEHASH_FN void add_up(u64 spot) const {
    if (inserted != 0) all.counters.add(counter::inserted, spot, inserted);
    if (illegal != 0) all.counters.add(counter::illegal, spot, illegal);
    if (left != 0) all.counters.add(counter::left, spot, left, all.phase);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
