// SPDX-License-Identifier: Apache-2.0
// Displacement by threads of a GPU's warp together, among inserts that take no locks. Near full, most threads of a
// warp displace. If each did so by itself, the warp would run them one after the other.
//
//   in_step()      one move: each thread for its item, all threads in step
//   by_a_group()   one to three moves: a group of threads for an item, a thread for each key of its two buckets
//
// Why no key is lost or inserted twice: algorithm/displacement.hpp. The last key of a path goes from its first bucket to a
// free slot of its second. The others go to full buckets.
//
// All threads execute all collectives, whether their items are placed or not.
#pragma once

#include <tilehash/algorithm/displacement.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/space/solo_tile.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Requests a line of memory for the L2 cache of a GPU, whose thread then waits for L2 alone.
TILEHASH_FN void request_line([[maybe_unused]] const void* p) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}

// Threads: those that came together. ballot(p) has a bit for each lane of the warp, and broadcast(x, lane) returns the
// x of a lane.
template <class Design, class Threads>
class moves_together {
  using displacement = typename Design::displacement_among_inserts;
  using location = typename Design::location;
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using stored_key = typename slot_type::stored_key;
  using key_bits = typename Design::key_bits;
  using value_bits = typename slot_type::value_bits;
  static constexpr u32 bucket_slots = Design::bucket_slots, most_moves = 3;

 public:
  using verdict = typename displacement::verdict;
  static constexpr u32 group = 2 * bucket_slots;          // threads
  static constexpr u32 step_tries = 4, group_turns = 48;  // of a call

  // The thread's item is that of a key with this hash. Few members, as they are in registers of the caller's kernel.
  TILEHASH_FN moves_together(const Design& design, key_bits hash, value_bits value, const Threads& t)
      : design_(design), home_(design.location_of(hash)), value_(value), t_(t) {
    location second = home_;
    design.turn(second);
    second_ = design.where(second);
  }

  // One try of each thread with `on`.
  TILEHASH_FN verdict in_step(bool on) const {
    const u32 first = this->first(), second = second_;
    const bool locked = on && try_lock(design_.locks(), first);
    verdict v = verdict::disturbed;
    t_.sync();
    if (on && (has(first, false) || has(second, true)))
      v = verdict::known;
    else if (locked)
      v = verdict::no_free_slot;
    TILEHASH_UNROLL_BY(1)
    for (u32 turn = 0; turn < 2; ++turn) {
      const u32 here = turn == 0 ? first : second;
      bool seeks = locked && v == verdict::no_free_slot && (turn == 0 || second != first);
      if (!t_.any(seeks)) break;
      if (turn != 0 && seeks) seeks = try_lock(design_.locks(), second);
      t_.sync();
      path p;
      if (seeks) p = move_from(here);
      t_.sync();
      if (p.length != 0) v = move_all<1>(p) ? verdict::done : verdict::disturbed;
      if (turn != 0 && seeks) unlock(design_.locks(), second);
    }
    if (locked) unlock(design_.locks(), first);
    t_.sync();
    return v;
  }

  // One try of each group with `on`. `mine`: the lanes of this thread's group (of any in a thread without one), `rank`: its
  // number there. All threads of a group have the same item and the same `on`.
  TILEHASH_FN verdict by_a_group(u32 mine, u32 rank, u32 turn, bool on) const {
    bool knows = false;
    path p;
    u32 having = search(p, mine, rank, on, knows);
    const bool known = (t_.ballot(knows) & mine) != 0;
    if (turn % 2 != 0 && (having & (having - 1)) != 0)
      having &= having - 1;  // another than the one that failed
    const bool found = on && !known && having != 0;
    const u32 chosen = lowest(found ? having : mine);
    const bool chooses = t_.broadcast(rank, chosen) == rank && found;
    const u32 length = t_.broadcast(p.length, chosen);
    const u32 first = this->first(), start = t_.broadcast(p.bucket[0], chosen),
              next = t_.broadcast(p.bucket[1], chosen), last = t_.broadcast(p.bucket[2], chosen);
    // Locks: of the key's first bucket, and of all buckets that a key leaves.
    const u32 which = rank == 0 ? first : rank == 1 ? start : rank == 2 ? next : last;
    const bool locks = found && (rank == 0 || (rank == 1 && start != first) || (rank == 2 && length > 1) ||
                                 (rank == 3 && length > 2));
    const bool locked = locks && try_lock(design_.locks(), which);
    t_.sync();
    const bool all_locked = (t_.ballot(locks && !locked) & mine) == 0;
    knows = found && has_at(rank, load_relaxed(at(bucket_of(rank), rank % bucket_slots)));
    const bool known_now = (t_.ballot(knows) & mine) != 0;
    bool done = false;
    if (chooses && all_locked && !known_now) done = move_all(p);
    done = (t_.ballot(done) & mine) != 0;
    t_.sync();
    if (locked) unlock(design_.locks(), which);
    return known || known_now ? verdict::known
           : !found           ? verdict::no_free_slot
           : done             ? verdict::done
                              : verdict::disturbed;
  }

 private:
  struct path {
    u32 length = 0;  // keys that move
    u32 bucket[most_moves + 1] = {}, slot[most_moves + 1] = {};
    u32 mark = 0;  // of the free slot at the end
  };

  // Finds the shortest paths from the key of each thread of a group. Returns the lanes of the group that have one.
  TILEHASH_FN u32 search(path& p, u32 mine, u32 rank, bool on, bool& knows) const {
    bool leads = false;
    p.bucket[0] = bucket_of(rank), p.slot[0] = rank % bucket_slots;
    if (on) {
      const word x = load_relaxed(at(p.bucket[0], p.slot[0]));
      knows = has_at(rank, x);
      p.bucket[1] = other(p.bucket[0], x);
      const bool is_new = first() != second_ || rank < bucket_slots;
      leads = is_new && !slot_type::is_free(x) && is_apart(p.bucket[1]);
      p.slot[1] = free_of(p.bucket[1], p.mark);
      if (leads && p.slot[1] != bucket_slots && in_first(x)) p.length = 1;
      leads = leads && p.slot[1] == bucket_slots;
    }
    t_.sync();
    u32 having = t_.ballot(p.length != 0) & mine;
    bool goes_on = on && having == 0;
    if (!t_.any(goes_on)) return having;
    if (goes_on && leads) add_move<1>(p);
    t_.sync();
    having |= t_.ballot(p.length != 0) & mine;
    goes_on = on && having == 0;
    TILEHASH_UNROLL_BY(1)
    for (u32 k = 0; k < bucket_slots && t_.any(goes_on); ++k) {
      if (goes_on && leads) add_two_moves(p, k);
      t_.sync();
      having |= t_.ballot(p.length != 0) & mine;
      goes_on = on && having == 0;
    }
    return having;
  }
  // Finds a key of the path's bucket Step that is in its first bucket and can go on to a free slot.
  template <u32 Step>
  TILEHASH_FN void add_move(path& p) const {
    request_seconds(p.bucket[Step]);
    TILEHASH_UNROLL_BY(1)
    for (u32 k = 0; k < bucket_slots && p.length == 0; ++k) {
      const word y = load_relaxed(at(p.bucket[Step], k));
      const u32 end = other(p.bucket[Step], y);
      bool fits = in_first(y) && !slot_type::is_free(y) && is_apart(end);
      TILEHASH_UNROLL
      for (u32 before = 1; before <= Step; ++before) fits = fits && end != p.bucket[before];
      if (!fits) continue;
      const u32 free = free_of(end, p.mark);
      if (free != bucket_slots)
        p.slot[Step] = k, p.bucket[Step + 1] = end, p.slot[Step + 1] = free, p.length = Step + 1;
    }
  }
  // The same by way of the bucket of key `k`, which must be full.
  TILEHASH_FN void add_two_moves(path& p, u32 k) const {
    const word y = load_relaxed(at(p.bucket[1], k));
    p.slot[1] = k, p.bucket[2] = other(p.bucket[1], y);
    if (slot_type::is_free(y) || !is_apart(p.bucket[2]) || p.bucket[2] == p.bucket[1]) return;
    if (free_of(p.bucket[2], p.mark) == bucket_slots) add_move<2>(p);
  }
  // The path of one move of a key from a bucket of this thread's item.
  TILEHASH_FN path move_from(u32 here) const {
    path p;
    request_seconds(here);
    TILEHASH_UNROLL_BY(1)
    for (u32 k = 0; k < bucket_slots && p.length == 0; ++k) {
      const word x = load_relaxed(at(here, k));
      if (!in_first(x)) continue;
      p.bucket[0] = here, p.slot[0] = k, p.bucket[1] = other(here, x);
      p.slot[1] = free_of(p.bucket[1], p.mark);
      p.length = p.slot[1] != bucket_slots;
    }
    return p;
  }
  // Moves the keys of a path, the far end first, and puts the item into the first slot. Returns false, and has changed
  // nothing, if other keys have come by now, or an insert took the free slot.
  template <u32 Most = most_moves>
  TILEHASH_FN bool move_all(const path& p) const {
    const Design& design = design_;
    TILEHASH_UNROLL_BY(1)
    for (u32 i = 0; i < Most && i < p.length; ++i) {
      const word w = load_relaxed(at(p.bucket[i], p.slot[i]));
      if (slot_type::is_free(w) || other(p.bucket[i], w) != p.bucket[i + 1] ||
          (i + 1 == p.length && !in_first(w)))
        return false;
    }
    TILEHASH_UNROLL_BY(1)
    for (u32 i = p.length; i-- > 0;) {
      const word w = load_relaxed(at(p.bucket[i], p.slot[i]));
      word* const to = at(p.bucket[i + 1], p.slot[i + 1]);
      design.leaves(p.bucket[i], w);
      if (i + 1 == p.length) {
        if (!design.replace(to, design.free_word(p.mark), design.in_other_bucket(w), true)) return false;
      } else {
        design.replace(to, load_relaxed(to), design.in_other_bucket(w), false);
      }
      acq_rel_fence();  // a thread that misses the key finds its copy
    }
    word* const last = at(p.bucket[0], p.slot[0]);
    if (p.bucket[0] != first()) design.leaves(first(), content_in(first()));
    design.replace(last, load_relaxed(last), content_in(p.bucket[0]), false);
    return true;
  }

  TILEHASH_FN u32 bucket_of(u32 rank) const { return rank < bucket_slots ? first() : second_; }
  // Is the item's key in this word of its buckets?
  TILEHASH_FN bool has_at(u32 rank, word w) const {
    return slot_type::stored_in(w) == stored(rank >= bucket_slots);
  }
  TILEHASH_FN bool has(u32 bucket, bool in_second) const {
    using bucket_type = typename Design::template bucket_type<solo_tile>;
    return bucket_type::read_shared(solo_tile{}, at(bucket, 0)).has(solo_tile{}, stored(in_second));
  }
  TILEHASH_FN u32 first() const { return design_.where(home_); }
  TILEHASH_FN stored_key stored(bool in_second) const {
    return static_cast<stored_key>(home_.stored ^ (in_second ? 2 : 0));
  }
  TILEHASH_FN word content_in(u32 bucket) const { return slot_type::make(stored(bucket != first()), value_); }
  TILEHASH_FN word* at(u32 bucket, u32 slot) const { return design_.bucket_at(bucket) + slot; }
  TILEHASH_FN u32 other(u32 bucket, word w) const { return design_.other_bucket(home_, bucket, w); }
  TILEHASH_FN bool is_apart(u32 bucket) const { return bucket != first() && bucket != second_; }
  TILEHASH_FN static bool in_first(word w) { return !slot_type::is_second(slot_type::stored_in(w)); }
  // The first free slot of a bucket, or bucket_slots.
  TILEHASH_FN u32 free_of(u32 bucket, u32& mark) const {
    u32 marks[bucket_slots];
    design_.load_marks(solo_tile{}, bucket, marks, true);
    u32 free = bucket_slots;
    TILEHASH_UNROLL
    for (u32 k = bucket_slots; k-- > 0;) {
      if (design_.is_free_mark(marks[k])) free = k, mark = marks[k];
    }
    return free;
  }
  TILEHASH_FN void request_seconds(u32 bucket) const {
    TILEHASH_UNROLL_BY(1)
    for (u32 k = 0; k < bucket_slots; ++k) {
      const word x = load_relaxed(at(bucket, k));
      if (in_first(x)) request_line(at(other(bucket, x), 0));
    }
  }

  const Design& design_;
  location home_;
  u32 second_;
  value_bits value_;
  Threads t_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
