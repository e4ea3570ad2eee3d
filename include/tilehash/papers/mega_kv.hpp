// SPDX-License-Identifier: Apache-2.0
// mega_kv: two buckets a key; an insert exchanges keys until one finds a free slot (Mega-KV, as Li et al.
// measure it against tables in subtables).
//
//   k ---> | a b c d e f g h |  full         k takes the slot of d,
//    \---> | i j l m n o p q |  full         d takes a slot of its other bucket, and so on
//
// A pair is one word, so that one atomic operation exchanges it. A bucket is 64 bytes, the cost of one
// access: 16, 8 or 4 slots. A new key goes to the emptier of its buckets. A lookup reads both, unless it
// finds the key in the first.
//
// Invariants. (1) A key is in one of its two buckets, or in flight, once. (2) A lane with a key in flight
// holds the lock of the key's first bucket. It takes that lock before it takes the key out, and keeps it
// until the key is stored again. So equal keys meet at one lock, and no insert misses a key in flight. (3) A
// key is taken out only if the table has a slot left (below), so every chain of exchanges could end.
//
// Differences from the paper. There, the pair in flight is dropped when a chain of exchanges has become long:
// 0.4 % of all at load 0.75, 4 % at 0.95 (tables 4 to 8). Here it continues for max_rounds tries. Then the
// table is rebuilt with another hash function and that pair, as when the table grows. (If there is no memory
// for that, the engine puts such pairs back and refuses new ones: engine/put_back.hpp.) A table that may not
// grow refuses an item before any key is taken out, which needs a count of the items
// (algorithm/sharded_count.hpp).
//
// It changes its size by moving all items into a new table (rehash), as every design of engine::insertion
// does and the paper's comparison requires.
//
// Concurrency: inserts with inserts, lookups with lookups, erases with erases; nothing else.
//
// Source: K. Zhang et al., Mega-KV: A Case for GPUs to Maximize the Throughput of In-Memory Key-Value Stores,
// VLDB 2015, with exchanges of whole pairs as in Y. Li et al., Dynamic Hash Tables on GPUs, section 6.1.
#pragma once

#include <tilehash/algorithm/sharded_count.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/bucket.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

template <class Key, class Value, class Hash = murmur>
class mega_kv {
 public:
  using slot_type = slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using value_bits = typename slot_type::value_bits;
  static constexpr u32 bucket_slots = 64 / sizeof(word);
  template <class Tile>
  using bucket_type = bucket<slot_type, bucket_slots, Tile>;
  template <class Space>
  using engine = tilehash::engine::insertion<mega_kv, Space>;

  static constexpr const char* name = "mega_kv";
  static constexpr u32 preferred_width = detail::width_for(64);
  static constexpr u32 max_rounds = 4096;  // tries: exchanges, and those that met a lock
  static constexpr bool replaces_keys = true;
  // The most slots taken out of 32: above that, chains of exchanges get long.
  static constexpr u32 slots_of_32 = bucket_slots == 4 ? 30 : 31;
  static constexpr double max_load_factor = bucket_slots == 4 ? 0.92 : 0.95;

  // A whole number of buckets, at least two.
  static u64 capacity_for(u64 items, double load_factor) {
    const u64 buckets =
        detail::divide_up(detail::slots_for(items, load_factor, max_load_factor), bucket_slots);
    detail::require(buckets < (u64(1) << 32), "mega_kv has at most 2^32 buckets; ask for fewer items");
    return (buckets < 2 ? 2 : buckets) * bucket_slots;
  }
  static u64 bytes(u64 capacity) {
    return capacity * sizeof(word) +
           (detail::sharded_count::words(capacity) + lock_words(capacity)) * sizeof(u32);
  }

  mega_kv() = default;
  mega_kv(void* memory, u64 capacity, u64 seed, double /*load_factor*/ = 0)
      : slots_(static_cast<word*>(memory)),
        count_(reinterpret_cast<u32*>(slots_ + capacity), capacity * slots_of_32 / 32,
               detail::sharded_count::shards_for(capacity)),
        locks_(reinterpret_cast<u32*>(slots_ + capacity) + detail::sharded_count::words(capacity)),
        buckets_(capacity / bucket_slots),
        hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return buckets_ * bucket_slots; }
  TILEHASH_FN word* slots() const { return slots_; }

  // ---- lookup: at most two buckets ----
  struct location {
    u32 first, second;  // never equal
  };
  TILEHASH_FN location locate(key_bits k) const {
    const u64 h = hash_(slot_type::hash_input(k));
    const u32 first = static_cast<u32>(fast_range(h, buckets_));
    const u32 second = static_cast<u32>(fast_range(rehash(h), buckets_ - 1));
    return {first, second < first ? second : second + 1};
  }
  TILEHASH_FN static key_bits stored(const location&, key_bits k) { return k; }
  TILEHASH_FN static key_bits key_at(u64 /*slot*/, word w) { return slot_type::key_of(w); }
  TILEHASH_FN u32 where(const location& p) const { return p.first; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i * bucket_slots; }
  TILEHASH_FN const word* address(const location& p) const { return bucket_at(p.first); }
  TILEHASH_FN static void advance(location& p, const auto& /*result*/) { p.first = p.second; }
  TILEHASH_FN static constexpr u32 max_steps() { return 2; }

  template <class Tile>
  TILEHASH_FN auto examine(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    auto a = b.look_up(t, wanted);
    if (!a.found()) a.what = lookup_state::go_on;
    return a;
  }

  // ---- change ----
  // One try: takes a free slot, or exchanges the key for another one.
  template <class Tile>
  TILEHASH_FN insert_result<key_bits, value_bits> insert(Tile t, key_bits key, value_bits value, bool active,
                                                         bool evicted = false) const {
    const location p = locate(key);
    const bool locked = lock(t, p.first, active && !evicted), held = locked || (active && evicted);
    const auto b1 = bucket_type<Tile>::read_shared(t, bucket_at(p.first), active);
    const auto b2 = bucket_type<Tile>::read_shared(t, bucket_at(p.second), active);
    const bool here = b1.has(t, key), there = b2.has(t, key);
    const bool known = active && (here || there);  // true is certain; false is certain under the lock
    const bool acquired = acquire_slot(t, p.first, locked && !known),
               goes = held && !known && (evicted || acquired);

    const u32 free1 = b1.match_empty(t), free2 = b2.match_empty(t);
    const bool in_first = detail::count_ones(free1) >= detail::count_ones(free2);
    const u32 free = in_first ? free1 : free2, at = free != 0 ? detail::lowest(free) : 0;
    const word mine = slot_type::pack(key, value);
    const bool put = try_claim(t, bucket_at(in_first ? p.first : p.second) + at, slot_type::empty_word, mine,
                               goes && free != 0);

    const bool swaps = goes && free == 0;
    const u32 turn = turn_of(t, p.first, swaps), slot = (turn >> 1) % bucket_slots;
    const word content1 = b1.at(t, slot), content2 = b2.at(t, slot);
    const bool from_first = (turn & 1) == 0;
    const word other = from_first ? content1 : content2;
    const u32 its_lock = locate(slot_type::key_of(other)).first;
    const bool same = its_lock == p.first, got = lock(t, its_lock, swaps && !same);
    const bool swapped =
        try_claim(t, bucket_at(from_first ? p.first : p.second) + slot, other, mine, swaps && (same || got));
    t.sync();
    if (t.rank() == 0) {
      const bool waits = evicted && !put && !swapped;  // keeps its key, and that key's lock
      if (acquired && !put && !swapped) count_.release(p.first);
      if (got && !swapped) detail::unlock(locks_, its_lock);
      if (held && !waits && !(swapped && same)) detail::unlock(locks_, p.first);
    }
    if (swapped) return {insert_state::replaced, slot_type::key_of(other), slot_type::value_of(other)};
    return {known           ? insert_state::present
            : put           ? insert_state::inserted
            : held && !goes ? insert_state::full
                            : insert_state::again};
  }

  // ---- keys in flight, while no other thread changes the table ----
  // Gives up a key.
  TILEHASH_FN void drop(key_bits key) const {
    const u32 first = locate(key).first;
    count_.release(first);
    detail::unlock(locks_, first);
  }
  TILEHASH_FN u32* marks() const { return locks_; }
  TILEHASH_FN u64 mark_words() const { return lock_words(capacity()); }
  TILEHASH_FN void none_evicted(u64 word_of_marks) const { locks_[word_of_marks] = 0; }

  template <class Tile>
  TILEHASH_FN erase_position<word> examine_for_erase(Tile t, const bucket_type<Tile>& b,
                                                     key_bits wanted) const {
    const auto at = b.find_own(t, wanted);
    return {at.found ? lookup_state::found : lookup_state::go_on, at.slot, at.content};
  }
  TILEHASH_FN static word vacated(const auto& /*result*/) { return slot_type::empty_word; }
  TILEHASH_FN void erased(const location& home, const location& /*now*/, const auto& /*result*/) const {
    count_.release(home.first);
  }

 private:
  TILEHASH_FN static constexpr u64 lock_words(u64 capacity) { return (capacity / bucket_slots + 31) / 32; }

  template <class Tile>
  TILEHASH_FN bool lock(Tile t, u32 which, bool wanted) const {
    bool got = false;
    if (wanted && t.rank() == 0) got = detail::try_lock(locks_, which);
    got = t.broadcast(u32(got), 0) != 0;
    t.sync();  // what one lane has locked, all lanes may read
    return got;
  }
  template <class Tile>
  TILEHASH_FN bool acquire_slot(Tile t, u32 bucket, bool wanted) const {
    bool acquired = false;
    if (wanted && t.rank() == 0) acquired = count_.acquire(bucket);
    return t.broadcast(u32(acquired), 0) != 0;
  }
  // A random number that differs at each exchange, so a chain that returns to a bucket continues elsewhere.
  template <class Tile>
  TILEHASH_FN u32 turn_of(Tile t, u32 bucket, bool wanted) const {
    u32 turn = 0;
    if (wanted && t.rank() == 0) turn = mix32(detail::fetch_add(count_.shard_of(bucket) + 1, 1U) ^ bucket);
    return t.broadcast(turn, 0);
  }

  word* slots_ = nullptr;
  detail::sharded_count count_;
  u32* locks_ = nullptr;
  u64 buckets_ = 0;
  Hash hash_;
};

static_assert(self_inserting<mega_kv<u32, u32>> && replacing<mega_kv<u32, u32>> &&
              erasable<mega_kv<u32, u32>> && !steady<mega_kv<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
