// SPDX-License-Identifier: Apache-2.0
// The insert of a view by linear probing: a thread reads a sector of neighbouring slots at once.
//
//   sector      | a | b | c | x | d | . | . | e |     . empty   x erased   a letter is a key
//   key's home            ^
//
// The thread claims the first free slot from the key's home on, `x` here, once it has met an empty slot and not the
// key. If another item was faster, the compare-and-swap returns it, and the thread goes on behind that slot.
//
// Exact under races: while keys are only inserted, a taken slot keeps its key. No thread passes a free slot. So if the
// slot that a thread claims is free, its key is in no later slot, whatever older state of those the thread has read.
//
// The slots are read from L2: a sector is two requests there, and through L1 one, but that takes longer in a table
// larger than L2.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/solo_tile.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A design whose keys go to the next slot if one is taken.
template <class D>
concept probes_next_slots = requires { requires D::probes_next_slots; };

template <class Design>
class insert_along_slots {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using key_bits = typename Design::key_bits;
  static constexpr u32 at_once = 32 / sizeof(word);

 public:
  // Each thread with `mine` inserts one item, whose key is not reserved. The threads of `t` leave together.
  template <class Tile>
  TILEHASH_FN static outcome run(const Design& design, const Tile& t, const item<slot_type>& x, bool mine) {
    outcome became = outcome::refused;
    const u64 capacity = design.capacity();
    u64 at = design.locate(x.key.bits).at;
    u32 left = design.max_steps();  // slots that the thread may still read
    claimable slot;
    while (t.any(mine)) {
      const u32 from = static_cast<u32>(at % at_once);
      const sector s = read(design, at - from, x.key.bits, mine);
      if (!mine) continue;
      const u32 read_now = smaller(at_once - from, left, capacity - at);
      const u32 valid = ((1U << read_now) - 1) << from;
      const u32 ends = (s.own | s.empty) & valid, end = ends & (0U - ends);
      const u32 free = (s.empty | s.erased) & valid & (ends != 0 ? end * 2 - 1 : ~0U);
      if (!slot.is && free != 0) {
        const u32 k = lowest(free);
        slot = {true, at - from + k, left - (k - from), (s.erased >> k & 1) != 0};
      }
      left -= read_now;
      at = at + read_now < capacity ? at + read_now : 0;
      mine = false;
      if ((s.own & end) != 0) {
        became = outcome::present;
      } else if (ends == 0 && left != 0) {
        mine = true;
      } else if (slot.is) {
        became = claim(design, slot, x);
        mine = became == outcome::refused && slot.left > 1;
        at = slot.at + 1 < capacity ? slot.at + 1 : 0;
        left = slot.left - 1;
        slot.is = false;
      }
    }
    return became;
  }

 private:
  // The first free slot, and how many slots were left there.
  struct claimable {
    bool is = false;
    u64 at = 0;
    u32 left = 0;
    bool erased = false;
  };
  // The slots that hold the key, are empty, or are erased.
  struct sector {
    u32 own = 0, empty = 0, erased = 0;
  };
  TILEHASH_FN static u32 smaller(u32 a, u32 b, u64 c) {
    const u32 ab = a < b ? a : b;
    return c < ab ? static_cast<u32>(c) : ab;
  }
  TILEHASH_FN static sector read(const Design& design, u64 base, key_bits key, bool active) {
    word words[at_once];
    const word* const from = design.bucket_at(base);
    if (base + at_once <= design.capacity()) {
      solo_tile{}.template load_shared<at_once>(from, words, active);
    } else {  // the last slots of the table
      for (u32 k = 0; k < at_once; ++k)
        words[k] = active && base + k < design.capacity() ? load_relaxed(from + k) : word(0);
    }
    return {match_words<at_once>(words, slot_type::stored_shift, key),
            match_words<at_once>(words, slot_type::stored_shift, slot_type::empty_mark),
            match_words<at_once>(words, slot_type::stored_shift, slot_type::tombstone_mark)};
  }
  // Refused: another key has taken the slot.
  TILEHASH_FN static outcome claim(const Design& design, const claimable& slot, const item<slot_type>& x) {
    const word old = slot.erased ? slot_type::tombstone_word : slot_type::empty_word;
    const word seen =
        compare_and_swap(design.bucket_at(slot.at), old, slot_type::written_over(old, x.key.bits, x.value));
    if (seen == old) return outcome::inserted;
    return slot_type::key_of(seen) == x.key.bits ? outcome::present : outcome::refused;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
