// SPDX-License-Identifier: Apache-2.0
// Inserts a key into a Robin Hood table, and relocates the keys that it takes out.
//
//   k: home --> [.]                        a free slot at home, where no key of that home has gone further
//   k: home --> ... --> [y3]   k is 4 there: k takes the slot, and y goes on from there
//                         '--> ... --> [z2]   y is 5 there: ... until one meets a free slot
//
// A new key is looked for first, up to its home's maximum age. It takes the first slot of its sequence that
// is free or has a younger key. Another lane may have the same key in flight. So the insert reads before and
// after whether keys of the home are in flight (robin_hood/counters.hpp), and retries if so. If the home has
// a free slot, no key has been taken out of it; if its maximum is 1, no key is stored further on. Most keys
// therefore read no counter.
//
// A key in flight goes on from the bucket that it left, without a check: no other lane inserts it meanwhile.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/robin_hood/counters.hpp>
#include <tilehash/space/bucket.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Tile>
struct robin_hood_insertion {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using key_bits = typename Design::key_bits;
  using value_bits = typename Design::value_bits;
  using location = typename Design::location;
  using bucket_type = typename Design::template bucket_type<Tile>;
  using result = insert_result<key_bits, value_bits>;

  Design design;
  Tile t;

  TILEHASH_FN result run(key_bits key, value_bits value, bool active, bool evicted) const {
    const location home = design.locate(key);
    const auto b = bucket_type::read_shared(t, design.bucket_at(home.home), active);
    const bool here = b.has(t, design.stored(home));
    const u32 code = Design::max_code_in(t, b), free = b.match_empty(t);
    const u32 first = turned(free, home);
    const word empty = b.at(t, first);
    bool known = active && !evicted && here;
    const bool simple = active && !evicted && !here && free != 0 && design.max_age(code) == 1;

    target to{home, first, empty, simple};
    const bool seeks = active && !known && !simple;
    const u64 before = relocations<false>(home, seeks);
    const bool quiet = first_says((before & robin_hood_counters::in_flight) == 0);
    const bool clear = seeks && (evicted || quiet);
    known |= find_target(home, to, clear, !evicted);
    const bool same = first_says(relocations<true>(home, seeks) == before);
    const bool settled = simple || (clear && (evicted || same));

    // Reserves a slot for a new key. If no slot within reach is suitable, the key is in flight from the
    // start.
    const bool goes = settled && !known, fresh = goes && !evicted;
    const bool entered = enters(home, fresh);
    const bool puts = goes && to.is && (evicted || entered);
    const location other = design.location_in(to.at.bucket, to.old);
    const bool put = settle(to, other, value, evicted, puts);
    const bool unplaced = set_out(home, before, entered && !to.is);
    if (entered && !put && !unplaced && t.rank() == 0) design.counters().release_slot(home.home);

    // Relocates the key that was taken out.
    location p = other;
    value_bits its = slot_type::value_of(to.old);
    const bool took = put && !slot_type::is_free(to.old), placed = relocate(p, its, took);
    if (took && !placed) return {insert_state::replaced, design.key_of(p), its};
    if (unplaced) return {insert_state::replaced, key, value};
    const bool is_full = goes && (evicted ? !to.is : !entered);
    return {known     ? insert_state::present
            : put     ? insert_state::inserted
            : is_full ? insert_state::full
                      : insert_state::again};
  }

 private:
  // A slot for a key.
  struct target {
    location at;
    u32 slot = 0;
    word old = 0;     // its content: nothing, or a younger key
    bool is = false;  // true if there is one
  };

  // Finds the first slot for the key on its sequence. If asked, also looks for the key at all its possible
  // buckets. True if the key is present.
  TILEHASH_FN bool find_target(location p, target& to, bool walking, bool looks) const {
    bool known = false;
    while (t.any(walking)) {
      const auto b = bucket_type::read_shared(t, design.bucket_at(p.bucket), walking);
      const bool here = b.has(t, design.stored(p));
      const u32 code = Design::max_code_in(t, b);
      const target found = target_in(b, p);
      if (!walking) continue;
      if (p.age == 1) p.limit = design.max_age(code);
      known = looks && here;
      if (found.is && !to.is) to = found;
      walking = !known && (!to.is || (looks && p.age < p.limit)) && p.age < design.max_steps();
      if (walking) design.next(p);
    }
    return known;
  }
  TILEHASH_FN target target_in(const bucket_type& b, const location& p) const {
    const u32 free = b.match_empty(t);
    const u32 younger = b.match_if(t, [&](word w) { return design.age_in(w) < p.age; });
    const u32 slot = turned(free != 0 ? free : younger, p);
    return {p, slot, b.at(t, slot), younger != 0};  // a free slot's age is 0
  }
  // The first of these slots, from the key's own slot on, so that neighbours that arrive together do not all
  // try one slot. Equal keys try the same one, and a slot's content never gets younger, so they meet.
  TILEHASH_FN static u32 turned(u32 slots, const location& p) {
    const u32 own = static_cast<u32>(p.remainder) % Design::bucket_slots;
    return slots == 0 ? 0
                      : (lowest(rotate_right<Design::bucket_slots>(slots, own)) + own) % Design::bucket_slots;
  }

  // Puts a key into a slot if its content is unchanged. begin_move() announces the key that it takes out.
  TILEHASH_FN bool settle(const target& to, const location& taken, value_bits value, bool evicted,
                          bool wanted) const {
    const auto& counters = design.counters();
    const bool takes = wanted && !slot_type::is_free(to.old);
    if (takes && t.rank() == 0) counters.begin_move(taken.home);
    const bool put = try_claim(t, design.bucket_at(to.at.bucket) + to.slot, to.old,
                               slot_type::written_over(to.old, design.stored(to.at), value), wanted);
    if (t.rank() == 0) {
      if (takes && !put) counters.end_move(taken.home);
      if (put && to.at.age > 1) design.raise_max_age(to.at.home, to.at.age);
      if (put && evicted) counters.end_move(to.at.home);
    }
    t.sync();
    return put;
  }

  // Moves a key in flight from its bucket to the next suitable slot, then the key taken out there. False if a
  // key would grow too old: it is in flight then.
  TILEHASH_FN bool relocate(location& p, value_bits& value, bool moving) const {
    const u64 most = Design::max_steps_a_bucket * design.homes().buckets();
    bool placed = false;
    const auto go_on = [&] {
      moving = p.age < design.max_steps();
      if (moving) design.next(p);
    };
    if (moving) go_on();
    for (u64 steps = 0; t.any(moving); ++steps) {
      const auto b = bucket_type::read_shared(t, design.bucket_at(p.bucket), moving);
      const target to = target_in(b, p);
      const location taken = design.location_in(p.bucket, to.old);
      const bool put = settle(to, taken, value, true, moving && to.is);
      if (!moving) continue;
      if (put) {
        placed = slot_type::is_free(to.old);
        moving = !placed;
        p = taken;
        value = slot_type::value_of(to.old);
      }
      if (moving && (put || !to.is)) go_on();  // else the bucket has changed: retry it
      moving = moving && steps < most;
    }
    return placed;
  }

  // Reads the relocations of a home before the lane's later reads of buckets, and, if asked, after its earlier
  // ones. Only the tile's first lane reads them: to broadcast a word of 8 bytes takes two shuffles, the result
  // one.
  template <bool AfterReads>
  TILEHASH_FN u64 relocations(const location& home, bool wanted) const {
    u64 n = 0;
    if (AfterReads && t.any(wanted)) device_fence();
    if (wanted && t.rank() == 0) n = design.counters().relocations(home.home);
    if (t.any(wanted)) device_fence();
    return n;
  }
  TILEHASH_FN bool first_says(bool it) const { return t.broadcast(u32(it), 0) != 0; }
  TILEHASH_FN bool enters(const location& home, bool wanted) const {
    bool entered = false;
    if (wanted && t.rank() == 0) entered = design.counters().acquire_slot(home.home);
    return first_says(entered);
  }
  // Begins the relocation of a key without a slot, unless its home's relocations have changed.
  TILEHASH_FN bool set_out(const location& home, u64 before, bool wanted) const {
    bool alone = false;
    if (wanted && t.rank() == 0) alone = design.counters().begin_move_alone(home.home, before);
    return first_says(alone);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
