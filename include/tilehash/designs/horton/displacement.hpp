// SPDX-License-Identifier: Apache-2.0
// A free slot for a key k whose primary bucket is full, by moves of one item each.
//
//   primary bucket of k       bucket of x's next function      ...
//   | . . x . . . . . |  --x-->  | . y . . . . . . |  --y-->  | . . . free . |
//         ^
//         k
//
// The item that moves first, in the paper's order:
//
//   a secondary item  of k's primary bucket, stored there by one of its seven functions. k takes its slot
//   a primary item    of a bucket of type A, which becomes type B: the item in the last slot takes the slot
//                     that is left, as the last slot has the remap entries now
//   k itself          of type B: by one of seven functions, which its remap entry then names
//   a primary item    of type B, and k takes its slot: where k's own way is blocked
//   sharers           items that share k's remap entry, by another function, and k after them: likewise
//
// It moves to the emptiest of its other buckets. If all are full, a secondary item in one of them must move
// first, and so on. A path is searched, and then its items move, the last one first. Primary items of other
// buckets move for secondary ones only where all else fails.
//
// A move holds the lock of the items' primary bucket (tried, never waited for). Only its holder moves that
// bucket's items, inserts its keys and changes its remap entries. An item takes a free slot by
// compare-and-swap, then leaves its old one. A path that has changed since the search is abandoned midway.
// Items that share a remap entry move together, or one of them moves to its primary bucket instead.
#pragma once

#include <tilehash/algorithm/displacement.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, u32 MaxPath>
struct horton_displacement {
  using tries = displacement_tries<Design>;
  using verdict = typename tries::verdict;
  using progress = typename tries::progress;
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using location = typename Design::location;
  template <class Tile>
  using bucket_type = typename Design::template bucket_type<Tile>;
  static constexpr u32 functions = slot_type::functions, all_functions = (2U << functions) - 2;

  Design design;  // no reference: that would put all of a kernel's parameters in local memory
  location home;  // of the key to be put in
  typename slot_type::value_bits value;
  u64 dice;

  template <class Tile>
  TILEHASH_FN outcome run(Tile t, bool active) const {
    return tries::all_of(*this, t, active);
  }

  // One try.
  template <class Tile>
  TILEHASH_FN verdict attempt(Tile t, u32 round, bool active) const {
    const buckets_read<Tile> k = read_buckets(t, active);
    const u32 free = k.b.match_empty(t);
    bool done = put(t, k.primary, free, home.stored, k.mine && !k.known && free != 0);

    const u64 random = mix64(dice + round);
    const choice c = choose(t, k, round, static_cast<u32>(random) % Design::bucket_slots);
    path p;
    p.moves[0] = c.move;
    const location first = c.itself ? home : design.location_in(c.move.bucket, c.move.content);
    const crowd of_b = crowd_of(t, k.b, first), of_b2 = crowd_of(t, k.b2, first);
    const reach r{in_turn(far_turn, round), round % 64 >= 56, c.shares_entry};
    const bool tries_to = k.mine && !k.known && free == 0;
    const bool found = search(t, p, first, c.shares_entry ? of_b2 : of_b, random, r, tries_to);

    const bool clear = move_all(t, p, found, c.itself) && !c.converts && !c.shares_entry;
    done = put_after(t, k.primary, c.itself, p.moves[0].function, clear) || done;
    unlock(t, k.primary, k.mine);
    return done                 ? verdict::done
           : k.known            ? verdict::known
           : tries_to && !found ? verdict::no_free_slot
                                : verdict::disturbed;
  }

 private:
  // The kind of item that moves in each of sixteen rounds, from the right. In a bucket of type A, secondary
  // items move while there are any, except in the turns of primary ones. A key that would share a remap entry
  // takes the slot of a primary item with an unused entry instead, except in its own turns.
  static constexpr u32 secondary_turn = 0b0011001100110011, primary_turn = 0b1100100011001000,
                       itself_turn = 0b0010010000100100, sharers_turn = 0b1000000010000000;
  static constexpr u32 far_turn = 0b1110010001100100;  // primary items of type B move for others
  TILEHASH_FN static bool in_turn(u32 turns, u32 round) { return (turns >> round % 16 & 1) != 0; }
  struct reach {
    bool primary_of_b, primary_of_a;  // such items move for secondary ones
    bool one_more;                    // only to buckets that can free a slot for one more
  };

  // An item that moves by a function into the slot that the next one leaves, or into a free one.
  struct step {
    u32 bucket, slot;
    word content;
    u32 function;
  };
  struct path {
    step moves[MaxPath];
    u32 length = 0;
  };

  // The key's primary bucket and, if a remap entry leads to one, its secondary bucket.
  template <class Tile>
  struct buckets_read {
    u32 primary, function;
    location second;
    bool mine;   // the primary bucket is locked
    bool known;  // the key is present
    bucket_type<Tile> b, b2;
  };
  template <class Tile>
  TILEHASH_FN buckets_read<Tile> read_buckets(Tile t, bool active) const {
    const u32 primary = design.where(home);
    const bool mine = lock(t, primary, active);
    const auto b = read(t, primary, mine);
    const u32 function = Design::entry_for(t, b, home.stored);
    location second = home;
    design.remap(second, function);
    const auto b2 = read(t, design.where(second), mine && function != 0);
    const bool here = b.has(t, home.stored), there = b2.has(t, second.stored);
    const bool known = mine && (here || (function != 0 && there));
    return {primary, function, second, mine, known, b, b2};
  }

  // The item that moves first, to free a slot for the key. If that item shares its remap entry, or its bucket
  // becomes type B, the key's own turn comes in a later round.
  struct choice {
    step move;
    bool itself;        // the key goes to a secondary bucket
    bool shares_entry;  // an item that shares the key's remap entry moves
    bool converts;      // a primary item of a bucket of type A moves
  };
  template <class Tile>
  TILEHASH_FN choice choose(Tile t, const buckets_read<Tile>& k, u32 round, u32 turn) const {
    const bool is_b = slot_type::is_remap(k.b.at(t, Design::last_slot));
    const u32 secondary = Design::secondary_in(t, k.b), primary = items_of(is_b) & ~secondary;
    const u32 sharers = Design::in_group(t, k.b2, home.tag(), k.function);
    const u32 alone = alone_in(t, k.b);
    const bool shares = is_b && k.function != 0, swaps = shares && alone != 0 && !in_turn(itself_turn, round);
    const bool of_primary = swaps || (primary != 0 && in_turn(primary_turn, round));
    const bool a_sharer = shares && sharers != 0 && in_turn(sharers_turn, round);
    const bool a_secondary =
        secondary != 0 && !a_sharer && (is_b ? in_turn(secondary_turn, round) : !of_primary);
    const bool a_primary = !a_secondary && !a_sharer && (!is_b || of_primary);
    const u32 slot = a_sharer ? lowest(sharers)
                              : turn_to(a_secondary  ? secondary
                                        : !a_primary ? 0
                                        : swaps      ? alone
                                                     : primary,
                                        turn);
    const word here = k.b.at(t, slot), there = k.b2.at(t, slot);
    const step move{a_sharer ? design.where(k.second) : k.primary, slot, a_sharer ? there : here, 0};
    return {move, !a_secondary && !a_primary && !a_sharer, a_sharer, a_primary && !is_b};
  }

  // Moves the items of a path, the last first; the key itself does not move here. False if one could not.
  template <class Tile>
  TILEHASH_FN bool move_all(Tile t, const path& p, bool found, bool itself) const {
    bool clear = found;
    for (u32 i = found ? p.length : 0; t.any(i > u32(itself));) {
      const bool on = clear && i > u32(itself);
      const bool moved = move(t, p.moves[on ? i - 1 : 0], on);
      if (i > u32(itself)) clear = moved, --i;
    }
    return clear;
  }

  // Puts the key into its primary bucket or, by a function, into a secondary one.
  template <class Tile>
  TILEHASH_FN bool put_after(Tile t, u32 primary, bool itself, u32 function, bool clear) const {
    location to = home;
    if (itself) design.remap(to, function);
    const auto b = read(t, design.where(to), clear);
    const u32 free = b.match_empty(t), entry = Design::entry_for(t, read(t, primary, clear), home.stored);
    const bool fits =
        free != 0 && (!itself || entry == 0 || entry == function);  // a move may have set the entry
    const bool came = put(t, design.where(to), free, to.stored, clear && fits);
    if (came && itself && t.rank() == 0) set_entry(primary, home.tag(), function);
    return came;
  }

  template <class Tile>
  TILEHASH_FN auto read(Tile t, u32 bucket, bool active) const {
    return bucket_type<Tile>::read_shared(t, design.bucket_at(bucket), active);
  }
  template <class Tile>
  TILEHASH_FN bool lock(Tile t, u32 bucket, bool wanted) const {
    bool mine = false;
    if (wanted && t.rank() == 0) mine = try_lock(design.locks(), bucket);
    mine = t.broadcast(u32(mine), 0) != 0;
    t.sync();  // later reads are under the lock
    return mine;
  }
  template <class Tile>
  TILEHASH_FN void unlock(Tile t, u32 bucket, bool mine) const {
    t.sync();
    if (mine && t.rank() == 0) detail::unlock(design.locks(), bucket);
  }
  TILEHASH_FN static bool is_single(u32 mask) { return mask != 0 && (mask & (mask - 1)) == 0; }
  TILEHASH_FN static u32 items_of(bool is_b) { return Design::item_slots | u32(!is_b) << Design::last_slot; }
  // The first slot of a mask, from a slot on.
  TILEHASH_FN static u32 turn_to(u32 mask, u32 turn) {
    const u32 turned = rotate_right<Design::bucket_slots>(mask, turn);
    return turned != 0 ? (lowest(turned) + turn) % Design::bucket_slots : 0;
  }
  TILEHASH_FN void set_entry(u32 bucket, u32 tag, u32 function) const {
    word* const at = design.bucket_at(bucket) + Design::last_slot;
    const word entries = load_relaxed(at);  // no other thread writes them while the bucket is locked
    compare_and_swap(at, entries, slot_type::with_entry(entries, tag, function));
  }
  // Primary items whose remap entry is not used, in a bucket of type B.
  template <class Tile>
  TILEHASH_FN static u32 alone_in(Tile t, const bucket_type<Tile>& b) {
    const word last = b.at(t, Design::last_slot);
    return b.match_if(t, [&](word w) {
      const auto n = slot_type::stored_in(w);
      return Design::holds(0, w) && slot_type::function_of(n) == 0 &&
             slot_type::entry(last, slot_type::tag_of(slot_type::remainder_of(n))) == 0;
    });
  }
  // Puts the key into one of the free slots.
  template <class Tile>
  TILEHASH_FN bool put(Tile t, u32 bucket, u32 free, typename slot_type::stored_key stored,
                       bool active) const {
    return try_claim(t, design.bucket_at(bucket) + (free != 0 ? lowest(free) : 0), slot_type::empty_word,
                     slot_type::make(stored, value), active);
  }

  // The number of items that move with an item of `b`, or with one that is about to be stored there, and the
  // functions by which they may move. A secondary item may by all but its own function. A primary item may by
  // the function in its remap entry, or by all if there is none.
  struct crowd {
    u32 items, may;
  };
  template <class Tile>
  TILEHASH_FN crowd crowd_of(Tile t, const bucket_type<Tile>& b, const location& item) const {
    const u32 entry = Design::entry_for(t, b, item.stored), now = item.function();
    const u32 sharers = Design::in_group(t, b, item.tag(), now);
    if (now != 0) return {count_ones(sharers), all_functions & ~(1U << now)};
    return {1, entry != 0 ? 1U << entry : all_functions};
  }

  // Walks to a free slot. True if the path's last item can move to one.
  template <class Tile>
  TILEHASH_FN bool search(Tile t, path& p, location item, crowd c, u64 random, reach r, bool active) const {
    bool found = false;
    for (bool walking = active; t.any(walking);) {
      const location own = design.primary_of(item);
      const u32 tag = item.tag(), turn = static_cast<u32>(random >> 32) % functions;
      bucket_type<Tile> next[functions];
      TILEHASH_UNROLL
      for (u32 f = 1; f <= functions; ++f)
        next[f - 1] =
            read(t, own.base + design.other_bucket(own.bucket, tag, f), walking && (c.may >> f & 1) != 0);
      // The emptiest bucket with free slots for all items; else the emptiest that gets them when items move
      // on. Among several, the first from `turn` on.
      u32 by = 0, most = 0, on = 0, seconds = 0, most_free = 0;
      TILEHASH_UNROLL
      for (u32 f = 1; f <= functions; ++f) {
        const u32 free = count_ones(next[f - 1].match_empty(t));
        const u32 group = Design::in_group(t, next[f - 1], tag, f);
        const u32 secondary = Design::secondary_in(t, next[f - 1]);
        const bool is_b = next[f - 1].ask_slot(t, Design::last_slot, slot_type::is_remap) != 0;
        const bool all = r.primary_of_b && (is_b || r.primary_of_a);
        const u32 movable = (all ? items_of(is_b) : secondary) & ~group, sum = free + count_ones(movable);
        const bool is = (c.may >> f & 1) != 0 && sum >= c.items + u32(r.one_more), later = f > turn;
        if (is && free >= c.items && (free > most || (free == most && later && by <= turn)))
          by = f, most = free;
        if (is && movable != 0 && (on == 0 || free > most_free || (free == most_free && later && on <= turn)))
          on = f, seconds = movable, most_free = free;
      }
      if (r.one_more && on != 0 && (random & 1) != 0) most = 0;
      // One of several items of an entry may move to its primary bucket, where a primary item moves for it.
      const bool parts = walking && c.items > 1 && most == 0;
      const auto h = read(t, design.where(own), parts);
      const u32 free_at_home = h.match_empty(t), alone = alone_in(t, h);
      const u32 all = items_of(true) & ~Design::secondary_in(t, h), leaving = alone != 0 ? alone : all;
      const bool to_home = parts && (free_at_home != 0 || (leaving != 0 && (on == 0 || (random & 2) != 0)));
      if (to_home) on = 0;
      found = walking && (most != 0 || (to_home && free_at_home != 0));
      if (found) p.moves[p.length].function = most != 0 ? by : 0;
      walking = walking && !found && (on != 0 || to_home) && p.length + 1 < MaxPath;
      // Next, the bucket of the item that moves on.
      const u32 bucket = to_home ? design.where(own) : own.base + design.other_bucket(own.bucket, tag, on);
      const auto b = read(t, bucket, walking);
      const u32 slot =
          turn_to(to_home ? leaving : seconds, static_cast<u32>(random >> 40) % Design::bucket_slots);
      const word content = b.at(t, slot);
      const location then = design.location_in(bucket, content);
      const crowd then_crowd = crowd_of(t, b, then);
      if (!walking) continue;
      p.moves[p.length++].function = on;
      p.moves[p.length] = {bucket, slot, content, 0};
      r.one_more = false;
      item = then;
      c = then_crowd;
      walking = Design::holds(0, content);
      random = mix64(random);
    }
    p.length += found;
    return found;
  }

  // Moves an item and those that share its remap entry by another function, or the item alone to its primary
  // bucket by function 0. False if the buckets have changed since the search; then nothing has moved.
  template <class Tile>
  TILEHASH_FN bool move(Tile t, const step& s, bool active) const {
    const location item = design.location_in(s.bucket, s.content), own = design.primary_of(item);
    const u32 primary = design.where(own), tag = item.tag(), now = item.function();
    const bool goes_home = s.function == 0;
    location to = own;
    if (!goes_home) design.remap(to, s.function);
    const bool is_mine = primary == design.where(home);
    const bool locked = lock(t, primary, active && !is_mine), held = locked || (active && is_mine);

    const auto from = read(t, s.bucket, held), at_home = read(t, primary, held),
               there = read(t, design.where(to), held);
    const bool unchanged = from.at(t, s.slot) == s.content;
    const u32 sharers = Design::in_group(t, from, tag, now);
    const u32 items = now != 0 && !goes_home ? sharers : 1U << s.slot;
    const word last = at_home.at(t, Design::last_slot);
    const u32 entry = slot_type::is_remap(last) ? slot_type::entry(last, tag) : 0;
    const bool may = now != 0 || entry == 0 || entry == s.function;
    // A primary item makes its bucket type B, so the item in the last slot moves too.
    const bool converts = now == 0 && !slot_type::is_remap(last);
    const u32 its = design.where(design.primary_of(design.location_in(primary, last)));
    const bool its_too = held && converts && its != primary && its != design.where(home);
    const bool its_locked = lock(t, its, its_too);
    const word now_last = read(t, primary, held).at(t, Design::last_slot);
    const bool lasts = !converts || (its_too == its_locked && Design::holds(0, last) && now_last == last);

    const u32 free = there.match_empty(t);
    const bool goes = held && unchanged && may && lasts && count_ones(free) >= count_ones(items);
    const u32 came = copy(t, from, items, to, free, goes);
    const bool all = goes && came == items;
    if (all && t.rank() == 0) {
      if (converts) {
        word* const left = design.bucket_at(s.bucket) + s.slot;
        word* const entries = design.bucket_at(primary) + Design::last_slot;
        if (left != entries) compare_and_swap(left, s.content, last);
        compare_and_swap(entries, last, slot_type::with_entry(slot_type::no_entries, tag, s.function));
      } else if (!goes_home || is_single(sharers)) {
        set_entry(primary, tag, s.function);
      }
    }
    // Copied items leave their old slots or, if not all could be copied, their new ones.
    const bool stay = converts && all;
    leave(t, from, stay ? 0 : came, all ? design.location_in(s.bucket, s.content) : to, all);
    unlock(t, its, its_locked);
    unlock(t, primary, locked);
    return all;
  }

  // Copies items of a bucket into free slots of another one. Returns the copied ones.
  template <class Tile>
  TILEHASH_FN u32 copy(Tile t, const bucket_type<Tile>& from, u32 items, const location& to, u32 free,
                       bool active) const {
    u32 came = 0;
    for (u32 left = active ? items : 0; t.any(left != 0);) {
      const u32 slot = left != 0 ? lowest(left) : 0, at = free != 0 ? lowest(free) : 0;
      const word there = moved(from.at(t, slot), to.function());
      const bool is = try_claim(t, design.bucket_at(design.where(to)) + at, slot_type::empty_word, there,
                                left != 0 && free != 0);
      if (left == 0) continue;
      left = is ? left & (left - 1) : 0;
      free &= free - 1;
      came |= u32(is) << slot;
    }
    return came;
  }
  // Removes items from the bucket, where they are as in `from` or as in their copies.
  template <class Tile>
  TILEHASH_FN void leave(Tile t, const bucket_type<Tile>& from, u32 items, const location& at,
                         bool as_before) const {
    const auto b = read(t, design.where(at), items != 0);
    for (; t.any(items != 0); items &= items - 1) {
      const u32 slot = items != 0 ? lowest(items) : 0;
      const word was = from.at(t, slot), is = as_before ? was : moved(was, at.function());
      const u32 here = b.match(t, slot_type::stored_in(is)), where = here != 0 ? lowest(here) : 0;
      try_claim(t, design.bucket_at(design.where(at)) + where, is, slot_type::empty_word,
                items != 0 && here != 0);
    }
  }
  TILEHASH_FN static word moved(word content, u32 function) {
    const auto remainder = slot_type::remainder_of(slot_type::stored_in(content));
    return slot_type::make(slot_type::stored_as(remainder, function), slot_type::value_of(content));
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
