// SPDX-License-Identifier: Apache-2.0
// A free slot for a key whose buckets are full, made by moving other pairs.
//
//   walk   bucket of k  --x-->  another of x  --y-->  another of y, which has a free slot
//   move   y into the free slot; then the walk again, in which x finds the slot that y left; then k
//
// A pair moves under the locks of its two buckets: it is copied first and then removed, so it is never
// absent. A try moves one pair, or inserts the key if a slot is free. Tries repeat until the key is stored.
// Each walks again with the same random numbers, so it reaches the slot that the try before it freed. No try
// keeps state or needs to be undone: after each move the table is consistent, whatever other tiles do.
//
// The key itself is inserted under the locks of all its buckets. None of them can change then, so equal keys
// are not inserted twice. Locks are tried and never waited for: a lane that does not get its lock retries
// after the tile's other items (the vote of section 4.2).
//
// Source: moves along a searched path, from its end, as in Li, Andersen, Kaminsky and
// Freedman (EuroSys 2014).
#pragma once

#include <tilehash/algorithm/displacement.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design>
struct subtables_displacement {
  using tries = displacement_tries<Design>;
  using verdict = typename tries::verdict;
  using progress = typename tries::progress;
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using location = typename Design::location;
  using part = typename Design::part;
  template <class Tile>
  using bucket_type = typename Design::template bucket_type<Tile>;

  Design design;
  location home;
  typename slot_type::carried item;
  u64 dice;

  // One try: moves one pair, and inserts the key if a slot is free now. All tiles of a warp wait for the
  // longest of their tries, so a try is short, and each step occurs once in the code.
  template <class Tile>
  TILEHASH_FN verdict attempt(Tile t, const progress& so_far, bool active) const {
    const standing now = look(t, active);
    const bool open = active && !now.known;
    const step h = walk(t, so_far, open && !now.has_free);
    const bool moved = move(t, h);
    const bool puts = open && (now.has_free || (moved && h.from_home));
    const verdict put = put_key(t, puts);
    return now.known ? verdict::known : puts ? put : h.found ? verdict::disturbed : verdict::no_free_slot;
  }
  template <class Tile>
  TILEHASH_FN outcome run(Tile t, bool active) const {
    return tries::all_of(*this, t, active);
  }

 private:
  // The result of one pass over the key's buckets.
  struct standing {
    bool known = false, has_free = false;
    word* free = nullptr;  // a free slot for the key
  };
  template <class Tile>
  TILEHASH_FN standing look(Tile t, bool active) const {
    constexpr u32 most = Design::max_steps(), some = tuning::here::looked_at_once;
    constexpr u32 at_once = most < some ? most : some;
    standing all;
    location p = home;
    const u32 steps = design.max_steps_of(home);
    TILEHASH_UNROLL_ONCE
    for (u32 s = 0; s < most; s += at_once) {
      location now[at_once];
      bucket_type<Tile> b[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        now[k] = p;
        b[k] = bucket_type<Tile>::read_shared(t, design.address(p), active && s + k < steps);
        design.advance(p);
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        const bool is = active && s + k < steps;
        const auto at = b[k].find_own_or_free(t, Design::stored(now[k], item.key));
        if (is && at.own) all.known = true;
        if (is && at.free && !all.has_free && design.may_take(now[k]))
          all.has_free = true, all.free = design.address(now[k]) + at.slot;
      }
    }
    return all;
  }
  // Inserts the key under the locks of all its buckets.
  template <class Tile>
  TILEHASH_FN verdict put_key(Tile t, bool wanted) const {
    const u32 steps = design.max_steps_of(home);
    u32 locked = wanted && t.rank() == 0 ? lock_all(steps) : 0;
    locked = t.broadcast(locked, 0);
    t.sync();  // what one lane has locked, all lanes may read
    const bool holds = wanted && locked == steps;
    const standing now = look(t, holds);
    bool put = false;
    if (holds && !now.known && now.has_free && t.rank() == 0) {
      if constexpr (!slot_type::is_set) copy_value(design.value_at(now.free), item.value);
      put = compare_and_swap(now.free, slot_type::empty_word, item.key) == slot_type::empty_word;
    }
    put = t.broadcast(u32(put), 0) != 0;
    t.sync();
    if (t.rank() == 0) release_first(steps, locked);
    return put ? verdict::done : holds && now.known ? verdict::known : verdict::disturbed;
  }

  // A pair that can move, its bucket and its destination.
  struct step {
    bool found = false, from_home = false;
    location from{}, to{};
    word content = 0;
    u32 slot = 0;
  };
  template <class Tile>
  TILEHASH_FN step walk(Tile t, const progress& so_far, bool active) const {
    step h;
    location here = home;
    const u32 steps = design.max_steps_of(home);
    const u32 round = so_far.failed + so_far.rounds / (4 * Design::max_path);
    for (u32 s = round % steps; s != 0; --s) design.advance(here);
    u64 random = mix64(dice + round);
    bool walking = active;
    TILEHASH_UNROLL_ONCE
    for (u32 walked = 0; t.any(walking); ++walked) {
      constexpr u32 at_once = tuning::here::searched_at_once;
      const u32 turn = static_cast<u32>(random >> 32);
      const auto b = bucket_type<Tile>::read_shared(t, design.address(here), walking);
      word content[at_once];
      location to[at_once];
      bool may[at_once];
      bucket_type<Tile> next[at_once];
      TILEHASH_UNROLL
      for (u32 q = 0; q < at_once; ++q) {
        content[q] = b.at(t, (turn + q) % Design::bucket_slots);
        to[q] = here;
        may[q] = walking && content[q] != slot_type::empty_word &&
                 design.next_location(content[q], here.table, to[q]);
        next[q] = bucket_type<Tile>::read_shared(t, design.address(to[q]), may[q]);
      }
      u32 taken = may[0] ? 0 : 1;
      bool has_free = false;
      TILEHASH_UNROLL
      for (u32 q = at_once; q-- > 0;) {
        const bool has = next[q].has_empty(t);
        if (may[q] && has) has_free = true, taken = q;
      }
      if (!walking) continue;
      const bool goes = may[0] || may[1];
      h.found = has_free;
      h.from_home = walked == 0;
      h.from = here;
      h.slot = (turn + taken) % Design::bucket_slots;
      h.content = taken == 0 ? content[0] : content[1];
      h.to = taken == 0 ? to[0] : to[1];
      walking = goes && !has_free && walked < Design::max_path;
      here = h.to;
      random = mix64(random);
    }
    return h;
  }
  // Moves the pair under the locks of both buckets. True if it moved.
  template <class Tile>
  TILEHASH_FN bool move(Tile t, const step& h) const {
    const u32 from_table = h.from.table, to_table = h.to.table;
    const bool forward = from_table < to_table;
    const location first = forward ? h.from : h.to, second = forward ? h.to : h.from;
    u32 locked = 0;
    if (h.found && t.rank() == 0 && lock(first)) {
      locked = 1;
      if (lock(second)) locked = 2;
    }
    locked = t.broadcast(locked, 0);
    t.sync();
    const bool holds = locked == 2;
    const auto b = bucket_type<Tile>::read_shared(t, design.address(h.to), holds);
    const auto at = b.find_own_or_free(t, h.content);
    bool moved = false;
    if (holds && at.free && t.rank() == 0) {
      word* const from = design.address(h.from) + h.slot;
      word* const to = design.address(h.to) + at.slot;
      if (load_relaxed(from) == h.content) {
        if constexpr (!slot_type::is_set) copy_value(design.value_at(to), design.value_at(from));
        moved = compare_and_swap(to, slot_type::empty_word, h.content) == slot_type::empty_word;
        if (moved) compare_and_swap(from, h.content, slot_type::empty_word);
      }
    }
    moved = t.broadcast(u32(moved), 0) != 0;
    t.sync();
    if (t.rank() == 0) {
      if (locked != 0) release(first);
      if (locked == 2) release(second);
    }
    return moved;
  }

  // All tiles take locks in the order of the subtables. Otherwise tiles that run in step, and want the same
  // two buckets in opposite order, would block each other until their tries are spent.
  template <class Use>
  TILEHASH_FN u32 in_order(u32 steps, const Use& use) const {
    u32 used = 0;
    for (u32 table = 0; table < Design::subtables; ++table) {
      location p = home;
      for (u32 s = 0; s < steps; ++s, design.advance(p)) {
        if (p.table != table) continue;
        if (!use(p, used)) return used;
        ++used;
      }
    }
    return used;
  }
  // Returns the number of locked buckets: all, or those before the first that another tile holds.
  TILEHASH_FN u32 lock_all(u32 steps) const {
    return in_order(steps, [&](const location& p, u32) { return lock(p); });
  }
  TILEHASH_FN void release_first(u32 steps, u32 locked) const {
    in_order(steps, [&](const location& p, u32 n) {
      if (n < locked) release(p);
      return n < locked;
    });
  }
  TILEHASH_FN bool lock(const location& p) const {
    const part of = design.part_of(p.table);
    return try_lock(of.locks, design.bucket_number(p, of));
  }
  TILEHASH_FN void release(const location& p) const {
    const part of = design.part_of(p.table);
    unlock(of.locks, design.bucket_number(p, of));
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
