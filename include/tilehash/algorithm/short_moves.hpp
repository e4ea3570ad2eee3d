// SPDX-License-Identifier: Apache-2.0
// Displacement by one move or two, among inserts that take no locks: places a key whose two buckets are full.
//
//   one move:   first(k) full --x--> second(x) has a free slot
//   two moves:  first(k) full --y--> second(y) full --x--> second(x) has a free slot
//
// A key x whose first bucket is k's goes to a free slot of its second bucket, and k takes its slot. If there
// is no such key, the same is tried in k's second bucket, and then two moves from k's first. Few items need a
// longer path (algorithm/displacement.hpp). In buckets of four slots these are 1 in 4000 of those that
// displace at a load of 0.8, and 1 in 60 at 0.9. One move takes these steps:
//
//   lock the bucket         no key of it can move then, so nothing that is read needs another check. A thread
//                           that meets a lock tries again, as one move is done soon
//   read both buckets of k  the key may be present by now
//   read marks              of the second bucket of a key: which slots are free
//   copy x                  to the free slot. An insert may take that first
//   overwrite x             by k
//
// Each line depends on the one before; a path by one thread has twice as many. The bucket of the free slot
// needs no lock, since it loses no key. For the rest see displacement<Design, MaxPath, AmongInserts>.
//
// A design has these members in addition to those that a displacement uses:
//
//   void load_marks(tile, bucket, u32 (&)[bucket_slots], bool active)  32 bits of each slot
//   bool is_free_mark(mark)    is the slot free?
//   word free_word(mark)       the word of that free slot
#pragma once

#include <tilehash/algorithm/displacement.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/space/solo_tile.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Threads>
class moves_together;  // (algorithm/moves_together.hpp)

template <class Design>
class short_moves {
  using displacement = typename Design::displacement_among_inserts;
  using target = typename displacement::target;
  using word = typename Design::word;
  using bucket_type = typename Design::template bucket_type<solo_tile>;
  static constexpr u32 bucket_slots = Design::bucket_slots;
  static constexpr u32 most_tries = 16;  // of one move, where other threads disturb it

 public:
  using verdict = typename displacement::verdict;

  TILEHASH_FN explicit short_moves(const displacement& d) : item_(d) {}

  // Both are by one thread. Both buckets of the key were full, so they are.
  TILEHASH_FN verdict by_one_move() const {
    verdict v = verdict::disturbed;
    TILEHASH_UNROLL_BY(1)
    for (u32 tries = 0; v == verdict::disturbed && tries < most_tries; ++tries) v = try_one_move();
    return v;
  }
  TILEHASH_FN verdict by_two_moves() const {
    const auto& design = item_.design;
    if (!try_lock(design.locks(), item_.first.bucket)) return verdict::disturbed;
    const verdict v = is_present() ? verdict::known : two_into_first();
    unlock(design.locks(), item_.first.bucket);
    return v;
  }

 private:
  // A key that can go on from its first bucket to a free slot of its second.
  struct move {
    u32 slot = 0;  // of the key
    word key = 0;
    u32 bucket = 0, free = 0, mark = 0;  // the free slot
    bool found = false;
  };

  // Puts the key into its first bucket, or else into its second. A loop: code of its own for each bucket would
  // cost the caller's kernel registers.
  TILEHASH_FN verdict try_one_move() const {
    const auto& design = item_.design;
    const u32 first = item_.first.bucket, second = item_.second.bucket;
    if (!try_lock(design.locks(), first)) return verdict::disturbed;
    const seen in_first = look(item_.first);
    u32 movable = in_first.movable;
    verdict v = in_first.has || look(item_.second).has ? verdict::known : verdict::no_free_slot;
    TILEHASH_UNROLL_BY(1)
    for (u32 here = first; v == verdict::no_free_slot;) {
      const move m = find_move(here, movable);
      if (m.found) {
        if (here != first) design.leaves(first, item_.first.content);
        const word content = here == first ? item_.first.content : item_.second.content;
        v = overwrite(here, m, content) ? verdict::done : verdict::disturbed;
      }
      if (here != first) unlock(design.locks(), here);
      if (here == second || v != verdict::no_free_slot || !try_lock(design.locks(), second)) break;
      here = second;
      movable = look(item_.second).movable;
    }
    unlock(design.locks(), first);
    return v;
  }
  // Puts the key into its first bucket, whose lock is held, in place of a key that needs a move of another. The
  // words are read again where they are needed: to keep a bucket in registers slows down the caller's kernel.
  TILEHASH_FN verdict two_into_first() const {
    const auto& design = item_.design;
    const u32 bucket = item_.first.bucket;
    bool done = false;
    TILEHASH_UNROLL_BY(1)
    for (u32 movable = movable_at(bucket); movable != 0 && !done; movable &= movable - 1) {
      word* const at = design.bucket_at(bucket) + lowest(movable);
      const word y = load_relaxed(at);
      const u32 next = design.other_bucket(item_.home, bucket, y);
      if (!try_lock(design.locks(), next)) continue;
      const move m = find_move(next, movable_at(next));
      if (m.found) {
        design.leaves(bucket, y);
        done = overwrite(next, m, design.in_other_bucket(y));
        if (done) overwrite_copied(at, y, item_.first.content);
      }
      unlock(design.locks(), next);
    }
    return done ? verdict::done : verdict::no_free_slot;
  }

  // Finds the first movable key whose second bucket has a free slot.
  TILEHASH_FN move find_move(u32 bucket, u32 movable) const {
    const auto& design = item_.design;
    move m;
    TILEHASH_UNROLL_BY(1)
    for (; movable != 0 && !m.found; movable &= movable - 1) {
      const u32 from = lowest(movable);
      const word x = load_relaxed(design.bucket_at(bucket) + from);
      const u32 to = design.other_bucket(item_.home, bucket, x);
      u32 marks[bucket_slots];
      design.load_marks(solo_tile{}, to, marks, true);
      TILEHASH_UNROLL
      for (u32 k = bucket_slots; k-- > 0;)
        if (design.is_free_mark(marks[k])) m = {from, x, to, k, marks[k], true};
    }
    return m;
  }
  // Copies the key that moves to the free slot, and writes `content` over it. False: an insert took that slot.
  TILEHASH_FN bool overwrite(u32 bucket, const move& m, word content) const {
    const auto& design = item_.design;
    design.leaves(bucket, m.key);
    if (!design.replace(design.bucket_at(m.bucket) + m.free, design.free_word(m.mark),
                        design.in_other_bucket(m.key), true))
      return false;
    overwrite_copied(design.bucket_at(bucket) + m.slot, m.key, content);
    return true;
  }
  TILEHASH_FN void overwrite_copied(word* at, word key, word content) const {
    acq_rel_fence();  // a thread that misses the key finds its copy
    item_.design.replace(at, key, content, false);
  }

  // Looks at a bucket of the key: is the key there, and which keys are in their first bucket? (A free slot looks
  // like such a key.)
  struct seen {
    bool has;
    u32 movable;
  };
  TILEHASH_FN seen look(const target& in) const {
    const auto& design = item_.design;
    const solo_tile t;
    const auto b = bucket_type::read_shared(t, design.bucket_at(in.bucket));
    return {b.has(t, in.stored), design.movable_in(t, b)};
  }
  TILEHASH_FN bool is_present() const { return look(item_.first).has || look(item_.second).has; }
  // The keys of a bucket that are in their first, if the bucket is full.
  TILEHASH_FN u32 movable_at(u32 bucket) const {
    const auto& design = item_.design;
    const solo_tile t;
    const auto b = bucket_type::read_shared(t, design.bucket_at(bucket));
    return design.free_in(t, b) == 0 ? design.movable_in(t, b) : 0;
  }

  displacement item_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
