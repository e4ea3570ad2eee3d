// SPDX-License-Identifier: Apache-2.0
// A toy that tests what a design can say: inserts that take other keys out.
//
//   first(k)   | a b c d e f g ! |      seven items; the last slot says whether a key of this first bucket is
//   second(k)  | h i k . . . . . |      in its second: only then do lookups go on
//   behind     items, exchanges so far, a lock bit for each bucket
//
// An insert that finds no free slot exchanges its key for another, which goes on from there. A thread with a
// key in hand holds the lock of its first bucket, so that no other thread puts it in meanwhile: the lock of the
// key that it takes out is taken before, and kept. It begins only if a slot is free.
//
// Safe to run at the same time: inserts with inserts, lookups with lookups, erases with erases.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/bucket.hpp>

namespace tilehash::toys {

// `Rounds`: tries of an insert. With few, many a key finds no place.
template <class Key, class Value, u32 Rounds = 2048>
class toy_swapper {
 public:
  using slot_type = slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = murmur;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using value_bits = typename slot_type::value_bits;
  static constexpr u32 bucket_slots = 8, flag_slot = bucket_slots - 1, item_slots = (1U << flag_slot) - 1;
  template <class Tile>
  using bucket_type = bucket<slot_type, bucket_slots, Tile>;
  template <class Space>
  using engine = tilehash::engine::insertion<toy_swapper, Space>;

  static constexpr const char* name = "toy_swapper";
  static constexpr u32 preferred_width = 4, max_rounds = Rounds;
  static constexpr bool replaces_keys = true;
  static constexpr double max_load_factor = 0.75;

  static u64 capacity_for(u64 items, double load_factor) {
    const u64 buckets =
        detail::divide_up(detail::slots_for(items, load_factor, max_load_factor), bucket_slots);
    return (buckets < 2 ? 2 : buckets) * bucket_slots;
  }
  static u64 bytes(u64 capacity) {
    return capacity * sizeof(word) + (2 + detail::divide_up(capacity / bucket_slots, 32)) * sizeof(u32);
  }
  toy_swapper() = default;
  toy_swapper(void* memory, u64 capacity, u64 seed, double /*load_factor*/ = 0)
      : slots_(static_cast<word*>(memory)),
        items_(reinterpret_cast<u32*>(slots_ + capacity)),
        exchanges_(items_ + 1),
        locks_(items_ + 2),
        buckets_(static_cast<u32>(capacity / bucket_slots)),
        hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return u64(buckets_) * bucket_slots; }
  TILEHASH_FN word* slots() const { return slots_; }
  TILEHASH_FN static key_bits key_at(u64 /*slot*/, word w) { return slot_type::key_of(w); }

  // ---- lookup ----
  struct location {
    u32 first, second;  // never equal
  };
  TILEHASH_FN location locate(key_bits key) const {
    const u64 h = hash_(slot_type::hash_input(key));
    const u32 first = static_cast<u32>(fast_range(h, buckets_));
    const u32 second = static_cast<u32>(fast_range(rehash(h), buckets_ - 1));
    return {first, second < first ? second : second + 1};
  }
  TILEHASH_FN static key_bits stored(const location&, key_bits key) { return key; }
  TILEHASH_FN u32 where(const location& p) const { return p.first; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i * bucket_slots; }
  TILEHASH_FN const word* address(const location& p) const { return bucket_at(p.first); }
  TILEHASH_FN static void advance(location& p, const auto& /*result*/) { p.first = p.second; }
  TILEHASH_FN static constexpr u32 max_steps() { return 2; }

  template <class Tile>
  TILEHASH_FN auto examine(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    auto a = b.look_up(t, wanted);
    const bool flag = b.has(t, slot_type::tombstone_mark);
    if (!a.found() && flag) a.what = lookup_state::go_on;
    return a;
  }

  // ---- change ----
  template <class Tile>
  TILEHASH_FN insert_result<key_bits, value_bits> insert(Tile t, key_bits key, value_bits value, bool active,
                                                         bool evicted = false) const {
    const location p = locate(key);
    const bool locked = lock(t, p.first, active && !evicted), held = locked || (active && evicted);
    const auto b1 = bucket_type<Tile>::read_shared(t, bucket_at(p.first), held);
    const auto b2 = bucket_type<Tile>::read_shared(t, bucket_at(p.second), held);
    const bool known1 = b1.has(t, key), known2 = b2.has(t, key), known = held && (known1 || known2);
    const bool counted = count_one(t, locked && !known), goes = held && !known && (evicted || counted);

    const u32 free1 = b1.match_empty(t) & item_slots, free2 = b2.match_empty(t) & item_slots;
    const u32 free = free1 != 0 ? free1 : free2, at = free != 0 ? detail::lowest(free) : 0;
    const word mine = slot_type::pack(key, value);
    const bool put = try_claim(t, bucket_at(free1 != 0 ? p.first : p.second) + at, slot_type::empty_word,
                               mine, goes && free != 0);

    if (t.rank() == 0 && put && free1 == 0) passes(p);

    const bool swaps = goes && free == 0;
    u32 turn = 0;
    if (t.rank() == 0 && swaps) turn = mix32(detail::fetch_add(exchanges_, 1U));
    turn = t.broadcast(turn, 0);
    const u32 slot = (turn >> 1) % flag_slot;
    const word content1 = b1.at(t, slot), content2 = b2.at(t, slot);
    const word other = (turn & 1) != 0 ? content2 : content1;
    const u32 its_lock = locate(slot_type::key_of(other)).first;
    const bool same = its_lock == p.first, got = lock(t, its_lock, swaps && !same);
    const bool swapped = try_claim(t, bucket_at((turn & 1) != 0 ? p.second : p.first) + slot, other, mine,
                                   swaps && (same || got));
    if (t.rank() == 0 && swapped && (turn & 1) != 0) passes(p);
    t.sync();
    if (t.rank() == 0) {
      if (counted && !put && !swapped) detail::fetch_add(items_, ~0U);
      if (got && !swapped) detail::unlock(locks_, its_lock);
      if (swapped ? !same : put || known || locked) detail::unlock(locks_, p.first);
    }
    if (swapped) return {insert_state::replaced, slot_type::key_of(other), slot_type::value_of(other)};
    return {known           ? insert_state::present
            : put           ? insert_state::inserted
            : held && !goes ? insert_state::full
                            : insert_state::again};
  }

  // Says in a key's first bucket that it is stored in its second.
  TILEHASH_FN void passes(const location& p) const {
    detail::compare_and_swap(bucket_at(p.first) + flag_slot, slot_type::empty_word,
                             slot_type::tombstone_word);
  }

  // ---- keys in hand, while nothing else is at work ----
  TILEHASH_FN void drop(key_bits key) const {
    detail::fetch_add(items_, ~0U);
    detail::unlock(locks_, locate(key).first);
  }
  TILEHASH_FN u32* marks() const { return locks_; }
  TILEHASH_FN u64 mark_words() const { return (u64(buckets_) + 31) / 32; }
  TILEHASH_FN void none_evicted(u64 word_of_marks) const { locks_[word_of_marks] = 0; }

  // ---- sweep ----
  TILEHASH_FN static word unmarked(u64 /*slot*/, word w) {
    return w == slot_type::tombstone_word ? slot_type::empty_word : w;
  }
  TILEHASH_FN void mark(const location& p) const { passes(p); }
  bool sweeps_after(u64 erased, u64 /*items*/) const { return erased >= capacity() / 8; }

  TILEHASH_FN static word vacated(const auto& /*result*/) { return slot_type::empty_word; }
  TILEHASH_FN void erased(const location&, const location&, const auto& /*result*/) const {
    detail::fetch_add(items_, ~0U);
  }

 private:
  template <class Tile>
  TILEHASH_FN bool lock(Tile t, u32 which, bool wanted) const {
    bool got = false;
    if (wanted && t.rank() == 0) got = detail::try_lock(locks_, which);
    return t.broadcast(u32(got), 0) != 0;
  }
  // Capacity for one more?
  template <class Tile>
  TILEHASH_FN bool count_one(Tile t, bool wanted) const {
    bool counted = false;
    if (wanted && t.rank() == 0) {
      counted = detail::fetch_add(items_, 1U) < buckets_ * 6;  // the load factor's share, exactly
      if (!counted) detail::fetch_add(items_, ~0U);
    }
    return t.broadcast(u32(counted), 0) != 0;
  }

  word* slots_ = nullptr;
  u32* items_ = nullptr;
  u32* exchanges_ = nullptr;
  u32* locks_ = nullptr;
  u32 buckets_ = 0;
  murmur hash_;
};

static_assert(self_inserting<toy_swapper<u32, u32>> && replacing<toy_swapper<u32, u32>> &&
              erasable<toy_swapper<u32, u32>> && !steady<toy_swapper<u32, u32>>);

}  // namespace tilehash::toys
