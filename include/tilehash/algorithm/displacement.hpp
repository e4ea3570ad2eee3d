// SPDX-License-Identifier: Apache-2.0
// Displacement: frees a slot for a key whose two buckets are full, by moving other keys.
//
//   path:  first(k) full --x--> other(x) full --y--> other(y) has a free slot
//
// The search finds a path, and the tile tries the locks of all its buckets, one bit each, without waiting. If
// the path is unchanged then, each key moves to its other bucket, into the slot that the next key leaves. The
// key at the far end moves first, and k takes the first slot. A key is copied before it is overwritten and no
// slot is free in between, so no key is lost. A path moves whole or not at all. Two calls with one key meet
// at the lock of its first bucket.
//
// The search looks ahead: it reads two keys' other buckets at once, and goes on from the first if neither has
// a free slot. The lanes of the tile divide the path: each locks, checks and moves its stations. So a short
// path costs about six dependent accesses, whatever its length.
//
// A design says how its keys move; `home` is the location of the key to be inserted:
//
//   u32  other_bucket(home, bucket, word)   the other bucket of a key in a bucket
//   word in_other_bucket(word)              the key's word in its other bucket
//   void leaves(bucket, word)               called before a key leaves a bucket for the other
//   u32  free_in(tile, bucket)              slots that may be written to, as a mask
//   u32  movable_in(tile, bucket)           keys that are preferred to move
//   bool same(word, word)                   is it the same key, with the same value?
//   bool replace(at, expected, word, was_free)  false: an insert took the free slot first
//   u32* locks()                            a bit for each bucket
//
// leaves<true>() and replace<true>() are for a thread without concurrent calls.
//
// Source: paths are searched before a key moves as in Li, Andersen, Kaminsky and Freedman (EuroSys 2014).
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/solo_tile.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// As device_fence(), but fences of different threads need not be in one order. A GPU waits less.
TILEHASH_FN void acq_rel_fence() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
  device_fence();
#endif
}

// One try of a displacement. Its random choices vary with the tries so far, or with those that failed.
template <class Displacement, class Tile, class Progress>
TILEHASH_FN auto attempt_of(const Displacement& d, Tile t, const Progress& p, bool active) {
  if constexpr (requires { d.attempt(t, p, active); })
    return d.attempt(t, p, active);
  else
    return d.attempt(t, p.rounds, active);
}

// Counts the tries of a key. The key is given up after `patience` searches without a path, or after
// Design::max_rounds tries, which include those that met a lock or a changed path. It is also given up if the
// design calls it hopeless.
template <class Design>
struct displacement_tries {
  enum class verdict : u32 { done, known, no_free_slot, disturbed, hopeless };
  struct progress {
    u32 rounds = 0, failed = 0;
    outcome became = outcome::refused;
    // True if this was the last try.
    TILEHASH_FN bool ends_with(verdict v, u32 patience) {
      failed += v == verdict::no_free_slot;
      ++rounds;
      if (v == verdict::done) became = outcome::inserted;
      if (v == verdict::known) became = outcome::present;
      return became != outcome::refused || v == verdict::hopeless || failed >= patience ||
             rounds >= Design::max_rounds;
    }
  };
  // All tries.
  template <class Displacement, class Tile>
  TILEHASH_FN static outcome all_of(const Displacement& d, Tile t, bool active) {
    progress p;
    while (t.any(active)) {
      const verdict v = attempt_of(d, t, p, active);
      if (active) active = !p.ends_with(v, Design::max_searches);
    }
    return p.became;
  }
};

// AmongInserts: inserts without locks run concurrently (the view of a table). Such an insert reads the first
// bucket of its key, then the second. It would miss a key that goes back to its first bucket meanwhile, and
// insert it again if it has seen a free slot. While keys are only inserted, a bucket gets no free slot. So
// the last key of a path, which takes a free slot, must move from its first bucket to its second. The others
// may go either way: both their buckets are full, and an insert that finds no free slot comes here, to the
// lock of the first bucket. There, a thread works alone in the caller's kernel, so it spares registers: the
// stations are in local memory.
template <class Design, u32 MaxPath, bool AmongInserts = false>
struct displacement {
  using tries = displacement_tries<Design>;
  using verdict = typename tries::verdict;
  using progress = typename tries::progress;
  using word = typename Design::word;
  using location = typename Design::location;
  template <class Tile>
  using bucket_type = typename Design::template bucket_type<Tile>;
  static constexpr u32 bucket_slots = Design::bucket_slots;
  static constexpr u32 unrolled = AmongInserts ? 1 : MaxPath + 2;  // of the stations

  // A bucket to which the key can go, and its word there.
  struct target {
    u32 bucket;
    typename Design::slot_type::stored_key stored;
    word content;
  };

  Design design;  // no reference: that would put all of a kernel's parameters in local memory
  location home;
  target first, second;
  u64 dice;

  // One try. Two of four searches look at all keys of a bucket, not only at those in their first bucket: these
  // alone may lead round a few full buckets. One of them starts at the key's other bucket.
  template <class Tile>
  TILEHASH_FN verdict attempt(Tile t, u32 round, bool active) const {
    const bool other = round % 4 == 3;
    const target start = {other ? second.bucket : first.bucket, other ? second.stored : first.stored,
                          other ? second.content : first.content};
    return push(t, start, mix64(dice + round), round % 4 >= 2, active);
  }
  template <class Tile>
  TILEHASH_FN outcome run(Tile t, bool active) const {
    return tries::all_of(*this, t, active);
  }
  // For one thread without concurrent calls, and a key that is absent. Puts the key into one of its buckets
  // if a key there can move to a free slot of its other bucket. Otherwise returns false and changes nothing.
  bool push_one() const {
    const solo_tile t;
    for (const target& into : {first, second}) {
      const word* const words = design.bucket_at(into.bucket);
      for (u32 k = 0; k < bucket_slots; ++k) {
        const u32 slot = (static_cast<u32>(dice) + k) % bucket_slots;
        const station moves{into.bucket, slot, words[slot]};
        const u32 to = design.other_bucket(home, into.bucket, moves.content);
        const auto b = bucket_type<solo_tile>::read(t, design.bucket_at(to));
        const u32 free = design.free_in(t, b);
        if (free == 0) continue;
        design.template leaves<true>(moves.bucket, moves.content);
        if (into.content != first.content) design.template leaves<true>(first.bucket, first.content);
        put<true>({to, lowest(free), 0}, design.in_other_bucket(moves.content), true);
        put<true>(moves, into.content, false);
        return true;
      }
    }
    return false;
  }

 private:
  // A key that moves to the next station's bucket; the last station is a free slot. (One more may follow: a
  // bucket that must be locked, too.)
  struct station {
    u32 bucket = 0, slot = 0;
    word content = 0;
  };
  // The stations, distributed over the lanes of the tile: lane r has r, r + width, ...
  template <class Tile>
  struct path {
    static constexpr u32 share = (MaxPath + 1 + Tile::width) / Tile::width;
    station mine[share];
    u32 length = 0;  // keys that move

    TILEHASH_FN static u32 number(Tile t, u32 e) { return e * Tile::width + t.rank(); }
    TILEHASH_FN void set(Tile t, u32 i, const station& s) {
      TILEHASH_UNROLL_BY(unrolled)
      for (u32 e = 0; e < share; ++e) {
        if (number(t, e) == i) mine[e] = s;
      }
    }
  };

  // Puts the key into `start` in place of a key that moves along a path.
  template <class Tile>
  TILEHASH_FN verdict push(Tile t, const target& start, u64 random, bool any, bool active) const {
    path<Tile> p;
    bool found;
    if constexpr (AmongInserts)
      found = active && search_alone(p, start.bucket, random, any);
    else
      found = search(t, p, start.bucket, random, any, active);
    const u32 locks = p.length + 1 + u32(start.bucket != first.bucket);
    if (start.bucket != first.bucket) p.set(t, p.length + 1, {first.bucket, 0, 0});
    bool all_mine = true;  // false: another lane holds one of this lane's locks
    u32 locked = 0;
    TILEHASH_UNROLL_BY(unrolled)
    for (u32 e = 0; e < path<Tile>::share; ++e) {
      if (!found || p.number(t, e) >= locks || !all_mine) continue;
      all_mine = try_lock(design.locks(), p.mine[e].bucket);
      locked += all_mine;
    }
    t.sync();  // what one lane has locked, all lanes may read
    const bool all_locked = t.ballot(!all_mine) == 0;
    const bool fits = is_unchanged(t, p, found) && all_locked, known = is_present(t, active);
    const bool done = move_all(t, p, start, found && fits && !known);
    t.sync();
    TILEHASH_UNROLL_BY(unrolled)
    for (u32 e = 0; e < path<Tile>::share; ++e) {
      if (e < locked) unlock(design.locks(), p.mine[e].bucket);
    }
    return done ? verdict::done : known ? verdict::known : found ? verdict::disturbed : verdict::no_free_slot;
  }

  // Searches a path from a bucket to one with a free slot: of keys in their first bucket, while the bucket has
  // one, or of `any`.
  template <class Tile>
  TILEHASH_FN bool search(Tile t, path<Tile>& p, u32 here, u64 random, bool any, bool active) const {
    constexpr u32 at_once = tuning::here::searched_at_once;
    bool found = false;
    for (bool walking = active; t.any(walking);) {
      const u32 turn = static_cast<u32>(random >> 40) % bucket_slots;
      const auto b = bucket_type<Tile>::read_shared(t, design.bucket_at(here), walking);
      const u32 free = design.free_in(t, b), free_at = free != 0 ? lowest(free) : 0;
      const word free_word = b.at(t, free_at);
      const u32 preferred = rotate_right<bucket_slots>(design.movable_in(t, b), turn);
      u32 movable = preferred != 0 && !any ? preferred : (1U << bucket_slots) - 1;
      u32 slot[at_once], to[at_once];
      word content[at_once];
      bool may[at_once];
      bucket_type<Tile> next[at_once];
      TILEHASH_UNROLL_BY(unrolled)
      for (u32 q = 0; q < at_once; ++q) {
        may[q] = movable != 0;
        slot[q] = may[q] ? (lowest(movable) + turn) % bucket_slots : 0;
        movable &= movable - 1;
        content[q] = b.at(t, slot[q]);
        to[q] = design.other_bucket(home, here, content[q]);
        next[q] = bucket_type<Tile>::read_shared(t, design.bucket_at(to[q]), walking && may[q]);
      }
      station moves = {here, slot[0], content[0]}, end;  // unless only the second has a free slot
      end.bucket = to[0];
      bool has_free = false;
      TILEHASH_UNROLL_BY(unrolled)
      for (u32 q = at_once; q-- > 0;) {
        const u32 f = design.free_in(t, next[q]), at = f != 0 ? lowest(f) : 0;
        const word w = next[q].at(t, at);
        const bool fits = may[q] && f != 0;
        if (fits) has_free = true, moves = {here, slot[q], content[q]}, end = {to[q], at, w};
      }
      if (!walking) continue;
      if (free != 0) {
        p.set(t, p.length, {here, free_at, free_word});
        found = true, walking = false;
        continue;
      }
      walking = !has_free && may[0] && p.length + 1 < MaxPath;
      if (!has_free && !walking) continue;
      p.set(t, p.length++, moves);
      if (has_free) p.set(t, p.length, end), found = true;
      here = end.bucket;
      random = mix64(random);
    }
    return found;
  }

  // The same by one thread among inserts. It reads slot after slot: a bucket in registers would slow down the
  // caller's kernel.
  template <class Path>
  TILEHASH_FN bool search_alone(Path& p, u32 here, u64 random, bool any) const {
    using slot_type = typename Design::slot_type;
    const solo_tile t;
    TILEHASH_UNROLL_BY(1)
    for (;;) {  // at most MaxPath times
      const u32 turn = static_cast<u32>(random >> 40) % bucket_slots;
      station moves{here, bucket_slots, 0}, end{0, bucket_slots, 0};
      bool may_end = false;
      TILEHASH_UNROLL_BY(4)
      for (u32 k = 0; k < bucket_slots; ++k) {
        const u32 slot = (turn + k) % bucket_slots;
        const word w = load_relaxed(design.bucket_at(here) + slot);
        if (slot_type::is_free(w)) return false;
        const bool in_first = !slot_type::is_second(slot_type::stored_in(w));
        if (moves.slot == bucket_slots || (in_first && !may_end && !any)) {
          moves = {here, slot, w};
          may_end = in_first;
        }
      }
      end.bucket = design.other_bucket(home, here, moves.content);
      TILEHASH_UNROLL_BY(4)
      for (u32 k = bucket_slots; k-- > 0;) {
        const word w = load_relaxed(design.bucket_at(end.bucket) + k);
        if (slot_type::is_free(w)) end.slot = k, end.content = w;
      }
      const bool ends = may_end && end.slot != bucket_slots;
      if (!ends && p.length + 1 >= MaxPath) return false;
      p.set(t, p.length++, moves);
      if (ends) p.set(t, p.length, end);
      if (ends) return true;
      here = end.bucket;
      random = mix64(random);
    }
  }

  // Whether the key is present. True is certain; false is certain while the lock of its first bucket is held.
  template <class Tile>
  TILEHASH_FN bool is_present(Tile t, bool active) const {
    const auto b1 = bucket_type<Tile>::read_shared(t, design.bucket_at(first.bucket), active);
    const bool here = b1.has(t, first.stored);
    if constexpr (AmongInserts) {
      if (!active || here) return active && here;  // one bucket at a time in registers
    }
    const auto b2 = bucket_type<Tile>::read_shared(t, design.bucket_at(second.bucket), active);
    const bool there = b2.has(t, second.stored);
    return active && (here || there);
  }
  // Whether the path is unchanged since its search.
  template <class Tile>
  TILEHASH_FN bool is_unchanged(Tile t, const path<Tile>& p, bool found) const {
    bool changed = false;
    TILEHASH_UNROLL_BY(unrolled)
    for (u32 e = 0; e < path<Tile>::share; ++e) {
      if (!found || p.number(t, e) > p.length) continue;
      const word w = load_relaxed(design.bucket_at(p.mine[e].bucket) + p.mine[e].slot);
      changed = changed || !design.same(w, p.mine[e].content);
    }
    return t.ballot(changed) == 0;
  }
  // Writes each key over the next one of the path, the far end first. Returns false and moves nothing if an
  // insert without locks took the free slot first.
  template <class Tile>
  TILEHASH_FN bool move_all(Tile t, const path<Tile>& p, const target& start, bool active) const {
    word incoming[path<Tile>::share];
    word last_lanes = start.content;  // what the last lane had in the round before
    TILEHASH_UNROLL_BY(unrolled)
    for (u32 e = 0; e < path<Tile>::share; ++e) {
      const word left = t.from_left(p.mine[e].content);
      incoming[e] = t.rank() != 0 ? left : last_lanes;
      last_lanes = left;
      if (p.number(t, e) != 0) incoming[e] = design.in_other_bucket(incoming[e]);
      if (active && p.number(t, e) < p.length) design.leaves(p.mine[e].bucket, p.mine[e].content);
    }
    if (active && t.rank() == 0 && start.content != first.content) design.leaves(first.bucket, first.content);
    bool faster = false;
    TILEHASH_UNROLL_BY(unrolled)
    for (u32 e = path<Tile>::share; e-- > 0;) {
      if (active && p.number(t, e) == p.length) faster = !put(p.mine[e], incoming[e], true);
    }
    active = t.ballot(faster) == 0 && active;
    if (AmongInserts && active) acq_rel_fence();  // a thread that misses a key below finds its copy
    TILEHASH_UNROLL_BY(unrolled)
    for (u32 e = path<Tile>::share; e-- > 0;) {
      if (active && p.number(t, e) < p.length) put(p.mine[e], incoming[e], false);
    }
    return active;
  }
  template <bool Alone = false>
  TILEHASH_FN bool put(const station& s, word content, bool was_free) const {
    return design.template replace<Alone>(design.bucket_at(s.bucket) + s.slot, s.content, content, was_free);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
