// Displacement by one move, among inserts that take no locks: places a key whose two buckets are full.
//
//   first(k) full --x--> second(x) has a free slot
//
// A key x whose first bucket is k's goes to a free slot of its second bucket, and k takes its slot. If there is
// no such key, the same is tried in k's second bucket. Few items need a longer path
// (algorithm/displacement.hpp): 1 in 70 at a load of 0.8, 1 in 10 at 0.9, in buckets of four slots.
//
//   lock the bucket         no key of it can move then, so nothing that is read needs another check
//   read both buckets of k  the key may be present by now
//   read marks              of the second buckets of several keys at once: which slots are free
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
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design>
class one_move {
  using displacement = typename Design::displacement_among_inserts;
  using target = typename displacement::target;
  using word = typename Design::word;
  using bucket_type = typename Design::template bucket_type<solo_tile>;
  static constexpr u32 bucket_slots = Design::bucket_slots;

 public:
  using verdict = typename displacement::verdict;

  TILEHASH_FN explicit one_move(const displacement& d) : item_(d) {}

  // One thread tries once. Both buckets of the key were full, so they are.
  TILEHASH_FN verdict attempt() const {
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

 private:
  struct move {
    u32 slot = 0;               // of the key that moves
    u32 bucket = 0, other = 0;  // the free slot
    u32 mark = 0;               // of that
    bool found = false;
  };

  // Puts the key into `here`, one of its buckets. The lock of that bucket is held, and that of the first.
  TILEHASH_FN verdict into(const target& here, const target& there) const {
    const auto& design = item_.design;
    const solo_tile t;
    const auto b = bucket_type::read_shared(t, design.bucket_at(here.bucket));
    const auto other = bucket_type::read_shared(t, design.bucket_at(there.bucket));
    if (b.has(t, here.stored) || other.has(t, there.stored)) return verdict::known;
    const move m = find_move(t, here.bucket, b);
    if (!m.found) return verdict::no_free_slot;
    const word x = b.at(t, m.slot);
    design.leaves(here.bucket, x);
    if (here.bucket != item_.first.bucket) design.leaves(item_.first.bucket, item_.first.content);
    if (!design.replace(design.bucket_at(m.bucket) + m.other, design.free_word(m.mark),
                        design.in_other_bucket(x), true))
      return verdict::disturbed;
    acq_rel_fence();  // a thread that misses x below finds its copy
    design.replace(design.bucket_at(here.bucket) + m.slot, x, here.content, false);
    return verdict::done;
  }

  // A key of the bucket that can go on from there, its first bucket, to a free slot of its second.
  TILEHASH_FN move find_move(solo_tile t, u32 bucket, const bucket_type& b) const {
    const auto& design = item_.design;
    constexpr u32 at_once = tuning::here::moves_at_once;
    move m;
    TILEHASH_UNROLL_BY(1)
    for (u32 movable = design.movable_in(t, b); movable != 0 && !m.found;) {
      u32 from[at_once], to[at_once], marks[at_once][bucket_slots];
      bool may[at_once];
      TILEHASH_UNROLL
      for (u32 q = 0; q < at_once; ++q) {
        may[q] = movable != 0;
        from[q] = may[q] ? lowest(movable) : 0;
        movable &= movable - 1;
        to[q] = design.other_bucket(item_.home, bucket, b.at(t, from[q]));
        design.load_marks(t, to[q], marks[q], may[q]);
      }
      TILEHASH_UNROLL
      for (u32 i = 0; i < at_once * bucket_slots; ++i) {
        const u32 q = i / bucket_slots, k = i % bucket_slots;
        if (!m.found && may[q] && design.is_free_mark(marks[q][k]))
          m = {from[q], to[q], k, marks[q][k], true};
      }
    }
    return m;
  }

  displacement item_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
