// SPDX-License-Identifier: Apache-2.0
// Displacement by one move or two, among inserts that take no locks: places a key whose two buckets are full.
//
//   one move:   first(k) full --x--> second(x) has a free slot
//   two moves:  first(k) full --y--> second(y) full --x--> second(x) has a free slot
//
// A key x whose first bucket is k's goes to a free slot of its second bucket, and k takes its slot. If there is
// no such key, the same is tried in k's second bucket, and then two moves from k's first. Few items need a
// longer path (algorithm/displacement.hpp): in buckets of four slots 1 in 4000 of those that displace at a load
// of 0.8, and 1 in 60 at 0.9. One move takes these steps:
//
//   lock the bucket         no key of it can move then, so nothing that is read needs another check
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

template <class Design>
class short_moves {
  using displacement = typename Design::displacement_among_inserts;
  using target = typename displacement::target;
  using word = typename Design::word;
  using bucket_type = typename Design::template bucket_type<solo_tile>;
  static constexpr u32 bucket_slots = Design::bucket_slots;

 public:
  using verdict = typename displacement::verdict;

  TILEHASH_FN explicit short_moves(const displacement& d) : item_(d) {}

  // Both make one try, by one thread. Both buckets of the key were full, so they are.
  TILEHASH_FN verdict by_one_move() const {
    const auto& design = item_.design;
    if (!try_lock(design.locks(), item_.first.bucket)) return verdict::disturbed;
    verdict v = into(item_.first, item_.second);
    if (v == verdict::no_free_slot && item_.first.bucket != item_.second.bucket) {
      if (try_lock(design.locks(), item_.second.bucket)) {
        v = into(item_.second, item_.first);
        unlock(design.locks(), item_.second.bucket);
      }
    }
    unlock(design.locks(), item_.first.bucket);
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

  // Puts the key into `here`, one of its buckets. The lock of that bucket is held, and that of the first.
  TILEHASH_FN verdict into(const target& here, const target& there) const {
    const auto& design = item_.design;
    const solo_tile t;
    const auto b = bucket_type::read_shared(t, design.bucket_at(here.bucket));
    const auto other = bucket_type::read_shared(t, design.bucket_at(there.bucket));
    if (b.has(t, here.stored) || other.has(t, there.stored)) return verdict::known;
    const move m = find_move(here.bucket, design.movable_in(t, b), [&](u32 slot) { return b.at(t, slot); });
    if (!m.found) return verdict::no_free_slot;
    if (here.bucket != item_.first.bucket) design.leaves(item_.first.bucket, item_.first.content);
    return overwrite(here.bucket, m, here.content) ? verdict::done : verdict::disturbed;
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
      const word* const words = design.bucket_at(next);
      const move m = find_move(next, movable_at(next), [&](u32 slot) { return load_relaxed(words + slot); });
      if (m.found) {
        design.leaves(bucket, y);
        done = overwrite(next, m, design.in_other_bucket(y));
        if (done) overwrite_copied(at, y, item_.first.content);
      }
      unlock(design.locks(), next);
    }
    return done ? verdict::done : verdict::no_free_slot;
  }

  // Finds the first movable key whose second bucket has a free slot. word_at(slot) is the word in a slot.
  template <class WordAt>
  TILEHASH_FN move find_move(u32 bucket, u32 movable, const WordAt& word_at) const {
    const auto& design = item_.design;
    move m;
    TILEHASH_UNROLL_BY(1)
    for (; movable != 0 && !m.found; movable &= movable - 1) {
      const u32 from = lowest(movable);
      const word x = word_at(from);
      const u32 to = design.other_bucket(item_.home, bucket, x);
      u32 marks[bucket_slots];
      design.load_marks(solo_tile{}, to, marks, true);
      TILEHASH_UNROLL
      for (u32 k = 0; k < bucket_slots; ++k)
        if (!m.found && design.is_free_mark(marks[k])) m = {from, x, to, k, marks[k], true};
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

  TILEHASH_FN bool is_present() const {
    const auto& design = item_.design;
    const solo_tile t;
    return bucket_type::read_shared(t, design.bucket_at(item_.first.bucket)).has(t, item_.first.stored) ||
           bucket_type::read_shared(t, design.bucket_at(item_.second.bucket)).has(t, item_.second.stored);
  }
  // The keys of a bucket that are in their first, if the bucket is full. (A free slot looks like such a key.)
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
