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
  // Puts an item into a free slot of its first bucket or, if that is full, its second. Refused: both are full.
  TILEHASH_FN outcome place(const location& first, value_bits v) const {
    const view b(keys, first.bucket, first.bucket);
    if (b.match(first.stored) != 0) return outcome::present;
    const bool has_lost_keys = has_bit(first.bucket, Design::filter_index(first.stored));
    u32 free = b.match(0);
    if (!has_lost_keys) {
      const outcome o = claim(first, b, free, v);
      if (o != outcome::refused) return o;
      free = 0;
    }
    location second = first;
    design.turn(second);
    const view c(keys, second.bucket, second.bucket);
    if (c.match(second.stored) != 0) return outcome::present;
    if (free != 0) return claim(first, b, free, v);
    const outcome o = claim(second, c, c.match(0), v);
    if (o == outcome::inserted) leaves(first.bucket, first.stored);
    return o;
  }
  // Puts an item into one of these slots, which were free. Refused: other keys have taken them.
  TILEHASH_FN outcome claim(const location& p, const view& b, u32 free, value_bits v) const {
    for (; free != 0; free &= free - 1) {
      const u32 at = p.bucket * slots + b.lowest_slot(free);
      const stored_key seen = compare_and_swap(keys + at, stored_key(0), p.stored);
      if (seen == p.stored) return outcome::present;
      if (seen != 0) continue;
      fetch_add(states + p.bucket, one);
      flip_bits(home + at, slot_type::make(p.stored, v));
      return outcome::inserted;
    }
    return outcome::refused;
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

  // ---- displacement: the lanes of a tile look at the keys of an item's buckets ----
  static constexpr u32 search_width = 2 * slots;

  // Places a lane's item whose buckets are full: a key of either moves to its other bucket. The lanes of a warp call it
  // together; those whose item does not wait help.
  template <class Tile>
  TILEHASH_FN bool displace_by_one(const Tile& t, const word& e, bool waits) const {
    const location first = design.location_of(entry::hash_of(e));
    location second = first;
    design.turn(second);
    u32 may = 0;  // bit s: the key in slot s of the first bucket; bit s + slots: of the second
    for (u32 todo = t.ballot(waits); t.any(todo != 0); todo &= todo - 1) {
      const u32 its = todo != 0 ? lowest(todo) : 0;
      const u32 a = t.broadcast(first.bucket, its), b = t.broadcast(second.bucket, its);
      const u32 bucket = t.rank() < slots ? a : b;
      const stored_key x = load_relaxed(keys + (bucket * slots + t.rank() % slots));
      const u32 moving = t.ballot(todo != 0 && moves_to_free_slot(bucket, x));
      if (todo != 0 && t.rank() == its) may = moving;
    }
    for (; may != 0; may &= may - 1) {
      const bool is_first = lowest(may) < slots;
      const u32 bucket = is_first ? first.bucket : second.bucket;
      const stored_key n = is_first ? first.stored : second.stored;
      if (!push_one(bucket * slots + lowest(may) % slots, bucket, n, entry::value_of(e))) continue;
      if (!is_first) leaves(first.bucket, first.stored);
      return true;
    }
    return false;
  }
  // The same where the key moves to a slot of its other bucket from which a third key moves on.
  template <class Tile>
  TILEHASH_FN bool displace_by_two(const Tile& t, const word& e, bool waits) const {
    const location first = design.location_of(entry::hash_of(e));
    location second = first;
    design.turn(second);
    bool placed = false;
    for (u32 tries = 0; tries < 2 && t.any(waits); ++tries) {  // others may be faster
      u32 slot = 0,
          thirds = 0;  // of a key that may move, as in displace_by_one(); and of those that may make a slot
      for (u32 todo = t.ballot(waits); t.any(todo != 0); todo &= todo - 1) {
        const u32 its = todo != 0 ? lowest(todo) : 0;
        const u32 a = t.broadcast(first.bucket, its), b = t.broadcast(second.bucket, its);
        const u32 bucket = t.rank() < slots ? a : b;
        const stored_key x = load_relaxed(keys + (bucket * slots + t.rank() % slots));
        const u32 middle = other_bucket(bucket, x);
        const u32 seen = todo != 0 && is_movable(x) && middle != bucket ? with_free_slot(middle) : 0;
        const u32 may = t.ballot(seen != 0), one_of_them = may != 0 ? lowest(may) : 0;
        const u32 its_thirds = t.broadcast(seen, one_of_them);
        if (todo != 0 && t.rank() == its) slot = one_of_them, thirds = its_thirds;
      }
      if (thirds == 0) continue;
      location p = first;
      if (slot >= slots) p = second;
      if (!push_two(p.bucket * slots + slot % slots, p, thirds, entry::value_of(e))) continue;
      if (slot >= slots) leaves(first.bucket, first.stored);
      placed = true;
      waits = false;
    }
    return placed;
  }

 private:
  TILEHASH_FN static bool is_movable(stored_key n) { return n != 0 && (n & settled) == 0; }
  TILEHASH_FN u32 other_bucket(u32 bucket, stored_key n) const {
    return design.mirror(bucket, is_movable(n) ? n : stored_key(0));
  }
  TILEHASH_FN bool moves_to_free_slot(u32 bucket, stored_key n) const {
    return is_movable(n) && has_free_slot(other_bucket(bucket, n));
  }
  // The slots of a bucket whose keys may move, and whose other bucket has a free slot.
  TILEHASH_FN u32 with_free_slot(u32 bucket) const {
    u32 mask = 0;
    TILEHASH_UNROLL_BY(2)
    for (u32 k = 0; k < slots; ++k)
      mask |= u32(moves_to_free_slot(bucket, load_relaxed(keys + (bucket * slots + k)))) << k;
    return mask;
  }
  // Puts n into a slot of a bucket, whose key moves to its other bucket.
  TILEHASH_FN bool push_one(u32 at, u32 bucket, stored_key n, value_bits v) const {
    const stored_key x = load_relaxed(keys + at);
    if (!is_movable(x)) return false;
    const u32 other = design.mirror(bucket, x);
    if (!reserve(other)) return false;
    if (!take_slot(at, x, n)) {
      give_back(other);
      return false;
    }
    leaves_first(bucket, x);
    drop(other, x ^ 2, replace(at, n, v));
    return true;
  }
  // Puts the item at p into a slot whose key moves to one of these slots of its other bucket.
  TILEHASH_FN bool push_two(u32 at, const location& p, u32 thirds, value_bits v) const {
    const stored_key x = load_relaxed(keys + at);
    const u32 middle = other_bucket(p.bucket, x);
    if (!is_movable(x) || middle == p.bucket) return false;
    for (; thirds != 0; thirds &= thirds - 1) {
      const u32 its = middle * slots + lowest(thirds);
      const stored_key y = load_relaxed(keys + its);
      if (!is_movable(y)) continue;
      const u32 other = design.mirror(middle, y);
      if (!reserve(other)) continue;
      if (!take_slot(its, y, x ^ 2)) {
        give_back(other);
        continue;
      }
      if (!take_slot(at, x, p.stored)) {  // another thread has moved x
        exchange(keys + its, y);
        give_back(other);
        return false;
      }
      leaves_first(p.bucket, x);
      leaves_first(middle, y);
      drop(other, y ^ 2, replace(its, x ^ 2, replace(at, p.stored, v)));
      return true;
    }
    return false;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
