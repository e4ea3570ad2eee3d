// SPDX-License-Identifier: Apache-2.0
// Robin Hood hashing that keeps neighbouring keys together; each home stores how far its keys have gone.
//
//   home of a, b, c, d            home + offset(2)               home + offset(3)
//   | a1 b1 x1 y2 z1 v1 w3 u1 |   | . c2 k1 l1 m2 n1 o1 p2 |     | q1 . r2 d3 s1 . . t1 |
//     '-- its max: 3: a lookup of a key from here reads at most three buckets
//
// a1: a key and its age, the number of the bucket in its own sequence, from 1. A bucket is a line of 64 bytes
// (or one slot, the paper's shape). All keys of a home follow one sequence, home + offset(age), with random
// offsets that are the same for the whole table. `Slots` neighbouring keys share a home, and the next ones
// have the next bucket, so they are neighbours at every age (robin_hood/homes.hpp). Then 32 neighbouring keys
// read the memory of 32 slots, where each would otherwise read a line alone. That is the paper's coherent
// sequence; papers/robin_hood_random.hpp mixes the keys first.
//
// An insert goes from bucket to bucket until one has a free slot, or a key that is younger than the new one
// would be in it. It evicts that key, which goes on from its own bucket. So ages stay alike: in lines at load
// 0.9 the oldest are 4 or 5 and found keys take 1.2 reads. With one slot they take 2.6 reads, as each of them
// may miss. Each home stores the largest age of its keys, so a lookup that fails reads no more buckets than
// that.
//
// Invariants. (1) A key is stored once, in bucket home + offset(age). (2) Its age is at most its home's
// maximum. (3) While inserts run, a slot's age only grows: a key that has passed a slot passes it again. So
// equal keys meet at the same slot, and the second finds the first.
//
// Two inserts of one key meet even while the key is in flight, in no slot. A lane announces a key before it
// evicts it (robin_hood/counters.hpp); a lane that has not found its key looks again if its home has keys in
// flight. An in-flight key never waits, so some lane always makes progress.
//
// Erasing frees the slot: lookups do not stop at free ones. Homes whose keys have gone further are always
// marked. When a sixteenth of the slots has been freed, tidy() moves the keys of each marked home nearer, the
// oldest first, and lowers its maximum to the true value. It runs three times, as each key that moves frees a
// slot for others.
//
// Ages are written in bits that the home takes from the key, and more buckets take more bits. The smallest
// table has ages up to 15, and tables of about a thousand buckets or more have ages up to 255. A key that
// would grow older makes the engine rebuild the table with other homes and offsets, and a report counts that.
// Where there is no memory for a new table, the engine puts such keys back and refuses new ones
// (engine/put_back.hpp). The maximum has MaxAgeBits bits. Its last code means "as far as any key has gone",
// so it is exact up to 15 with 4 bits, and up to less with fewer. 0 bits omit it, for programs that only look
// up keys that are present.
//
// Safe to run at the same time: inserts with inserts, lookups with lookups, erases with erases.
//
// Source: I. Garcia, S. Lefebvre, S. Hornus, A. Lasram, Coherent Parallel Hashing, SIGGRAPH Asia 2011 (there
// a slot gives up 4 bits of its key, ages over 15 fail, and the table is built once); the order of ages is P.
// Celis' (Robin Hood Hashing, 1986).
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/robin_hood/build.hpp>
#include <tilehash/designs/robin_hood/counters.hpp>
#include <tilehash/designs/robin_hood/homes.hpp>
#include <tilehash/designs/robin_hood/insertion.hpp>
#include <tilehash/designs/robin_hood/slot.hpp>
#include <tilehash/space/bucket.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// Keeps neighbouring keys in neighbouring memory, and fills all of its slots (docs/explain/robin_hood.md).
///
/// Each verb takes O(1) expected a key at a fixed load factor below 1. A lookup reads no more buckets than the
/// oldest key of its home. Load factor: at most 1. An insert may rebuild the table with another hash function,
/// which the report counts as a restart. It has no mutable_view(): in kernels, lookups run concurrently.
/// \tparam Key of up to 8 bytes.
/// \tparam Value of up to 8 bytes, or void for a set.
/// \tparam Slots of a bucket: 1, 2, 4, 8 or 16.
/// \tparam MaxAgeBits of a home's maximum age: 0 to 4.
/// \tparam Sequence how keys get their homes (papers/robin_hood_random.hpp has another).
template <class Key, class Value, u32 Slots = 64 / sizeof(typename quotient_slot<Key, Value>::word),
          u32 MaxAgeBits = Slots == 1 ? 4 : 3, class Sequence = probe::coherent>
class robin_hood {
  static_assert(Slots == 1 || Slots == 2 || Slots == 4 || Slots == 8 || Slots == 16,
                "tilehash: buckets of a Robin Hood table have 1, 2, 4, 8 or 16 slots");
  static_assert(MaxAgeBits <= 4, "tilehash: a maximum age has at most 4 bits");

 public:
  using slot_type = robin_hood_slot<Key, Value, MaxAgeBits>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = murmur;
  using sequence = Sequence;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using stored_key = typename slot_type::stored_key;
  using value_bits = typename slot_type::value_bits;
  using homes_type = detail::robin_hood_homes<key_bits, Sequence, Slots, MaxAgeBits>;
  static constexpr u32 bucket_slots = Slots;
  template <class Tile>
  using bucket_type = bucket<slot_type, bucket_slots, Tile>;

  template <class Space>
  using engine = tilehash::engine::insertion<robin_hood, Space>;

  static constexpr const char* name = Sequence::name;
  // Neighbouring keys read the same lines: a wider tile would only repeat its neighbours' requests.
  static constexpr u32 preferred_width =
      Sequence::keeps_neighbours ? 1 : detail::width_for(bucket_slots * sizeof(word));
  static constexpr u32 lookups_at_once = Sequence::keeps_neighbours && bucket_slots * sizeof(word) <= 16
                                             ? detail::tuning::gpu::neighbours_at_once
                                             : 1;
  static constexpr double max_load_factor = 1;
  static constexpr bool replaces_keys = true;
  static constexpr u32 max_rounds = 1024;  // tries of an insert that meets concurrent ones
  static constexpr u32 tidy_passes = 3;
  static constexpr bool is_partition_built = bucket_slots <= 8;
  static constexpr u32 group_buckets = bucket_slots <= 8 ? 8 / bucket_slots : 1;  // their ages are a word
  static constexpr u64 max_steps_a_bucket = 64;  // so an evicted key reaches even the last free slot

  static u64 capacity_for(u64 items, double load_factor) {
    u64 buckets = detail::divide_up(detail::slots_for(items, load_factor, max_load_factor), bucket_slots);
    if (buckets < homes_type::least) buckets = homes_type::least;
    if constexpr (is_partition_built) buckets = detail::divide_up(buckets, group_buckets) * group_buckets;
    detail::require(buckets <= homes_type::most,
                    "robin_hood has at most 2^32 - 1 buckets; ask for fewer items");
    return buckets * bucket_slots;
  }
  static u64 bytes(u64 capacity) {
    return capacity * sizeof(word) +
           detail::robin_hood_counters::words(capacity, capacity / bucket_slots) * sizeof(u32);
  }

  robin_hood() = default;
  // Without memory it can still locate keys.
  robin_hood(void* memory, u64 capacity, u64 seed, double /*load_factor*/ = 0)
      : slots_(static_cast<word*>(memory)),
        homes_(capacity / bucket_slots, seed),
        counters_(memory == nullptr ? nullptr : reinterpret_cast<u32*>(slots_ + capacity), capacity,
                  homes_.buckets()) {}

  TILEHASH_FN u64 capacity() const { return static_cast<u64>(homes_.buckets()) * bucket_slots; }
  TILEHASH_FN word* slots() const { return slots_; }
  TILEHASH_FN const homes_type& homes() const { return homes_; }
  TILEHASH_FN const detail::robin_hood_counters& counters() const { return counters_; }

  // Fills an empty table.
  auto bulk_build() const { return detail::robin_hood_build<robin_hood>{*this}; }
  TILEHASH_FN key_bits hash(key_bits key) const { return homes_.hash(key); }
  TILEHASH_FN key_bits unhash(key_bits k) const { return homes_.unhash(k); }

  // ---- where a key is stored ----
  struct location {
    u32 home, bucket;
    u32 age;
    u32 limit;  // its home's maximum age, once the home's bucket is read
    key_bits remainder;
  };
  TILEHASH_FN location locate(key_bits key) const {
    const auto p = homes_.position_of(key);
    return {p.home, p.home, 1, ~0U, p.remainder};
  }
  TILEHASH_FN static u32 where(const location& p) { return p.bucket; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i * bucket_slots; }
  TILEHASH_FN const word* address(const location& p) const { return bucket_at(p.bucket); }
  TILEHASH_FN stored_key stored(const location& p, key_bits = 0) const {
    return homes_.stored_as(p.age, p.remainder);
  }
  // To the key's next bucket.
  TILEHASH_FN void next(location& p) const { p.bucket = homes_.at(p.home, ++p.age); }
  // The location of the item in a bucket.
  TILEHASH_FN location location_in(u32 bucket, word w) const {
    const stored_key n = slot_type::stored_in(w);
    const u32 age = homes_.age_of(n);
    return {homes_.home_of(bucket, age), bucket, age, ~0U, homes_.remainder_of(n)};
  }
  TILEHASH_FN key_bits key_of(const location& p) const { return homes_.key_of({p.home, p.remainder}); }
  TILEHASH_FN key_bits key_at(u64 slot, word w) const {
    return key_of(location_in(static_cast<u32>(slot / bucket_slots), w));
  }
  TILEHASH_FN u32 age_in(word w) const { return homes_.age_of(slot_type::stored_in(w)); }  // 0: it is free

  // ---- the maximum age of a home's keys: a code in its bucket's first slot ----
  static constexpr u32 last_code = (1U << MaxAgeBits) - 1;  // as far as any key has gone
  TILEHASH_FN static constexpr u32 max_code(u32 age) { return age <= last_code ? age - 1 : last_code; }
  TILEHASH_FN u32 max_age(u32 code) const {
    if (code != last_code) return code + 1;
    const u32 widest = counters_.widest();
    return widest > 1 ? widest : 1;
  }
  template <class Tile>
  TILEHASH_FN static u32 max_code_in(Tile t, const bucket_type<Tile>& b) {
    return b.ask_slot(t, 0, [](word w) { return slot_type::max_code_in(w); });
  }
  // A key of this home is now stored at this age.
  TILEHASH_FN void raise_max_age(u32 home, u32 age) const {
    counters_.widen(age);
    change_max_code(home, [=](u32 code) { return max_code(age) > code ? max_code(age) : code; });
    counters_.make_due(home);
  }

  // ---- lookup ----
  struct answer : lookup_answer<value_bits> {
    u32 limit = 1;
  };
  template <class Tile>
  TILEHASH_FN answer examine(Tile t, const bucket_type<Tile>& b, stored_key wanted) const {
    answer a{b.look_up(t, wanted)};
    const u32 code = max_code_in(t, b);
    const bool at_home = homes_.age_of(wanted) == 1;
    if (at_home) a.limit = max_age(code);
    if (!a.found() && (!at_home || a.limit > 1)) a.what = lookup_state::go_on;
    return a;
  }
  TILEHASH_FN void advance(location& p, const auto& result) const {
    if (p.age == 1) p.limit = result.limit;
    next(p);
  }
  TILEHASH_FN u32 max_steps() const { return homes_.oldest(); }
  TILEHASH_FN static u32 max_steps_of(const location& p) { return p.limit; }

  // ---- change ----
  template <class Tile>
  TILEHASH_FN insert_result<key_bits, value_bits> insert(Tile t, key_bits key, value_bits value, bool active,
                                                         bool evicted = false) const {
    return detail::robin_hood_insertion<robin_hood, Tile>{*this, t}.run(key, value, active, evicted);
  }

  // ---- evicted keys, while nothing else runs on the table ----
  // Gives up an evicted key.
  TILEHASH_FN void drop(key_bits key) const { counters_.drop(locate(key).home); }
  // Words that tidying reads, too: afterwards all homes are due.
  TILEHASH_FN u32* marks() const { return counters_.due(); }
  TILEHASH_FN u64 mark_words() const { return due_words(); }
  TILEHASH_FN void none_evicted(u64 word_of_marks) const { counters_.none_evicted(word_of_marks); }

  struct erase_answer : erase_position<word> {
    u32 limit = 1;
  };
  template <class Tile>
  TILEHASH_FN erase_answer examine_for_erase(Tile t, const bucket_type<Tile>& b, stored_key wanted) const {
    const auto at = b.find_own(t, wanted);
    const u32 code = max_code_in(t, b);
    const bool at_home = homes_.age_of(wanted) == 1;
    const u32 limit = at_home ? max_age(code) : 1;
    return {{at.found                ? lookup_state::found
             : !at_home || limit > 1 ? lookup_state::go_on
                                     : lookup_state::absent,
             at.slot, at.content},
            limit};
  }
  TILEHASH_FN static word vacated(const erase_answer& result) { return slot_type::emptied(result.old); }
  TILEHASH_FN void erased(const location& home, const location& /*now*/,
                          const erase_answer& /*result*/) const {
    counters_.release_slot(home.home);
  }

  // ---- tidying after erases ----
  TILEHASH_FN u32* due() const { return counters_.due(); }
  TILEHASH_FN u64 due_words() const { return detail::robin_hood_counters::bit_words(homes_.buckets()); }
  TILEHASH_FN bool tidies_after(u64 erased) const { return erased >= capacity() / 16; }

  // Moves the keys of a home nearer, the oldest first, as far as slots are free, and stores their new maximum
  // age. Nothing else moves its keys meanwhile; other homes' keys compete for the free slots.
  template <class Tile>
  TILEHASH_FN void tidy(Tile t, u32 home, bool active) const {
    const auto own = bucket_type<Tile>::read_shared(t, bucket_at(home), active);
    const u32 code = max_code_in(t, own);
    u32 far = max_age(code), near = 1;
    bool moving = active && far > near;
    while (t.any(moving)) {  // far falls, or near rises, or a key goes from one to the other
      t.sync();
      const u32 from = homes_.at(home, far), to = homes_.at(home, near);
      const auto b = bucket_type<Tile>::read_shared(t, bucket_at(from), moving);
      const auto destination = bucket_type<Tile>::read_shared(t, bucket_at(to), moving);
      const u32 its = b.match_if(t, [&](word w) { return age_in(w) == far; }),
                free = destination.match_empty(t);
      const u32 slot = its != 0 ? detail::lowest(its) : 0, hole = free != 0 ? detail::lowest(free) : 0;
      const word content = b.at(t, slot), old = destination.at(t, hole);
      const stored_key nearer = homes_.stored_as(near, homes_.remainder_of(slot_type::stored_in(content)));
      const bool came = try_claim(t, bucket_at(to) + hole, old,
                                  slot_type::written_over(old, nearer, slot_type::value_of(content)),
                                  moving && its != 0 && free != 0);
      if (came && t.rank() == 0) take_out(bucket_at(from) + slot, content);
      if (!moving) continue;
      if (its == 0)
        --far;
      else if (free == 0)
        ++near;
      moving = near < far;
    }
    if (!active || t.rank() != 0) return;
    change_max_code(home, [=](u32) { return max_code(far); });
    if (far > 1) counters_.make_due(home);
  }

 private:
  template <class F>
  TILEHASH_FN void change_max_code(u32 home, const F& f) const {
    word* const at = bucket_at(home);
    for (word old = detail::load_relaxed(at);;) {  // again if the slot's item has changed
      const word wanted = slot_type::with_max_code(old, f(slot_type::max_code_in(old)));
      if (wanted == old) return;
      const word seen = detail::compare_and_swap(at, old, wanted);
      if (seen == old) return;
      old = seen;
    }
  }
  // Frees a slot whose key only this tile moves: only the bucket's maximum may change in its word meanwhile.
  TILEHASH_FN static void take_out(word* at, word content) {
    for (word seen = content;;) {
      const word old = seen;
      seen = detail::compare_and_swap(at, old, slot_type::emptied(old));
      if (seen == old) return;
    }
  }

  word* slots_ = nullptr;
  homes_type homes_;
  detail::robin_hood_counters counters_;
};

static_assert(replacing<robin_hood<u32, u32>> && erasable<robin_hood<u32, u32>> &&
              tidying<robin_hood<u32, u32>> && partition_built<robin_hood<u32, u32>> &&
              !steady<robin_hood<u32, u32>> && detail::lookups_alone<robin_hood<u32, u32>>() != 0 &&
              robin_hood<u32, u32>::tidy_passes != 0 &&
              requires(const robin_hood<u32, u32> d, robin_hood<u32, u32>::location p) {
                d.max_steps_of(p);
              });

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(robin_hood);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
