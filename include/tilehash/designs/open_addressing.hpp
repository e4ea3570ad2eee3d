// SPDX-License-Identifier: Apache-2.0
// Open addressing: one slot at a time, compare-and-swap.
//
//     hash(k)        +jump           +jump                     a slot is one word: key and value
//        |-------------v---------------v
//   | a | b | . | c | d | x | e | . | k | . |        . empty   x erased   a letter is a key and its value
//
// An insert walks the key's probe sequence (open_addressing/probe.hpp) until it meets the key or an empty
// slot, and claims the first free slot it passed. A lookup walks the same way and ends at the key or at an
// empty slot.
//
// Invariants. (1) A key is stored at most once in its sequence. (2) No empty slot precedes a key in its
// sequence: erase() therefore leaves `erased`, which lookups pass, inserts may take and a sweep removes
// (kernel/sweep.hpp). (3) While only inserts run, a slot that is taken stays taken. So two inserts of one key
// meet: both aim at the first free slot of the same sequence, one wins it, and the other starts again and
// finds the key.
//
// An insert makes at most min(capacity, 10 000) probes, 4096 where jumps grow (open_addressing/probe.hpp);
// then the key is refused. The engine then starts again with another hash function, and counts that. The
// table keeps its size while it is less full than asked for, and grows after four retries. Every loop is
// bounded: by that limit, and by the slots that other inserts can still take in front of this one.
//
// Safe to run at the same time: inserts with inserts, lookups with lookups, erases with erases. Inserts
// concurrent with erases are not safe; lookups concurrent with either may miss keys that are inserted
// meanwhile.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, chapter 3.
#pragma once

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/open_addressing/probe.hpp>
#include <tilehash/space/bucket.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

template <class Key, class Value, class Probe, class Hash = murmur>
class open_addressing {
 public:
  using slot_type = slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using location = probe::location;
  template <class Tile>
  using bucket_type = bucket<slot_type, 1, Tile>;

  template <class Space>
  using engine = tilehash::engine::insertion<open_addressing, Space>;

  static constexpr const char* name = Probe::name;
  static constexpr u32 preferred_width = 1;
  static constexpr double max_load_factor = detail::highest_load_factor<Probe>();

  // Slots for `items` at `load_factor`: a prime where the probe sequence needs one.
  static u64 capacity_for(u64 items, double load_factor) {
    const u64 slots = detail::slots_for(items, load_factor, max_load_factor);
    return Probe::needs_prime ? detail::next_prime(slots < 2 ? 2 : slots) : slots;
  }
  static u64 bytes(u64 capacity) { return capacity * sizeof(word); }

  open_addressing() = default;
  open_addressing(void* memory, u64 capacity, u64 seed, double /*load_factor*/ = 0)
      : slots_(static_cast<word*>(memory)), capacity_(capacity), hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return capacity_; }
  TILEHASH_FN word* slots() const { return slots_; }

  // ---- lookup: O(1 / (1 - load)) slots for a miss with double hashing ----
  TILEHASH_FN location locate(key_bits k) const {
    const auto key = slot_type::hash_input(k);
    return Probe::start(fast_range(hash_(key), capacity_), static_cast<u64>(key), capacity_);
  }
  TILEHASH_FN static key_bits stored(const location&, key_bits k) {
    return k;
  }  // compared with the slots of a bucket
  TILEHASH_FN static key_bits key_at(u64 /*slot*/, word w) { return slot_type::key_of(w); }
  TILEHASH_FN u64 where(const location& p) const { return p.at; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i; }
  TILEHASH_FN const word* address(const location& p) const { return bucket_at(p.at); }
  TILEHASH_FN void advance(location& p, const auto& /*result*/) const { next(p); }
  TILEHASH_FN void next(location& p) const { probe::advance<Probe>(p, capacity_); }
  TILEHASH_FN u32 max_steps() const {
    const u64 most = Probe::max_probes(capacity_);
    return static_cast<u32>(capacity_ < most ? capacity_ : most);
  }

  template <class Tile>
  TILEHASH_FN auto examine(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    auto a = b.look_up(t, wanted);
    const bool end = b.has_empty(t);
    if (a.what != lookup_state::found && !end) a.what = lookup_state::go_on;
    return a;
  }

  // ---- change ----
  template <class Tile>
  TILEHASH_FN insert_position<word> examine_for_insert(Tile t, const bucket_type<Tile>& b,
                                                       key_bits wanted) const {
    const bool same = b.has(t, wanted), empty = b.has_empty(t), erased = b.has(t, slot_type::tombstone_mark);
    return {same    ? lookup_state::found
            : empty ? lookup_state::absent
                    : lookup_state::go_on,
            empty || erased, 0, b.at(t, 0)};
  }

  TILEHASH_FN static word vacated(const insert_position<word>& /*result*/) {
    return slot_type::tombstone_word;
  }

  // ---- sweep ----
  TILEHASH_FN static word unmarked(u64 /*slot*/, word w) {
    return w == slot_type::tombstone_word ? slot_type::empty_word : w;
  }
  TILEHASH_FN void mark(const location& p) const {
    detail::compare_and_swap(slots_ + p.at, slot_type::empty_word, slot_type::tombstone_word);
  }
  bool sweeps_after(u64 erased, u64 items) const {
    return detail::tombstones_are_due(capacity_, items, erased, Probe::jumps ? 4 : 8);
  }

 private:
  word* slots_ = nullptr;
  u64 capacity_ = 0;
  Hash hash_;
};

static_assert(probe_inserting<open_addressing<u32, u32, probe::linear>> &&
              erasable<open_addressing<u32, u32, probe::linear>> &&
              requires(const open_addressing<u32, u32, probe::linear> d) {
                d.unmarked(u64(0), 0);
                d.sweeps_after(u64(0), u64(0));
              });

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
