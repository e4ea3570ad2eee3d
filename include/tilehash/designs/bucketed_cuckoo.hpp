// Bucketed cuckoo hashing (BCHT): two buckets per key, and keys that make room for each other.
//
//   key k ---- first(k) ----> | a b c d e f g h |   64 bytes
//          \-- second(k) ---> | m n . . . . . . |
//
// A bucket is 64 bytes: 16, 8 or 4 slots. A lookup reads one bucket and, only where needed, the second.
//
//   first_fit  goes to the second bucket only when the first is full. A bucket that still has an empty slot
//              has never overflowed, so a lookup that meets one is done: hits read 1.0x buckets, and misses
//              stop early at moderate loads. The default.
//   balanced   goes to the emptier of the two, as MegaKV and MemC3 do. Hits read 1.5 buckets, misses 2.
//
// Invariants. (1) A key stands in one of its two buckets, once. (2) first_fit: if any slot of first(k) is
// `empty`, k is not in second(k); an erased or vacated slot of a bucket that was full is therefore marked
// `erased`, which inserts may take but at which lookups do not stop.
//
// Inserting has two phases, so that both are exact under any race:
//
//   insert()    never moves a key. In first_fit two inserts of one key meet at the first free slot of the
//   same
//               bucket, because slots only fill up; no lock is needed. In balanced they meet at the lock of
//               first(k). What finds both buckets full comes back as `refused`.
//   displace()  takes what insert() refused, after all inserts are done. It walks from bucket to bucket along
//               randomly chosen victims until one has a free slot, then moves the keys one place each, from
//               the far end backwards; only then is there room for the new key. Every single move is complete
//               in itself and made under the locks of the two buckets of the key that moves: a path that
//               broke meanwhile costs a retry and never loses a key. A lock is tried, never waited for.
//
//   path:  first(k) full --x--> other(x) full --y--> other(y) has room:  y moves, then x, then k goes in.
//
// The locks are one bit per bucket behind the slots. Every loop is bounded by the constants below.
//
// Safe to run at the same time: inserts with inserts, lookups with lookups, erases with erases; nothing else.
//
// Source: the baseline of A. Breslow et al., Horton Tables, USENIX ATC 2016, section 3; a path is searched
// before a key moves, as Li, Andersen, Kaminsky and Freedman (EuroSys 2014) taught.
#pragma once

#include <tilehash/core/bucket.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>

namespace tilehash {

// Which of its two buckets a new key goes to.
enum class placement { first_fit, balanced };

template <class Key, class Value, placement Placement = placement::first_fit, class Hash = murmur>
class bucketed_cuckoo {
 public:
  using slot_type = slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  using word = typename slot_type::word;
  using tag = typename slot_type::tag;
  static constexpr u32 bucket_slots = 64 / sizeof(word);
  template <class Tile>
  using bucket_type = bucket<slot_type, bucket_slots, Tile>;

  static constexpr const char* name =
      Placement == placement::first_fit ? "bucketed_cuckoo" : "bucketed_cuckoo_balanced";
  static constexpr u32 preferred_width = 4;  // lanes that read one bucket, 16 bytes each

  static constexpr u32 max_path = 32;      // buckets of one displacement path
  static constexpr u32 max_searches = 32;  // paths searched in vain before a key is refused
  static constexpr u32 max_rounds = 4096;  // tries in all, those that met a lock included

  // Whole buckets, at least two.
  static u64 capacity_for(u64 items, double load_factor) {
    const u64 buckets = detail::divide_up(detail::slots_for(items, load_factor), bucket_slots);
    detail::require(buckets < (u64(1) << 32),
                    "bucketed_cuckoo has at most 2^32 buckets; ask for fewer items");
    return (buckets < 2 ? 2 : buckets) * bucket_slots;
  }
  static u64 bytes(u64 capacity) { return capacity * sizeof(word) + lock_words(capacity) * sizeof(u32); }

  bucketed_cuckoo() = default;
  bucketed_cuckoo(void* memory, u64 capacity, u64 seed)
      : slots_(static_cast<word*>(memory)),
        locks_(reinterpret_cast<u32*>(slots_ + capacity)),
        buckets_(capacity / bucket_slots),
        hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return buckets_ * bucket_slots; }
  TILEHASH_FN word* slots() const { return slots_; }

  // ---- lookup: at most two buckets ----
  struct place {
    u32 first, second;  // bucket numbers, never equal
  };
  TILEHASH_FN place locate(tag t) const {
    const u64 h = hash_(slot_type::hash_input(t));
    const u32 first = static_cast<u32>(reduce(h, buckets_));
    const u32 second = static_cast<u32>(reduce(rehash(h), buckets_ - 1));
    return {first, second < first ? second : second + 1};
  }
  TILEHASH_FN static tag needle(const place&, tag t) { return t; }  // what a bucket is compared with
  TILEHASH_FN static tag tag_in(u64 /*slot*/, word w) { return slot_type::tag_of(w); }
  TILEHASH_FN u32 where(const place& p) const { return p.first; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i * bucket_slots; }
  TILEHASH_FN const word* address(const place& p) const { return bucket_at(p.first); }
  TILEHASH_FN void advance(place& p) const { p.first = p.second; }
  TILEHASH_FN static constexpr u32 max_steps() { return 2; }

  template <class Tile>
  TILEHASH_FN auto examine(Tile t, const bucket_type<Tile>& b, tag wanted) const {
    auto a = b.look_up(t, wanted);
    bool end = false;
    if constexpr (Placement == placement::first_fit) end = b.has_empty(t);
    if (a.what != state::found && !end) a.what = state::go_on;
    return a;
  }

  // ---- change ----
  // With an empty slot in the first bucket, the key is here or nowhere. The slot is the one insert() aims at.
  template <class Tile>
  TILEHASH_FN offer<word> examine_for_insert(Tile t, const bucket_type<Tile>& b, tag wanted) const
    requires(Placement == placement::first_fit)
  {
    const bool here = b.has(t, wanted);
    const u32 empty = b.match_empty(t), erased = b.match_erased(t);
    const u32 at = empty != 0 ? detail::lowest(empty | erased) : 0;
    return {here         ? state::found
            : empty != 0 ? state::absent
                         : state::go_on,
            at, empty >> at & 1 ? slot_type::empty_word : slot_type::erased_word};
  }

  // Puts a key where there is room for it without moving another; `refused` means displace() may still help.
  template <class Tile>
  TILEHASH_FN outcome insert(Tile t, tag wanted, word content, bool active) const {
    if constexpr (Placement == placement::balanced)
      return insert_balanced(t, wanted, content, active);
    else
      return insert_first_fit(t, wanted, content, active);
  }

  // Makes room for a key that insert() refused, by moving others, and puts it in.
  template <class Tile>
  TILEHASH_FN outcome displace(Tile t, tag wanted, word content, bool active) const {
    const place p = locate(wanted);
    step now = active ? step::trying : step::refused;
    u32 failed = 0;
    for (u32 round = 0; t.any(now == step::trying); ++round) {
      if (stands_in(t, p, wanted, now == step::trying)) now = step::present;
      now = settle(t, p, wanted, content, now);
      const bool stuck = now == step::trying;
      const u64 dice = mix64(hash_(slot_type::hash_input(wanted)) + round);
      const bool searched_in_vain = !make_room(t, dice & 1 ? p.first : p.second, dice, stuck);
      if (stuck) {
        failed += searched_in_vain;
        if (failed >= max_searches || round + 1 >= max_rounds) now = step::refused;
      }
    }
    return to_outcome(now);
  }

  // True if the key was in the table and this call took it out.
  template <class Tile>
  TILEHASH_FN bool erase(Tile t, tag wanted, bool active) const {
    bool erased = false;
    place p = locate(wanted);
    for (u32 i = 0; i < max_steps(); ++i, advance(p)) {
      const auto b = bucket_type<Tile>::read_shared(t, bucket_at(p.first), active);
      const u32 here = b.match(t, wanted);
      // A bucket with an empty slot has never overflowed, so this slot may become empty again.
      const word mark = b.has_empty(t) ? slot_type::empty_word : slot_type::erased_word;
      const u32 at = here != 0 ? detail::lowest(here) : 0;
      const word content = b.at(t, at);
      const bool won = claim(t, bucket_at(p.first) + at, content, mark, active && here != 0);
      erased |= won;
      active = active && here == 0;
    }
    return erased;
  }

 private:
  enum class step : u32 { trying, inserted, present, refused };

  static constexpr u64 lock_words(u64 capacity) { return detail::divide_up(capacity / bucket_slots, 32); }
  TILEHASH_FN static outcome to_outcome(step s) {
    return s == step::inserted ? outcome::inserted : s == step::present ? outcome::present : outcome::refused;
  }
  TILEHASH_FN place buckets_of(word content) const { return locate(slot_type::tag_of(content)); }
  TILEHASH_FN u64 other_bucket(word content, u64 here) const {
    const place p = buckets_of(content);
    return p.first == here ? p.second : p.first;
  }

  // The locks of two buckets, taken by one lane for its tile. False when either is held: none is kept. Always
  // the lower first: tiles of one warp try in step, and two that want the same pair crosswise would never get
  // it.
  template <class Tile>
  TILEHASH_FN bool lock(Tile t, u64 a, u64 b, bool wanted) const {
    const u64 lower = a < b ? a : b, upper = a < b ? b : a;
    bool got = false;
    if (wanted && t.rank() == 0 && detail::try_lock(locks_, lower)) {
      got = detail::try_lock(locks_, upper);
      if (!got) detail::unlock(locks_, lower);
    }
    got = t.broadcast(u32(got), 0) != 0;
    t.sync();
    return got;
  }
  template <class Tile>
  TILEHASH_FN void unlock(Tile t, u64 a, u64 b, bool held) const {
    t.sync();
    if (held && t.rank() == 0) {
      detail::unlock(locks_, b);
      detail::unlock(locks_, a);
    }
  }

  template <class Tile>
  TILEHASH_FN outcome insert_first_fit(Tile t, tag wanted, word content, bool active) const {
    const place p = locate(wanted);
    step now = active ? step::trying : step::refused;
    while (t.any(now ==
                 step::trying)) {  // again only when another took the slot: at most 2 * bucket_slots times
      const bool on = now == step::trying;
      const auto b1 = bucket_type<Tile>::read_shared(t, bucket_at(p.first), on);
      const bool here = b1.has(t, wanted);
      const u32 empty1 = b1.match_empty(t), erased1 = b1.match_erased(t);
      const bool beyond =
          on && !here && empty1 == 0;  // the first bucket has been full: look in the second too
      const auto b2 = bucket_type<Tile>::read_shared(t, bucket_at(p.second), beyond);
      const bool there = b2.has(t, wanted) && beyond;
      const u32 empty2 = b2.match_empty(t), erased2 = b2.match_erased(t);
      const bool in_first = (empty1 | erased1) != 0;
      const u32 empty = in_first ? empty1 : empty2, free = in_first ? empty1 | erased1 : empty2 | erased2;
      const bool take = on && !here && !there && free != 0;
      const u32 at = take ? detail::lowest(free) : 0;
      word* const aim = bucket_at(in_first ? p.first : p.second) + at;
      const word old = empty >> at & 1 ? slot_type::empty_word : slot_type::erased_word;
      const bool won = claim(t, aim, old, content, take);
      if (!on) continue;
      if (here || there)
        now = step::present;
      else if (won)
        now = step::inserted;
      else if (!take)
        now = step::refused;
    }
    return to_outcome(now);
  }

  template <class Tile>
  TILEHASH_FN outcome insert_balanced(Tile t, tag wanted, word content, bool active) const {
    const place p = locate(wanted);
    step now = active ? step::trying : step::refused;
    while (t.any(now == step::trying)) {  // a lock that is held is let go within one turn of its holder
      const bool held = lock_one(t, p.first, now == step::trying);
      const step then = place_in(t, p, wanted, content, held);
      t.sync();
      if (held && t.rank() == 0) detail::unlock(locks_, p.first);
      if (held) now = then == step::trying ? now : then;
    }
    return to_outcome(now);
  }
  template <class Tile>
  TILEHASH_FN bool lock_one(Tile t, u64 a, bool wanted) const {
    bool got = false;
    if (wanted && t.rank() == 0) got = detail::try_lock(locks_, a);
    got = t.broadcast(u32(got), 0) != 0;
    t.sync();
    return got;
  }

  // One try to put a key into one of its buckets, by the placement's rule, while no other may add this key:
  // `trying` when another key took the slot first, `refused` when both buckets are full.
  template <class Tile>
  TILEHASH_FN step place_in(Tile t, const place& p, tag wanted, word content, bool active) const {
    const auto b1 = bucket_type<Tile>::read_shared(t, bucket_at(p.first), active);
    const auto b2 = bucket_type<Tile>::read_shared(t, bucket_at(p.second), active);
    const bool here = b1.has(t, wanted), there = b2.has(t, wanted), known = here || there;
    const u32 empty1 = b1.match_empty(t), free1 = empty1 | b1.match_erased(t);
    const u32 empty2 = b2.match_empty(t), free2 = empty2 | b2.match_erased(t);
    bool in_first = free1 != 0;
    if constexpr (Placement == placement::balanced)
      in_first = detail::count_ones(free1) >= detail::count_ones(free2);
    const u32 empty = in_first ? empty1 : empty2, free = in_first ? free1 : free2;
    const u32 at = free != 0 ? detail::lowest(free) : 0;
    const word old = empty >> at & 1 ? slot_type::empty_word : slot_type::erased_word;
    const bool won =
        claim(t, bucket_at(in_first ? p.first : p.second) + at, old, content, active && !known && free != 0);
    return known ? step::present : won ? step::inserted : free != 0 ? step::trying : step::refused;
  }

  // Is the key in one of its buckets? A yes is certain; a no may be wrong while keys move.
  template <class Tile>
  TILEHASH_FN bool stands_in(Tile t, const place& p, tag wanted, bool active) const {
    const auto b1 = bucket_type<Tile>::read_shared(t, bucket_at(p.first), active);
    const auto b2 = bucket_type<Tile>::read_shared(t, bucket_at(p.second), active);
    const bool here = b1.has(t, wanted), there = b2.has(t, wanted);
    return active && (here || there);
  }

  // Puts the key in if either bucket has room now, under both locks.
  template <class Tile>
  TILEHASH_FN step settle(Tile t, const place& p, tag wanted, word content, step now) const {
    const bool held = lock(t, p.first, p.second, now == step::trying);
    const step then = place_in(t, p, wanted, content, held);
    unlock(t, p.first, p.second, held);
    return held && (then == step::inserted || then == step::present) ? then : now;
  }

  // Frees a slot of bucket `from` by moving keys along a random path. False if no path ended in a free slot;
  // true if one did, even if it broke while its keys were moved.
  template <class Tile>
  TILEHASH_FN bool make_room(Tile t, u64 from, u64 dice, bool active) const {
    u64 path[max_path];  // path[i]: the slot whose key moves to bucket path[i + 1] / bucket_slots
    u32 length = 0;
    u64 end = from;
    bool found = false;
    for (bool walking = active; t.any(walking);) {
      const auto b = bucket_type<Tile>::read_shared(t, bucket_at(end), walking);
      const bool room = (b.match_empty(t) | b.match_erased(t)) != 0;
      const u32 victim = static_cast<u32>(dice >> 32) % bucket_slots;
      const word content = b.at(t, victim);
      if (!walking) continue;
      if (room)
        found = true, walking = false;
      else if (length == max_path)
        walking = false;
      else {
        path[length++] = end * bucket_slots + victim;
        end = other_bucket(content, end);
        dice = mix64(dice);
      }
    }
    for (bool moving = found && length > 0; t.any(moving);) {
      const u64 slot = moving ? path[length - 1] : 0;
      const bool moved = move(t, slot, end, moving);
      if (!moving) continue;
      end = slot / bucket_slots;
      moving = moved && --length > 0;
    }
    return found;
  }

  // Moves the key in `slot` to its other bucket if that is still `to` and has room; under both locks.
  template <class Tile>
  TILEHASH_FN bool move(Tile t, u64 slot, u64 to, bool active) const {
    const u64 from = slot / bucket_slots;
    const bool held = lock(t, from, to, active);
    const auto source = bucket_type<Tile>::read_shared(t, bucket_at(from), held);
    const auto target = bucket_type<Tile>::read_shared(t, bucket_at(to), held);
    const word content = source.at(t, static_cast<u32>(slot % bucket_slots));
    const u32 empty = target.match_empty(t), free = empty | target.match_erased(t);
    const bool right = held && free != 0 && !slot_type::is_free(content) && other_bucket(content, from) == to;
    const u32 at = free != 0 ? detail::lowest(free) : 0;
    const word old = empty >> at & 1 ? slot_type::empty_word : slot_type::erased_word;
    const bool copied = claim(t, bucket_at(to) + at, old, content, right);
    const bool vacated = claim(t, slots_ + slot, content, slot_type::erased_word, copied);
    unlock(t, from, to, held);
    return vacated;
  }

  word* slots_ = nullptr;
  u32* locks_ = nullptr;
  u64 buckets_ = 0;
  Hash hash_;
};

}  // namespace tilehash
