// SPDX-License-Identifier: Apache-2.0
// Bucketed cuckoo hashing (BCHT): two buckets per key; an insert moves other keys when both are full.
//
//   key k ---- first(k) ----> | a b c d e f g h |   64 bytes
//          \-- second(k) ---> | m n . . . . . . |
//
// A bucket is 64 bytes: 16, 8 or 4 slots. A lookup reads one bucket and, only where needed, the second.
//
// A new key goes to the second bucket only when the first is full ("first fit"). A bucket that still has an
// empty slot has never overflowed, so a lookup ends there. Lookups of present keys read 1.0x buckets, and
// those of absent keys end early at moderate loads. papers/bucketed_cuckoo_balanced.hpp takes the emptier
// bucket instead.
//
// Invariants. (1) A key is stored once, in one of its two buckets. (2) First fit: if any slot of first(k) is
// `empty`, k is not in second(k). An erased or vacated slot of a bucket that was full is therefore marked
// `tombstone`: inserts may take it, and lookups do not stop there.
//
// Inserting has two phases, so that both are exact under any race:
//
//   placing       never moves a key. Two inserts of one key aim at the first free slot of the same bucket,
//                 because slots only fill up; no lock is needed. An item that finds both buckets full stays
//                 pending.
//   displacement  places the pending items after all inserts are done. It moves each key on a path to that
//                 key's other bucket, under the locks of all buckets on the path
//                 (algorithm/displacement.hpp).
//
// The locks are one bit per bucket behind the slots. Every loop is bounded by the constants below.
//
// Safe to run at the same time: inserts with inserts, lookups with lookups, erases with erases; nothing else.
//
// Source: the baseline of A. Breslow et al., Horton Tables, USENIX ATC 2016, section 3.
#pragma once

#include <tilehash/algorithm/displacement.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/load_factor.hpp>
#include <tilehash/space/bucket.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace placement {

// A new key goes to its second bucket only when the first is full.
struct first_fit {
  static constexpr const char* name = "bucketed_cuckoo";
  static constexpr bool fills_first = true;
};

}  // namespace placement

/// Two buckets a key, for keys and values that `tiled` does not take.
///
/// Each verb takes O(1) expected a key; a lookup reads at most two buckets. A slot has the bytes of key and
/// value, rounded up to a power of two. Load factor: at most 0.98, and 0.96 with buckets of four slots.
/// Words of 16 bytes need a CPU or sm_90. In kernels, verbs of one kind may run concurrently.
/// \tparam Key,Value of at most 16 bytes together; Value may be void.
/// \tparam Slots of a bucket: 1, 2, 4, 8 or 16.
/// \tparam Placement the rule that chooses one of a new key's two buckets. A rule that does not fill the first
/// bucket first has insert(), one try to store a key (papers/bucketed_cuckoo_balanced.hpp).
template <class Key, class Value, class Hash = murmur,
          u32 Slots = 64 / sizeof(typename slot<Key, Value>::word), class Placement = placement::first_fit>
class bucketed_cuckoo {
 public:
  using slot_type = slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  static_assert(Slots == 1 || Slots == 2 || Slots == 4 || Slots == 8 || Slots == 16,
                "tilehash: buckets of bucketed_cuckoo have 1, 2, 4, 8 or 16 slots");
  static constexpr u32 bucket_slots = Slots;
  template <class Tile>
  using bucket_type = bucket<slot_type, bucket_slots, Tile>;

  template <class Space>
  using engine = tilehash::engine::insertion<bucketed_cuckoo, Space>;

  static constexpr const char* name = Placement::name;
  static constexpr u32 preferred_width = detail::width_for(bucket_slots * sizeof(word));

  static constexpr double max_load_factor = detail::max_load_factor_of_two_buckets<bucket_slots>;
  static constexpr u32 max_path = bucket_slots < 8 ? 12 : 8;  // keys moved to place one item
  static constexpr u32 max_searches =
      bucket_slots < 8 ? 256 : 128;        // failed searches before a key is refused
  static constexpr u32 max_rounds = 4096;  // tries in all, including those that met a lock
  static constexpr bool keys_stay = true;  // while inserts run: displacements come after them

  // Whole buckets, at least two.
  static u64 capacity_for(u64 items, double load_factor) {
    const u64 buckets =
        detail::divide_up(detail::slots_for(items, load_factor, max_load_factor), bucket_slots);
    detail::require(buckets < (u64(1) << 32),
                    "bucketed_cuckoo has at most 2^32 buckets; ask for fewer items");
    return (buckets < 2 ? 2 : buckets) * bucket_slots;
  }
  static u64 bytes(u64 capacity) { return capacity * sizeof(word) + lock_words(capacity) * sizeof(u32); }

  bucketed_cuckoo() = default;
  bucketed_cuckoo(void* memory, u64 capacity, u64 seed, double /*load_factor*/ = 0)
      : slots_(static_cast<word*>(memory)),
        locks_(reinterpret_cast<u32*>(slots_ + capacity)),
        buckets_(capacity / bucket_slots),
        hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return buckets_ * bucket_slots; }
  TILEHASH_FN word* slots() const { return slots_; }

  // ---- lookup: at most two buckets ----
  struct location {
    u32 first, second;  // bucket numbers, never equal
  };
  TILEHASH_FN location locate(key_bits k) const {
    const u64 h = hash_(slot_type::hash_input(k));
    const u32 first = static_cast<u32>(fast_range(h, buckets_));
    const u32 second = static_cast<u32>(fast_range(rehash(h), buckets_ - 1));
    return {first, second < first ? second : second + 1};
  }
  TILEHASH_FN static key_bits stored(const location&, key_bits k) {
    return k;
  }  // compared with the slots of a bucket
  TILEHASH_FN static key_bits key_at(u64 /*slot*/, word w) { return slot_type::key_of(w); }
  TILEHASH_FN u32 where(const location& p) const { return p.first; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i * bucket_slots; }
  TILEHASH_FN const word* address(const location& p) const { return bucket_at(p.first); }
  TILEHASH_FN void advance(location& p, const auto& /*result*/) const { p.first = p.second; }
  TILEHASH_FN static constexpr u32 max_steps() { return 2; }

  template <class Tile>
  TILEHASH_FN auto examine(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    auto a = b.look_up(t, wanted);
    bool end = false;
    if constexpr (Placement::fills_first) end = b.has_empty(t);
    if (a.what != lookup_state::found && !end) a.what = lookup_state::go_on;
    return a;
  }

  // ---- change ----
  // A bucket with an empty slot has never overflowed: the key is in this bucket or absent.
  template <class Tile>
  TILEHASH_FN insert_position<word> examine_for_insert(Tile t, const bucket_type<Tile>& b,
                                                       key_bits wanted) const
    requires(Placement::fills_first)
  {
    const auto at = b.find_own_or_free(t, wanted);
    const bool empty = b.has_empty(t);
    return {at.own  ? lookup_state::found
            : empty ? lookup_state::absent
                    : lookup_state::go_on,
            at.free, at.slot, at.content};
  }

  template <class Tile>
  TILEHASH_FN insert_result<key_bits, typename slot_type::value_bits> insert(
      Tile t, key_bits key, typename slot_type::value_bits value, bool active) const
    requires(!Placement::fills_first)
  {
    return Placement::insert(*this, t, key, value, active);
  }

  // Frees a slot for a key whose buckets are full, by moving other keys.
  using displacement = detail::displacement<bucketed_cuckoo, max_path>;
  TILEHASH_FN displacement displacement_of(key_bits wanted, word content) const {
    const location p = locate(wanted);
    return {*this,
            p,
            {p.first, wanted, content},
            {p.second, wanted, content},
            hash_(slot_type::hash_input(wanted))};
  }

  struct erase_answer : erase_position<word> {
    bool passed = false;  // lookups go on from this bucket to the second
  };
  template <class Tile>
  TILEHASH_FN erase_answer examine_for_erase(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    const auto at = b.find_own(t, wanted);
    const bool passed = !Placement::fills_first || !b.has_empty(t);
    return {{at.found ? lookup_state::found
             : passed ? lookup_state::go_on
                      : lookup_state::absent,
             at.slot, at.content},
            passed};
  }
  // Where no lookup stops at an empty slot, none is marked.
  TILEHASH_FN static word vacated(const erase_answer& result) {
    const bool marked = Placement::fills_first && result.passed;
    return marked ? slot_type::tombstone_word : slot_type::empty_word;
  }

  // ---- sweep ----
  TILEHASH_FN static word unmarked(u64 /*slot*/, word w) {
    return w == slot_type::tombstone_word ? slot_type::empty_word : w;
  }
  TILEHASH_FN void mark(const location& p) const
    requires Placement::fills_first
  {
    for (u32 i = 0; i < bucket_slots; ++i)
      detail::compare_and_swap(bucket_at(p.first) + i, slot_type::empty_word, slot_type::tombstone_word);
  }
  bool sweeps_after(u64 erased, u64 items) const {
    return erased >= capacity() / (detail::marks_cost_little(capacity(), items) ? 2 : 8);
  }

 private:
  static constexpr u64 lock_words(u64 capacity) { return detail::divide_up(capacity / bucket_slots, 32); }

  // ---- used by the displacement ----
  friend displacement;
  friend Placement;
  TILEHASH_FN u32* locks() const { return locks_; }
  TILEHASH_FN u32 other_bucket(const location&, u32 here, word w) const {
    const location p = locate(slot_type::key_of(w));
    return p.first == here ? p.second : p.first;
  }
  TILEHASH_FN static word in_other_bucket(word w) { return w; }
  template <bool Alone = false>
  TILEHASH_FN static void leaves(u32, word) {}
  template <class Tile>
  TILEHASH_FN static u32 free_in(Tile t, const bucket_type<Tile>& b) {
    return b.match_empty(t) | b.match_tombstone(t);
  }
  template <class Tile>
  TILEHASH_FN static u32 movable_in(Tile, const bucket_type<Tile>&) {
    return (1U << bucket_slots) - 1;
  }
  TILEHASH_FN static bool same(word a, word b) { return a == b; }
  template <bool Alone = false>
  TILEHASH_FN static bool replace(word* at, word old, word content, bool) {
    if constexpr (Alone) {
      *at = content;
      return true;
    }
    return detail::compare_and_swap(at, old, content) == old;
  }

  word* slots_ = nullptr;
  u32* locks_ = nullptr;
  u64 buckets_ = 0;
  Hash hash_;
};

static_assert(probe_inserting<bucketed_cuckoo<u32, u32>> && displacing<bucketed_cuckoo<u32, u32>> &&
              erasable<bucketed_cuckoo<u32, u32>> && bucketed_cuckoo<u32, u32>::keys_stay &&
              requires(const bucketed_cuckoo<u32, u32> d, bucketed_cuckoo<u32, u32>::word w) {
                d.unmarked(u64(0), w);
                d.sweeps_after(u64(0), u64(0));
              });

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(bucketed_cuckoo);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
