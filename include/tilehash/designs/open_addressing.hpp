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
// meet. Both aim at the first free slot of the same sequence; one wins it, and the other starts again and
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
#include <tilehash/designs/open_addressing/single_slots.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

template <class Key, class Value, class Probe, class Hash = murmur>
class open_addressing : public detail::single_slots<Key, Value> {
  using base = detail::single_slots<Key, Value>;

 public:
  using typename base::key_bits;
  using typename base::slot_type;
  using typename base::word;
  using hasher = Hash;
  using location = probe::location;

  template <class Space>
  using engine = tilehash::engine::insertion<open_addressing, Space>;

  static constexpr const char* name = Probe::name;
  static constexpr double max_load_factor = detail::highest_load_factor<Probe>();
  static constexpr bool probes_next_slots = !Probe::jumps;  // one after the other

  // Slots for `items` at `load_factor`: a prime where the probe sequence needs one.
  static u64 capacity_for(u64 items, double load_factor) {
    const u64 slots = detail::slots_for(items, load_factor, max_load_factor);
    return Probe::needs_prime ? detail::next_prime(slots < 2 ? 2 : slots) : slots;
  }
  static u64 bytes(u64 capacity) { return capacity * sizeof(word); }

  open_addressing() = default;
  open_addressing(void* memory, u64 capacity, u64 seed, double /*load_factor*/ = 0)
      : base(memory), capacity_(capacity), hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return capacity_; }

  // ---- lookup: O(1 / (1 - load)) slots for a miss with double hashing ----
  TILEHASH_FN location locate(key_bits k) const {
    const auto key = slot_type::hash_input(k);
    return Probe::start(fast_range(hash_(key), capacity_), static_cast<u64>(key), capacity_);
  }
  TILEHASH_FN void advance(location& p, const auto& /*result*/) const { next(p); }
  TILEHASH_FN void next(location& p) const { probe::advance<Probe>(p, capacity_); }
  TILEHASH_FN u32 max_steps() const {
    const u64 most = Probe::max_probes(capacity_);
    return static_cast<u32>(capacity_ < most ? capacity_ : most);
  }

  bool sweeps_after(u64 erased, u64 items) const {
    return detail::tombstones_are_due(capacity_, items, erased, Probe::jumps ? 4 : 8);
  }

 private:
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
