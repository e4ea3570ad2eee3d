// SPDX-License-Identifier: Apache-2.0
// A toy that tests what a design can say: the next bucket of a key is stored in the bucket.
//
//   primary    | a b c d e f g > |  --.      a full bucket's last slot becomes a signpost to another,
//   primary    | h i . . . . . . |    |      to which the item of that slot moves
//   overflow   | k l . . . . . . |  <-'      taken one after the other
//   behind     overflow buckets in use, a lock bit for each bucket
//
// A signpost looks like an item whose key is `mark` and whose value is the bucket's number. The key `mark` is
// legal all the same: it is never stored in a last slot.
//
// Inserts move keys (from a last slot to an overflow bucket), so values do not change concurrently. All that
// changes the buckets of a primary bucket holds its lock. Safe to run at the same time: inserts with inserts,
// lookups with lookups, erases with erases.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/bucket.hpp>

namespace tilehash::toys {

template <class Key, class Value>
class toy_signpost {
 public:
  using slot_type = slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = murmur;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using value_bits = typename slot_type::value_bits;
  static_assert(slot_type::value_bytes >= 4, "a bucket's number stands where a value would");
  static constexpr u32 bucket_slots = 8, last_slot = bucket_slots - 1, all_slots = (1U << bucket_slots) - 1;
  template <class Tile>
  using bucket_type = bucket<slot_type, bucket_slots, Tile>;
  template <class Space>
  using engine = tilehash::engine::insertion<toy_signpost, Space>;

  static constexpr const char* name = "toy_signpost";
  static constexpr u32 preferred_width = 4, max_rounds = 4096;
  // A key has two buckets and no more: so full, one in 1000 tables of 100 000 items has a key without a
  // place.
  static constexpr double max_load_factor = 0.25;

  static u64 capacity_for(u64 items, double load_factor) {
    const u64 buckets =
        detail::divide_up(detail::slots_for(items, load_factor, max_load_factor), bucket_slots);
    return (buckets < 4 ? 4 : buckets) * bucket_slots;
  }
  static u64 bytes(u64 capacity) {
    return capacity * sizeof(word) + (1 + detail::divide_up(capacity / bucket_slots, 32)) * sizeof(u32);
  }
  toy_signpost() = default;
  toy_signpost(void* memory, u64 capacity, u64 seed, double /*load_factor*/ = 0)
      : slots_(static_cast<word*>(memory)),
        overflows_(reinterpret_cast<u32*>(slots_ + capacity)),
        locks_(overflows_ + 1),
        buckets_(static_cast<u32>(capacity / bucket_slots)),
        primary_(buckets_ - buckets_ / 4),
        hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return u64(buckets_) * bucket_slots; }
  TILEHASH_FN word* slots() const { return slots_; }
  TILEHASH_FN static key_bits key_at(u64 /*slot*/, word w) { return slot_type::key_of(w); }
  TILEHASH_FN static bool holds(u64 i, word w) {
    return !slot_type::is_free(w) && !(i % bucket_slots == last_slot && is_signpost(w));
  }

  // ---- lookup: a bucket, and where it has a signpost, one more ----
  struct location {
    u32 bucket;
  };
  struct answer : lookup_answer<value_bits> {
    u32 next = 0;
  };
  TILEHASH_FN location locate(key_bits key) const {
    return {static_cast<u32>(fast_range(hash_(slot_type::hash_input(key)), primary_))};
  }
  TILEHASH_FN static key_bits stored(const location&, key_bits key) { return key; }
  TILEHASH_FN u32 where(const location& p) const { return p.bucket; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i * bucket_slots; }
  TILEHASH_FN const word* address(const location& p) const { return bucket_at(p.bucket); }
  TILEHASH_FN static void advance(location& p, const answer& result) { p.bucket = result.next; }
  TILEHASH_FN static constexpr u32 max_steps() { return 2; }

  template <class Tile>
  TILEHASH_FN answer examine(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    const word last = b.at(t, last_slot);
    const u32 here = matching(t, b, last, wanted);
    const word content = b.at(t, here != 0 ? detail::lowest(here) : 0);
    if (here != 0) return {{lookup_state::found, slot_type::value_of(content)}};
    if (is_signpost(last)) return {{lookup_state::go_on}, target(last)};
    return {};
  }

  // ---- change ----
  template <class Tile>
  TILEHASH_FN insert_result<key_bits, value_bits> insert(Tile t, key_bits key, value_bits value,
                                                         bool active) const {
    const u32 home = locate(key).bucket;
    const bool held = lock(t, home, active);
    const auto first = bucket_type<Tile>::read_shared(t, bucket_at(home), held);
    const word last = first.at(t, last_slot), content = slot_type::pack(key, value);
    const bool points = held && is_signpost(last);
    const u32 next = points ? target(last) : home;
    const auto second = bucket_type<Tile>::read_shared(t, bucket_at(next), points);
    const u32 here = matching(t, first, last, key), there = matching(t, second, 0, key);
    const bool known = here != 0 || (points && there != 0);

    const u32 fits = key == mark ? all_slots >> 1 : all_slots;
    const u32 free1 = first.match_empty(t) & fits, empty2 = second.match_empty(t) & fits;
    const u32 free2 = points ? empty2 : 0;
    const u32 free = free1 != 0 ? free1 : free2, at = free != 0 ? detail::lowest(free) : 0;
    const bool put = try_claim(t, bucket_at(free1 != 0 ? home : next) + at, slot_type::empty_word, content,
                               held && !known && free != 0);

    const bool overflows = held && !known && free == 0 && !points;
    u32 fresh = 0;
    if (t.rank() == 0 && overflows) fresh = overflow_bucket();
    fresh = t.broadcast(fresh, 0);
    t.sync();
    if (t.rank() == 0) {
      if (fresh != 0) {
        detail::compare_and_swap(bucket_at(fresh), slot_type::empty_word, last);
        detail::compare_and_swap(bucket_at(fresh) + 1, slot_type::empty_word, content);
        detail::compare_and_swap(bucket_at(home) + last_slot, last, slot_type::pack(mark, fresh));
      }
      if (held) detail::unlock(locks_, home);
    }
    return {!held               ? insert_state::again
            : known             ? insert_state::present
            : put || fresh != 0 ? insert_state::inserted
                                : insert_state::full};
  }

  TILEHASH_FN static word vacated(const auto& /*result*/) { return slot_type::empty_word; }

 private:
  static constexpr key_bits mark = key_bits(1) << (8 * sizeof(key_bits) - 1);
  TILEHASH_FN static bool is_signpost(word w) { return slot_type::key_of(w) == mark; }  // in a last slot
  TILEHASH_FN static u32 target(word w) { return static_cast<u32>(slot_type::value_of(w)); }

  template <class Tile>
  TILEHASH_FN static u32 matching(Tile t, const bucket_type<Tile>& b, word last, key_bits wanted) {
    return b.match(t, wanted) & (is_signpost(last) ? all_slots >> 1 : all_slots);
  }
  template <class Tile>
  TILEHASH_FN bool lock(Tile t, u32 which, bool wanted) const {
    bool got = false;
    if (wanted && t.rank() == 0) got = detail::try_lock(locks_, which);
    return t.broadcast(u32(got), 0) != 0;
  }
  // 0: all are in use.
  TILEHASH_FN u32 overflow_bucket() const {
    const u32 all = buckets_ - primary_;
    if (detail::load_relaxed(overflows_) >= all) return 0;
    const u32 next = detail::fetch_add(overflows_, 1U);
    return next < all ? primary_ + next : 0;
  }

  word* slots_ = nullptr;
  u32* overflows_ = nullptr;
  u32* locks_ = nullptr;
  u32 buckets_ = 0, primary_ = 0;
  murmur hash_;
};

static_assert(self_inserting<toy_signpost<u32, u32>> && erasable<toy_signpost<u32, u32>> &&
              !steady<toy_signpost<u32, u32>> && !displacing<toy_signpost<u32, u32>> &&
              requires(const toy_signpost<u32, u32> d) { d.holds(0, 0); });

}  // namespace tilehash::toys
