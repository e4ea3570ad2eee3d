// SPDX-License-Identifier: Apache-2.0
// The buckets of a region of `tiled` in the table, which the threads of a block read and change at the same time
// (designs/tiled/merge_few.hpp).
//
// A bit of the scratch for each slot says that a thread owns the slot: it has changed the slot, or is about to. A thread
// gives a slot back only if it has not changed it. So a slot without an owner has the content that it had before the
// kernel, whenever a thread reads it. No thread compares and swaps words of the table.
//
// The four lanes of a tile read a bucket by one request. They request the buckets of their four items before they use
// the first.
#pragma once

#include <utility>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Bit `h * width + lane` of a bucket is that of the h-th word of a lane.
template <class Design, class Bits>
struct tiled_shared_buckets {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using value_bits = typename slot_type::value_bits;
  static constexpr u32 slots = Design::bucket_slots, width = 4, each = slots / width;
  static constexpr u32 no_bucket = ~u32(0);

  const Design& design;
  word* home;
  Bits bits;

  // Buckets of a tile's lanes: this lane's words of each.
  struct requested {
    word words[width][each];
  };
  struct seen {
    u32 free;  // slots
    bool is_present, is_marked;
  };

  TILEHASH_FN static u32 slot_of(u32 bit) { return bit % width * each + bit / width; }
  TILEHASH_FN word* slot_at(u32 bucket, u32 bit) const { return home + (bucket * slots + slot_of(bit)); }

  template <class Tile>
  TILEHASH_FN void read(const Tile& t, u32 bucket, word (&words)[each], bool active) const {
    t.template load_shared<each>(home + (bucket * slots + t.rank() * each), words, active);
  }
  // A lane's bucket, or no_bucket.
  template <class Tile>
  TILEHASH_FN void request(const Tile& t, u32 bucket, requested& r) const {
    TILEHASH_UNROLL
    for (u32 j = 0; j < width; ++j) {
      const u32 its = t.broadcast(bucket, j);
      read(t, its != no_bucket ? its : 0, r.words[j], its != no_bucket);
    }
  }
  // Looks for the lane's key in its bucket.
  template <class Tile>
  TILEHASH_FN static seen look(const Tile& t, const requested& r, stored_key n) {
    seen mine{};
    TILEHASH_UNROLL
    for (u32 j = 0; j < width; ++j) {
      const stored_key its = t.broadcast(n, j);
      u32 free = 0;
      bool same = false;
      TILEHASH_UNROLL
      for (u32 h = 0; h < each; ++h) {
        same |= slot_type::stored_in(r.words[j][h]) == its;
        free |= t.ballot(slot_type::is_free(r.words[j][h])) << (h * width);
      }
      const u32 present = t.ballot(same), marked = t.ballot(has_bit(t, r.words[j], its));
      if (t.rank() == j) mine = {free, present != 0, marked != 0};
    }
    return mine;
  }
  // Does this lane have the filter's word for a key, with its bit?
  template <class Tile>
  TILEHASH_FN static bool has_bit(const Tile& t, const word (&words)[each], stored_key n) {
    const auto f = Design::filter_for(n);
    return f.slot / each == t.rank() && (word_at(words, f.slot % each) >> f.at & 1) != 0;
  }
  // words[h]. An index that is not constant would put the array into local memory.
  TILEHASH_FN static word word_at(const word (&words)[each], u32 h) {
    word w = words[0];
    TILEHASH_UNROLL
    for (u32 i = 1; i < each; ++i) w = h == i ? words[i] : w;
    return w;
  }

  static constexpr u32 bits_of_a_bucket = slots < 32 ? (1U << slots) - 1 : ~u32(0);
  TILEHASH_FN u32 owned(u32 bucket) const {
    return load_relaxed(bits + bucket * slots / 32) >> (bucket * slots % 32) & bits_of_a_bucket;
  }
  TILEHASH_FN bool own(u32 bucket, u32 bit) const {
    const u32 at = bucket * slots % 32 + bit;
    return (fetch_or(bits + bucket * slots / 32, 1U << at) >> at & 1) == 0;
  }
  TILEHASH_FN void give_back(u32 bucket, u32 bit) const {
    fetch_add(bits + bucket * slots / 32, 0U - (1U << (bucket * slots % 32 + bit)));
  }
  // Owns one of these free slots; `slots` if others have them all.
  TILEHASH_FN u32 own_any(u32 bucket, u32 free) const {
    for (free &= ~owned(bucket); free != 0; free &= free - 1) {
      if (own(bucket, lowest(free))) return lowest(free);
    }
    return slots;
  }
  TILEHASH_FN void put(u32 bucket, u32 bit, stored_key n, value_bits v) const {
    flip_bits(slot_at(bucket, bit), slot_type::make(n, v));
  }
  TILEHASH_FN void replace(u32 bucket, u32 bit, const word& old, stored_key n, value_bits v) const {
    flip_bits(slot_at(bucket, bit),
              static_cast<word>((old & static_cast<word>(~slot_type::filter_mask)) ^ slot_type::make(n, v)));
  }
  TILEHASH_FN void mark(u32 bucket, stored_key n) const {
    const auto f = Design::filter_for(n);
    set_bits(home + (bucket * slots + f.slot), static_cast<word>(word(1) << f.at));
  }
  // ---- moves for words of 8 bytes ----
  // The lane with the filter's word sets the bit of a key of the bucket, if it is not set.
  template <class Tile>
  TILEHASH_FN void mark_together(const Tile& t, u32 bucket, const word (&words)[each], stored_key n) const {
    if (Design::filter_for(n).slot / each == t.rank() && !has_bit(t, words, n)) mark(bucket, n);
  }
  TILEHASH_FN u32 other_bucket(u32 bucket, stored_key n, bool active) const {
    return design.mirror(bucket, active ? n : stored_key(0));
  }

  // Puts an item of a tile into a slot of a bucket whose key moves to its other bucket. The lanes of a warp call it
  // together; a tile's lanes have the same arguments.
  template <class Tile>
  TILEHASH_FN bool push_either(const Tile& t, u32 bucket, stored_key n, value_bits v, bool waits) const {
    word mine[each];
    read(t, bucket, mine, waits);
    const bool waited = waits;
    TILEHASH_UNROLL
    for (u32 h = 0; h < each; ++h) {
      if (!t.any(waits)) break;
      const u32 bit = h * width + t.rank();
      const stored_key x = slot_type::stored_in(mine[h]);
      bool moves = waits && !slot_type::is_free(mine[h]) && (owned(bucket) >> bit & 1) == 0;
      const u32 to = other_bucket(bucket, x, moves);
      moves &= to != bucket;
      requested r;
      request(t, moves ? to : no_bucket, r);
      const u32 free = look(t, r, x).free;
      for (u32 may = t.ballot(moves && (free & ~owned(moves ? to : 0)) != 0); t.any(may != 0);) {
        const u32 its = may != 0 ? lowest(may) : 0;
        const bool is_mover =
            may != 0 && t.rank() == its && move_marked(bucket, bit, mine[h], to, free, n, v);
        const bool moved = t.ballot(is_mover) != 0;
        const stored_key left = t.broadcast(x, its);
        if (moved && !slot_type::is_second(left)) mark_together(t, bucket, mine, left);
        if (moved) waits = false;
        may = moved ? 0 : may & (may - 1);
      }
    }
    return waited && !waits;
  }

  // The same by one thread, where a third key moves to the slot of the other one. Few items need it, so it takes its steps
  // one after the other, in few registers.
  TILEHASH_FN bool push_two_alone(u32 bucket, stored_key n, value_bits v) const {
    TILEHASH_UNROLL_BY(1)
    for (u32 bit = 0; bit < slots; ++bit) {
      const word old = load_relaxed(slot_at(bucket, bit));
      const stored_key x = slot_type::stored_in(old);
      const u32 to = other_bucket(bucket, x, !slot_type::is_free(old));
      if (slot_type::is_free(old) || to == bucket || !own(bucket, bit)) continue;
      if (push_one_alone(to, static_cast<stored_key>(x ^ 2), slot_type::value_of(old))) {
        if (!slot_type::is_second(x)) mark(bucket, x);
        replace(bucket, bit, old, n, v);
        return true;
      }
      give_back(bucket, bit);
    }
    return false;
  }

  // ---- moves for words of 16 bytes ----
  // Puts an item of a tile into a slot of a bucket whose key moves to its other bucket. The lanes of a warp call it
  // together; a tile's lanes have the same arguments. `what()` returns the item, as it is stored in this bucket, and its
  // value: one lane reads it late, which saves registers.
  template <class Tile, class What>
  TILEHASH_FN bool push(const Tile& t, u32 bucket, bool waits, const What& what) const {
    word mine[each];
    read(t, bucket, mine, waits);
    const bool waited = waits;
    TILEHASH_UNROLL
    for (u32 h = 0; h < each; ++h) {
      if (!t.any(waits)) break;
      const u32 bit = h * width + t.rank(), to = goal_of(bucket, bit, mine[h], waits);
      requested r;
      request(t, to, r);
      const u32 free = free_slots(t, r);
      for (u32 may = t.ballot(to != no_bucket && (free & ~owned(to)) != 0); t.any(may != 0); may &= may - 1) {
        bool moved = false;
        if (may != 0 && t.rank() == lowest(may)) {
          const std::pair<stored_key, value_bits> its = what();
          moved = move_out(bucket, bit, mine[h], to, free, its.first, its.second);
        }
        if (t.ballot(moved) != 0) waits = false, may = 0;
      }
    }
    return waited && !waits;
  }

  // The same for an item of a tile, where a second key makes way for the first. A lane looks at one pair of keys.
  template <class Tile, class What>
  TILEHASH_FN bool push_two(const Tile& t, u32 bucket, bool waits, const What& what) const {
    const bool waited = waits;
    TILEHASH_UNROLL_BY(1)
    for (u32 first = 0; first < slots * slots && t.any(waits); first += Tile::width) {
      const u32 bit = (first + t.rank()) / slots, second = (first + t.rank()) % slots;
      const u32 to = waits ? goal_of(bucket, bit) : no_bucket;
      const u32 end = to != no_bucket ? goal_of(to, second) : no_bucket;
      const u32 free = end != no_bucket ? free_alone(end) : 0;
      for (u32 may = t.ballot(free != 0); t.any(may != 0); may &= may - 1) {
        const bool moved =
            may != 0 && t.rank() == lowest(may) && move_two(bucket, bit, to, second, end, free, what);
        if (t.ballot(moved) != 0) waits = false, may = 0;
      }
    }
    return waited && !waits;
  }

 private:
  TILEHASH_FN bool move_marked(u32 bucket, u32 bit, const word& old, u32 to, u32 free, stored_key n,
                               value_bits v) const {
    const u32 into = own_any(to, free);
    if (into == slots) return false;
    if (!own(bucket, bit)) {
      give_back(to, into);
      return false;
    }
    put(to, into, static_cast<stored_key>(slot_type::stored_in(old) ^ 2), slot_type::value_of(old));
    replace(bucket, bit, old, n, v);
    return true;
  }
  TILEHASH_FN bool push_one_alone(u32 bucket, stored_key n, value_bits v) const {
    TILEHASH_UNROLL_BY(1)
    for (u32 bit = 0; bit < slots; ++bit) {
      const word old = load_relaxed(slot_at(bucket, bit));
      const stored_key x = slot_type::stored_in(old);
      const u32 to = other_bucket(bucket, x, !slot_type::is_free(old));
      if (slot_type::is_free(old) || to == bucket) continue;
      u32 free = 0;
      TILEHASH_UNROLL_BY(1)
      for (u32 k = 0; k < slots; ++k) free |= u32(slot_type::is_free(load_relaxed(slot_at(to, k)))) << k;
      if (!move_marked(bucket, bit, old, to, free, n, v)) continue;
      if (!slot_type::is_second(x)) mark(bucket, x);
      return true;
    }
    return false;
  }
  // The bucket to which the key of a slot may move, or no_bucket.
  TILEHASH_FN u32 goal_of(u32 bucket, u32 bit, const word& w, bool asked) const {
    if (!asked || slot_type::is_free(w) || (owned(bucket) >> bit & 1) != 0) return no_bucket;
    const u32 to = design.mirror(bucket, slot_type::stored_in(w));
    return to != bucket ? to : no_bucket;
  }
  TILEHASH_FN u32 goal_of(u32 bucket, u32 bit) const {
    return goal_of(bucket, bit, load_relaxed(slot_at(bucket, bit)), true);
  }
  template <class Tile>
  TILEHASH_FN static u32 free_slots(const Tile& t, const requested& r) {
    u32 mine = 0;
    TILEHASH_UNROLL
    for (u32 j = 0; j < width; ++j) {
      u32 free = 0;
      TILEHASH_UNROLL
      for (u32 h = 0; h < each; ++h) free |= t.ballot(slot_type::is_free(r.words[j][h])) << (h * width);
      if (t.rank() == j) mine = free;
    }
    return mine;
  }
  // The free slots of a bucket that no thread owns.
  TILEHASH_FN u32 free_alone(u32 bucket) const {
    u32 free = 0;
    TILEHASH_UNROLL_BY(4)
    for (u32 k = 0; k < slots; ++k) free |= u32(slot_type::is_free(load_relaxed(slot_at(bucket, k)))) << k;
    return free & ~owned(bucket);
  }
  // Replaces a key of this thread's slot by an item, when the key is in its other bucket.
  TILEHASH_FN void leave(u32 bucket, u32 bit, const word& old, stored_key n, value_bits v) const {
    const stored_key moved = slot_type::stored_in(old);
    if (!slot_type::is_second(moved)) mark(bucket, moved);
    replace(bucket, bit, old, n, v);
  }
  // Moves a key to a free slot of its other bucket, and puts an item into its slot.
  TILEHASH_FN bool move_out(u32 bucket, u32 bit, const word& old, u32 to, u32 free, stored_key n,
                            value_bits v) const {
    const u32 into = own_any(to, free);
    if (into == slots) return false;
    if (!own(bucket, bit)) {
      give_back(to, into);
      return false;
    }
    put(to, into, static_cast<stored_key>(slot_type::stored_in(old) ^ 2), slot_type::value_of(old));
    leave(bucket, bit, old, n, v);
    return true;
  }
  // The same, where the key moves to the slot of a second one. (A slot that a thread owns and has not changed is as it was.)
  template <class What>
  TILEHASH_FN bool move_two(u32 bucket, u32 bit, u32 to, u32 second, u32 end, u32 free,
                            const What& what) const {
    if (!own(bucket, bit)) return false;
    const word x = load_relaxed(slot_at(bucket, bit)), y = load_relaxed(slot_at(to, second));
    if (move_out(to, second, y, end, free, static_cast<stored_key>(slot_type::stored_in(x) ^ 2),
                 slot_type::value_of(x))) {
      const std::pair<stored_key, value_bits> its = what();
      leave(bucket, bit, x, its.first, its.second);
      return true;
    }
    give_back(bucket, bit);
    return false;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
