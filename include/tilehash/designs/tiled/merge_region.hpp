// SPDX-License-Identifier: Apache-2.0
// A region into which `tiled` merges items (designs/tiled/merge.hpp): its stored keys and the states of its
// buckets in a block's scratch, and its slots in the table. Each change is made in both.
#pragma once

#include <tilehash/algorithm/block.hpp>
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
  static constexpr u32 slots = Design::bucket_slots;
  // A bucket's state is its filter and, above it, its count.
  static constexpr u32 one = 1U << 24;  // taken slot
  static_assert(Design::filter_size <= 24);
  // A stored key has three bits less than a key: the highest marks a key that does not move again.
  static constexpr stored_key settled = static_cast<stored_key>(stored_key(1) << (slot_type::key_width - 1));

  struct view : scratch_bucket<stored_key, slots> {
    using scratch_bucket<stored_key, slots>::scratch_bucket;
    TILEHASH_FN u32 match(stored_key wanted) const {  // bit k: words[k]; 0 for the free ones
      return this->match_if([&](stored_key n) { return ((n ^ wanted) & ~settled) == 0; });
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
    const u32 bit = Design::filter_index(n);
    if (has_bit(bucket, bit)) return;
    set_bits(states + bucket, 1U << bit);
    const auto f = Design::filter_for(n);
    set_bits(home + (bucket * slots + f.slot), static_cast<word>(word(1) << f.at));
  }
  // Puts an item into a free slot of a bucket: inserted, present, or refused when it is full.
  TILEHASH_FN outcome put(u32 bucket, stored_key n, value_bits v) const {
    for (;;) {  // repeats when another thread took the slot: at most once for each slot
      const view b(keys, bucket, bucket);
      if (b.match(n) != 0) return outcome::present;
      const u32 free = b.match(0);
      if (free == 0) return outcome::refused;
      const u32 at = bucket * slots + b.lowest_slot(free);
      if (compare_and_swap(keys + at, stored_key(0), n) != 0) continue;
      fetch_add(states + bucket, one);
      flip_bits(home + at, slot_type::make(n, v));
      return outcome::inserted;
    }
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
  TILEHASH_FN bool reserve(u32 bucket) const {
    for (u32 old = load_relaxed(states + bucket); old / one < slots;) {  // repeats when others changed it
      const u32 seen = compare_and_swap(states + bucket, old, old + one);
      if (seen == old) return true;
      old = seen;
    }
    return false;
  }
  TILEHASH_FN void give_back(u32 bucket) const { fetch_add(states + bucket, 0U - one); }
  // Puts an item into a bucket that has promised a free slot.
  TILEHASH_FN void drop(u32 bucket, stored_key n, value_bits v) const {
    for (u32 s = bucket % slots;; s = (s + 1) % slots) {  // at most once round for each slot
      const u32 at = bucket * slots + s;
      if (load_relaxed(keys + at) == 0 &&
          compare_and_swap(keys + at, stored_key(0), static_cast<stored_key>(n | settled)) == 0)
        return flip_bits(home + at, slot_type::make(n, v));
    }
  }
  // Replaces the content of a slot that the caller owns. Returns the old value.
  TILEHASH_FN value_bits replace(u32 at, stored_key n, value_bits v) const {
    const word old = static_cast<word>(load_relaxed(home + at) & ~slot_type::filter_mask);
    flip_bits(home + at, static_cast<word>(old ^ slot_type::make(n, v)));
    return slot_type::value_of(old);
  }
  TILEHASH_FN void leaves_first(u32 bucket, stored_key n) const {
    if (!slot_type::is_second(n)) leaves(bucket, n);
  }

  // The keys of a bucket that may move.
  TILEHASH_FN static u32 movable(const view& b) {
    return b.match_if([](stored_key n) { return n != 0 && (n & settled) == 0; });
  }
  // The same, if their other bucket has a free slot.
  TILEHASH_FN u32 with_free_slot(const view& b, u32 bucket) const {
    u32 mask = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k) {
      const stored_key n = b.words[k];
      const bool may = n != 0 && (n & settled) == 0;
      mask |= u32(may && has_free_slot(design.mirror(bucket, may ? n : stored_key(0)))) << k;
    }
    return mask;
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

  // Puts n into a full bucket by moving so many keys.
  TILEHASH_FN bool push(u32 moved, u32 bucket, stored_key n, value_bits v, u32 dice) const {
    return moved == 1 ? push_one(bucket, n, v, dice) : push_two(bucket, n, v, dice);
  }
  // A key of the bucket moves to its other bucket.
  TILEHASH_FN bool push_one(u32 bucket, stored_key n, value_bits v, u32 dice) const {
    const view b(keys, bucket, dice);
    for (u32 todo = with_free_slot(b, bucket); todo != 0; todo &= todo - 1) {
      const u32 at = bucket * slots + b.lowest_slot(todo);
      const stored_key x = load_relaxed(keys + at);
      if (x == 0 || (x & settled) != 0) continue;
      const u32 other = design.mirror(bucket, x);
      if (!reserve(other)) continue;
      if (!take_slot(at, x, n)) {
        give_back(other);
        continue;
      }
      leaves_first(bucket, x);
      drop(other, x ^ 2, replace(at, n, v));
      return true;
    }
    return false;
  }
  // A key of the bucket moves to its other bucket, from which a third key moves to its own other bucket.
  TILEHASH_FN bool push_two(u32 bucket, stored_key n, value_bits v, u32 dice) const {
    const view b(keys, bucket, dice);
    for (u32 todo = movable(b); todo != 0; todo &= todo - 1) {
      const u32 at = bucket * slots + b.lowest_slot(todo);
      const stored_key x = load_relaxed(keys + at);
      if (x == 0 || (x & settled) != 0) continue;
      const u32 middle = design.mirror(bucket, x);
      if (middle == bucket) continue;
      const view c(keys, middle, dice);
      for (u32 thirds = with_free_slot(c, middle); thirds != 0; thirds &= thirds - 1) {
        const u32 its = middle * slots + c.lowest_slot(thirds);
        const stored_key y = load_relaxed(keys + its);
        if (y == 0 || (y & settled) != 0) continue;
        const u32 other = design.mirror(middle, y);
        if (!reserve(other)) continue;
        if (!take_slot(its, y, x ^ 2)) {
          give_back(other);
          continue;
        }
        if (!take_slot(at, x, n)) {  // another thread has moved x
          exchange(keys + its, y);
          give_back(other);
          break;
        }
        leaves_first(bucket, x);
        leaves_first(middle, y);
        drop(other, y ^ 2, replace(its, x ^ 2, replace(at, n, v)));
        return true;
      }
    }
    return false;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
