// Displacement: room for a key whose two buckets are full, made by moving others.
//
//   path:  first(k) full --x--> other(x) full --y--> other(y) has room
//
// A path is searched, all its buckets are locked (one bit each, tried and never waited for), and if it is
// still as it was, each key moves to its other bucket into the slot that the next one leaves, from the far
// end backwards; k takes the first. A key is copied before it is overwritten and no slot is free in between,
// so nothing is ever lost, and a path is walked whole or not at all. Two calls with one key meet at the lock
// of its first bucket.
//
// The search looks ahead: two keys' other buckets are read at once, and if neither has room, it goes on from
// the first of them. The locks are shared out among the lanes of the tile. So a short path costs about six
// dependent accesses, whatever its length.
//
// A design says how its keys move; `home` is the place of the key to be put in:
//
//   u32  other_bucket(home, bucket, word)   where the key in a bucket can go
//   word in_other_bucket(word)              what it looks like there
//   void leaves(bucket, word)               called before a key leaves a bucket for the other
//   u32  free_in(tile, bucket)              slots that may be written to, as a mask
//   u32  movable_in(tile, bucket)           keys that had better move than others
//   bool same(word, word)                   is it the same key, with the same value?
//   bool replace(at, expected, word, was_free)  false: an insert took the free slot first
//   u32* locks()                            a bit for each bucket
//
// Source: paths are searched before a key moves as in Li, Andersen, Kaminsky and Freedman (EuroSys 2014).
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>

namespace tilehash::detail {

template <class Design, u32 MaxPath>
struct displacement {
  using word = typename Design::word;
  using place = typename Design::place;
  template <class Tile>
  using bucket_type = typename Design::template bucket_type<Tile>;
  static constexpr u32 bucket_slots = Design::bucket_slots;

  // Where the key can go, and as what.
  struct target {
    u32 bucket;
    typename Design::slot_type::needle needle;
    word content;
  };

  const Design& design;
  place home;
  target first, second;
  u64 dice;

  enum class verdict : u32 { done, known, no_room, disturbed };

  // How a key that is tried again and again fares. It is given up after Design::max_searches paths in vain,
  // or Design::max_rounds tries, those included that met a lock or a path that had changed.
  struct progress {
    u32 rounds = 0, failed = 0;
    outcome became = outcome::refused;
    // True when no more is to be tried.
    TILEHASH_FN bool ends_with(verdict v) {
      failed += v == verdict::no_room;
      ++rounds;
      if (v == verdict::done) became = outcome::inserted;
      if (v == verdict::known) became = outcome::present;
      return became != outcome::refused || failed >= Design::max_searches || rounds >= Design::max_rounds;
    }
  };

  // One try.
  template <class Tile>
  TILEHASH_FN verdict attempt(Tile t, u32 round, bool active) const {
    return push(t, round % 4 == 3 ? second : first, mix64(dice + round), active);
  }
  // All tries.
  template <class Tile>
  TILEHASH_FN outcome run(Tile t, bool active) const {
    progress p;
    while (t.any(active)) {
      const verdict v = attempt(t, p.rounds, active);
      if (active) active = !p.ends_with(v);
    }
    return p.became;
  }

 private:
  // Keys that each move to the next bucket; the last bucket has a free slot.
  struct path {
    u32 bucket[MaxPath + 1] = {};
    u32 slot[MaxPath + 1] = {};  // of the key that moves on; in the last bucket, the free one
    word content[MaxPath + 1] = {};
    u32 length = 0;  // keys that move
  };

  // Puts the key into `start` in place of one that moves on along a path.
  template <class Tile>
  TILEHASH_FN verdict push(Tile t, const target& start, u64 random, bool active) const {
    path p;
    p.bucket[0] = start.bucket;
    const bool found = search(t, p, random, active);
    const u32 locks = p.length + 1 + u32(start.bucket != first.bucket);
    const u32 locked = lock_all(t, p, locks, found);
    t.sync();  // what one lane has locked, all lanes may read
    const bool all_locked = t.ballot(locked != share(t, locks)) == 0;
    const bool unchanged = is_unchanged(t, p), known = stands(t, active);
    u32 moved = 0;
    if (found && all_locked && unchanged && !known && t.rank() == 0) moved = move_all(p, start);
    const bool done = t.broadcast(moved, 0) != 0;
    t.sync();
    for (u32 i = locked; i > 0;) unlock(design.locks(), lock_at(t, p, --i));
    return done ? verdict::done : known ? verdict::known : found ? verdict::disturbed : verdict::no_room;
  }

  // Walks from the path's first bucket to one with a free slot.
  template <class Tile>
  TILEHASH_FN bool search(Tile t, path& p, u64 random, bool active) const {
    constexpr u32 at_once = 2;
    bool found = false;
    for (bool walking = active; t.any(walking);) {
      const u32 here = p.bucket[p.length], turn = static_cast<u32>(random >> 40) % bucket_slots;
      const auto b = bucket_type<Tile>::read_shared(t, design.bucket_at(here), walking);
      const u32 free = design.free_in(t, b), free_at = free != 0 ? lowest(free) : 0;
      const word free_word = b.at(t, free_at);
      const u32 preferred = rotate_right<bucket_slots>(design.movable_in(t, b), turn);
      u32 movable = preferred != 0 ? preferred : (1U << bucket_slots) - 1;
      u32 slot[at_once], to[at_once];
      word content[at_once];
      bool may[at_once];
      bucket_type<Tile> next[at_once];
      TILEHASH_UNROLL
      for (u32 q = 0; q < at_once; ++q) {
        may[q] = movable != 0;
        slot[q] = may[q] ? (lowest(movable) + turn) % bucket_slots : 0;
        movable &= movable - 1;
        content[q] = b.at(t, slot[q]);
        to[q] = design.other_bucket(home, here, content[q]);
        next[q] = bucket_type<Tile>::read_shared(t, design.bucket_at(to[q]), walking && may[q]);
      }
      u32 chosen = 0, room_at = 0;
      word room_word = 0;
      bool room = false;
      TILEHASH_UNROLL
      for (u32 q = at_once; q-- > 0;) {
        const u32 f = design.free_in(t, next[q]), at = f != 0 ? lowest(f) : 0;
        const word w = next[q].at(t, at);
        if (may[q] && f != 0) room = true, chosen = q, room_at = at, room_word = w;
      }
      if (!walking) continue;
      if (free != 0) {
        p.slot[p.length] = free_at, p.content[p.length] = free_word;
        found = true, walking = false;
        continue;
      }
      walking = !room && may[0] && p.length + 1 < MaxPath;
      if (!room && !walking) continue;
      TILEHASH_UNROLL
      for (u32 q = 0; q < at_once; ++q) {
        if (q == chosen) {
          p.slot[p.length] = slot[q], p.content[p.length] = content[q];
          p.bucket[p.length + 1] = to[q];
        }
      }
      ++p.length;
      if (room) p.slot[p.length] = room_at, p.content[p.length] = room_word, found = true;
      random = mix64(random);
    }
    return found;
  }

  // The locks are those of the path's buckets and, last, that of the key's first. Each lane has its share.
  template <class Tile>
  TILEHASH_FN static u32 share(Tile t, u32 locks) {
    return locks > t.rank() ? (locks - t.rank() + Tile::width - 1) / Tile::width : 0;
  }
  template <class Tile>
  TILEHASH_FN u32 lock_at(Tile t, const path& p, u32 i) const {
    const u32 which = t.rank() + i * Tile::width;
    return which <= p.length ? p.bucket[which] : first.bucket;
  }
  // How many of its share this lane has locked: it stops at the first that is held.
  template <class Tile>
  TILEHASH_FN u32 lock_all(Tile t, const path& p, u32 locks, bool wanted) const {
    const u32 mine = wanted ? share(t, locks) : 0;
    u32 locked = 0;
    while (locked < mine && try_lock(design.locks(), lock_at(t, p, locked))) ++locked;
    return locked;
  }
  // Is the key in the table? A yes is certain; a no is while the lock of its first bucket is held.
  template <class Tile>
  TILEHASH_FN bool stands(Tile t, bool active) const {
    const auto b1 = bucket_type<Tile>::read_shared(t, design.bucket_at(first.bucket), active);
    const auto b2 = bucket_type<Tile>::read_shared(t, design.bucket_at(second.bucket), active);
    const bool here = b1.has(t, first.needle);
    const bool there = b2.has(t, second.needle);
    return active && (here || there);
  }
  // Is the path as it was when it was searched? Each lane looks at its share.
  template <class Tile>
  TILEHASH_FN bool is_unchanged(Tile t, const path& p) const {
    bool changed = false;
    for (u32 i = t.rank(); i <= p.length; i += Tile::width) {
      const word w = load_relaxed(design.bucket_at(p.bucket[i]) + p.slot[i]);
      changed = changed || !design.same(w, p.content[i]);
    }
    return t.ballot(changed) == 0;
  }
  // From the far end backwards, each key over the copy of the one that has moved on. False if an insert that
  // takes no locks was faster to the free slot; nothing has moved then.
  TILEHASH_FN bool move_all(const path& p, const target& start) const {
    for (u32 i = p.length; i > 0; --i) {
      design.leaves(p.bucket[i - 1], p.content[i - 1]);
      if (!put(p, i, design.in_other_bucket(p.content[i - 1]))) return false;
    }
    if (start.content != first.content) design.leaves(first.bucket, first.content);
    return put(p, 0, start.content);
  }
  TILEHASH_FN bool put(const path& p, u32 i, word content) const {
    return design.replace(design.bucket_at(p.bucket[i]) + p.slot[i], p.content[i], content, i == p.length);
  }
};

}  // namespace tilehash::detail
