// SPDX-License-Identifier: Apache-2.0
// A region into which `tiled` merges items (designs/tiled/merge.hpp): its stored keys and the states of its
// buckets in a block's scratch, and its slots in the table. Each change is made in both.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/result.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Keys, class States>
struct tiled_merge_region {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using value_bits = typename slot_type::value_bits;
  using location = typename Design::location;
  using entry = routed_item<slot_type>;
  static constexpr u32 slots = Design::bucket_slots;
  // A bucket's state is its filter and, above it, its count.
  static constexpr u32 one = 1U << 24;  // taken slot
  static_assert(Design::filter_size <= 24);
  // A stored key has three bits less than a key: the highest marks a key that does not move again.
  static constexpr stored_key settled = static_cast<stored_key>(stored_key(1) << (slot_type::key_width - 1));

  static constexpr u32 together = 16 / sizeof(stored_key);  // keys that a thread reads by one request
  struct view : scratch_bucket<stored_key, slots, together> {
    using scratch_bucket<stored_key, slots, together>::scratch_bucket;
    TILEHASH_FN u32 match(stored_key wanted) const {  // bit k: words[k]; 0 for the free ones
      return this->match_if([&](stored_key n) { return ((n ^ wanted) & ~settled) == 0; });
    }
    TILEHASH_FN bool has(stored_key wanted) const {
      bool any = false;
      TILEHASH_UNROLL
      for (u32 k = 0; k < slots; ++k) any |= ((this->words[k] ^ wanted) & ~settled) == 0;
      return any;
    }
  };

  const Design& design;
  word* home;
  Keys keys;
  States states;

  TILEHASH_FN bool has_bit(u32 bucket, u32 bit) const {
    return (load_relaxed(states + bucket) >> bit & 1) != 0;
  }
  // Sets the filter's bits of a key that leaves its first bucket, or finds it full.
  TILEHASH_FN void leaves(u32 bucket, stored_key n) const {
    if (!has_bit(bucket, Design::filter_index(n))) mark(bucket, n);
  }
  TILEHASH_FN void mark(u32 bucket, stored_key n) const {
    set_bits(states + bucket, 1U << Design::filter_index(n));
    const auto f = Design::filter_for(n);
    set_bits(home + (bucket * slots + f.slot), static_cast<word>(word(1) << f.at));
  }
  // Puts a lane's item into a free slot of its first bucket or, if that is full, its second. Refused: both are full. The
  // lanes of a warp call it together: a lane whose item does not wait returns `present`.
  template <class Tile>
  TILEHASH_FN outcome place(const Tile& t, const word& e, bool waits) const {
    const location first = design.location_of(entry::hash_of(e));
    outcome result = outcome::present;
    while (t.any(waits)) {  // at most three times: again if other items took all free slots
      if (!waits) continue;
      const choice c = choose(first);
      u32 at = 0, free = c.free;
      stored_key seen = c.at.stored;
      for (; free != 0; free &= free - 1) {
        at = slot_in(c.at.bucket, lowest(free));
        seen = compare_and_swap(keys + at, stored_key(0), c.at.stored);
        if (seen == 0 || seen == c.at.stored) break;
      }
      if (free != 0 && seen == 0) {
        fetch_add(states + c.at.bucket, one);
        flip_bits(home + at, slot_type::make(c.at.stored, entry::value_of(e)));
        if (c.at.stored != first.stored && !c.is_marked) mark(first.bucket, first.stored);
        result = outcome::inserted;
      } else if (c.is_refused) {
        result = outcome::refused;
      }
      waits = c.free != 0 && free == 0;
    }
    return result;
  }
  // Replaces the value of a key that is stored in a bucket. Returns false if it is not. No other thread may
  // put keys in or move any meanwhile.
  TILEHASH_FN bool assign(u32 bucket, stored_key n, value_bits v) const {
    const view b(keys, bucket, bucket);
    const u32 equal = b.match(n);
    if (equal == 0) return false;
    store_relaxed(reinterpret_cast<value_bits*>(home + (bucket * slots + b.lowest_slot(equal))), v);
    return true;
  }
  TILEHASH_FN bool has_free_slot(u32 bucket) const { return load_relaxed(states + bucket) / one < slots; }
  // Promises a slot of a bucket. Returns the number of slots taken before; `slots`: all are.
  TILEHASH_FN u32 reserve(u32 bucket) const {
    for (u32 old = load_relaxed(states + bucket); old / one < slots;) {  // repeats when others changed it
      const u32 seen = compare_and_swap(states + bucket, old, old + one);
      if (seen == old) return old / one;
      old = seen;
    }
    return slots;
  }
  TILEHASH_FN void give_back(u32 bucket) const { fetch_add(states + bucket, 0U - one); }
  // Puts an item into a bucket that has promised a free slot. Without gaps, that slot comes after the `taken` ones.
  TILEHASH_FN void drop(u32 bucket, u32 taken, stored_key n, value_bits v) const {
    for (u32 k = taken;; k = (k + 1) % slots) {  // at most once round for each slot
      const u32 at = slot_in(bucket, k);
      if (compare_and_swap(keys + at, stored_key(0), static_cast<stored_key>(n | settled)) == 0)
        return flip_bits(home + at, slot_type::make(n, v));
    }
  }
  // The content of a slot whose key may move: no other thread changes it before it takes the slot.
  TILEHASH_FN word content_of(u32 at) const {
    return static_cast<word>(load_relaxed(home + at) & ~slot_type::filter_mask);
  }
  TILEHASH_FN void leaves_first(u32 bucket, stored_key n) const {
    if (!slot_type::is_second(n)) leaves(bucket, n);
  }

  TILEHASH_FN bool take_slot(u32 at, stored_key old, stored_key n) const {
    return compare_and_swap(keys + at, old, static_cast<stored_key>(n | settled)) == old;
  }

  // False if another thread removed it.
  TILEHASH_FN bool remove(u32 at) const {
    const stored_key n = exchange(keys + at, stored_key(0));
    if (n == 0) return false;
    fetch_add(states + at / slots, 0U - one);
    flip_bits(home + at, static_cast<word>(load_relaxed(home + at) & ~slot_type::filter_mask));
    return true;
  }

  // ---- displacement: an item whose buckets are full takes the slot of a key that moves ----
  static constexpr u32 search_width = 2 * slots;

  // Moves a key of either bucket of a lane's item to its other bucket. The lanes of a warp call it together; those whose
  // item does not wait return false.
  template <class Tile>
  TILEHASH_FN bool displace_by_one(const Tile& t, const word& e, bool waits) const {
    const location first = design.location_of(entry::hash_of(e));
    location p = first;
    bool placed = false;
    for (u32 half = 0; half < 2 && t.any(waits); ++half, design.turn(p)) {
      u32 may = waits ? movable_in<1>(p.bucket) : 0;
      for (; t.any(may != 0); may &= may - 1) {
        if (may == 0 || !push<1>(slot_in(p.bucket, lowest(may)), p, entry::value_of(e))) continue;
        if (half != 0) leaves(first.bucket, first.stored);
        placed = true, waits = false;
        may = 0;
      }
    }
    return placed;
  }
  // The same where so many keys move, each to the slot of the next one and the last to a free slot. The lanes of a tile
  // look at the keys of one item after the other.
  template <u32 Moves, class Tile>
  TILEHASH_FN bool displace_by(const Tile& t, const word& e, bool waits) const {
    const location first = design.location_of(entry::hash_of(e));
    location second = first;
    design.turn(second);
    bool placed = false;
    for (u32 tries = 0; tries < 2 && t.any(waits); ++tries) {  // others may be faster
      u32 may = 0;  // bit s: the key in slot s of the first bucket; bit s + slots: of the second
      for (u32 todo = t.ballot(waits); t.any(todo != 0); todo &= todo - 1) {
        const u32 its = todo != 0 ? lowest(todo) : 0;
        const u32 a = t.broadcast(first.bucket, its), b = t.broadcast(second.bucket, its);
        const u32 bucket = t.rank() < slots ? a : b;
        const stored_key x = load_relaxed(keys + (bucket * slots + t.rank() % slots));
        const u32 middle = other_bucket(bucket, x);
        const bool moves =
            todo != 0 && is_movable(x) && middle != bucket && movable_in<Moves - 1>(middle) != 0;
        const u32 moving = t.ballot(moves);
        if (todo != 0 && t.rank() == its) may = moving;
      }
      for (; may != 0; may &= may - 1) {
        const bool is_first = lowest(may) < slots;
        location p = second;
        if (is_first) p = first;
        if (!push<Moves>(p.bucket * slots + lowest(may) % slots, p, entry::value_of(e))) continue;
        if (!is_first) leaves(first.bucket, first.stored);
        placed = true, waits = false;
        break;
      }
    }
    return placed;
  }

 private:
  // Where an item goes.
  struct choice {
    location at;
    u32 free;         // slots of the bucket there, as view::match(); 0 for an item that is present
    bool is_refused;  // both buckets are full
    bool is_marked;   // the filter of the first bucket has the key's bit
  };
  TILEHASH_FN choice choose(const location& first) const {
    const view b(keys, first.bucket, first.bucket);
    const bool is_marked = has_bit(first.bucket, Design::filter_index(first.stored));
    bool is_present = b.has(first.stored);
    choice c{first, b.match(0), false, is_marked};
    if (!is_present && (c.free == 0 || is_marked)) {
      location second = first;
      design.turn(second);
      const view d(keys, second.bucket, second.bucket);
      is_present = d.has(second.stored);
      if (c.free == 0) c.at = second, c.free = d.match(0);
    }
    c.is_refused = !is_present && c.free == 0;
    if (is_present) c.free = 0;
    return c;
  }
  // The kth slot of a bucket, in the order of its view.
  TILEHASH_FN static u32 slot_in(u32 bucket, u32 k) { return bucket * slots + (k ^ view::turn_of(bucket)); }
  TILEHASH_FN static bool is_movable(stored_key n) { return n != 0 && (n & settled) == 0; }
  TILEHASH_FN u32 other_bucket(u32 bucket, stored_key n) const {
    return design.mirror(bucket, is_movable(n) ? n : stored_key(0));
  }
  // Bit k: the key in slot_in(bucket, k) may move to its other bucket, where so many keys less one move on.
  template <u32 Moves>
  TILEHASH_FN u32 movable_in(u32 bucket) const {
    u32 mask = 0;
    if constexpr (Moves == 1) {
      const view held(keys, bucket, bucket);
      TILEHASH_UNROLL
      for (u32 k = 0; k < slots; ++k) {
        const stored_key x = held.words[k];
        const bool has_other = has_free_slot(other_bucket(bucket, x));
        mask |= u32(has_other && is_movable(x)) << k;
      }
    } else {
      TILEHASH_UNROLL_BY(1)
      for (u32 k = 0; k < slots; ++k) {
        const stored_key x = load_relaxed(keys + slot_in(bucket, k));
        const u32 other = other_bucket(bucket, x);
        mask |= u32(is_movable(x) && other != bucket && movable_in<Moves - 1>(other) != 0) << k;
      }
    }
    return mask;
  }
  // Puts the item at p into a slot there, whose key moves to its other bucket. The last key moves first. Each is stored
  // in its new slot, which is settled, before its old one is taken.
  template <u32 Moves>
  TILEHASH_FN bool push(u32 at, const location& p, value_bits v) const {
    const stored_key x = load_relaxed(keys + at);
    if (!is_movable(x)) return false;
    const word old = content_of(at);  // it arrives while a slot is found
    location to = p;
    to.bucket = design.mirror(p.bucket, x), to.stored = static_cast<stored_key>(x ^ 2);
    u32 its = 0;
    if constexpr (Moves == 1) {
      its = reserve(to.bucket);
      if (its == slots) return false;
    } else {
      if (to.bucket == p.bucket || !push_any<Moves - 1>(to, slot_type::value_of(old), its)) return false;
    }
    const bool taken = take_slot(at, x, p.stored);
    if (taken) {
      leaves_first(p.bucket, x);
      flip_bits(home + at, static_cast<word>(old ^ slot_type::make(p.stored, v)));
    }
    if constexpr (Moves == 1) {
      if (taken) drop(to.bucket, its, to.stored, slot_type::value_of(old));
    } else if (!taken) {  // another thread has moved x: it is not stored twice
      exchange(keys + its, stored_key(0));
      flip_bits(home + its, slot_type::make(to.stored, slot_type::value_of(old)));
    }
    if (!taken) give_back(to.bucket);
    return taken;
  }
  // The same for any slot there, which it returns in `at`.
  template <u32 Moves>
  TILEHASH_FN bool push_any(const location& p, value_bits v, u32& at) const {
    for (u32 may = movable_in<Moves>(p.bucket); may != 0; may &= may - 1) {
      at = slot_in(p.bucket, lowest(may));
      if (push<Moves>(at, p, v)) return true;
    }
    return false;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
