// Room for a key k whose primary bucket is full, by moves of one item each.
//
//   primary bucket of k       bucket of x's next function      ...
//   | . . x . . . . . |  --x-->  | . y . . . . . . |  --y-->  | . . . free . |
//         ^
//         k
//
// Who goes first, in the order that the paper asks for:
//
//   a guest     a secondary item of k's primary bucket, which is not its own. k takes its slot
//   a native    of a bucket of type A: one of its primary items, and the bucket becomes type B. What stands
//   in
//               the last slot takes the one that is left, as the last slot has the entries now
//   k itself    of type B: by one of seven functions, which its entry then names
//   a native    of type B, and k takes its slot: where k's own way is blocked
//   fellows     the items that k's entry leads to, by another function, and then k after them: likewise
//
// It goes to the emptiest of the buckets that it may go to. If all are full, a guest in one of them must move
// on first, and so on: a path is searched, and then its items move, the last one first. Natives of other
// buckets give way to guests only where all else is in vain.
//
// A move holds the lock of the items' primary bucket (tried, never waited for): who holds it is the only one
// to move that bucket's items, to put in its keys and to change its entries. An item takes a free slot by
// compare-and-swap and then leaves its old one. So a path that has changed meanwhile is left half walked,
// which costs a try and loses nothing. Items that share an entry move together, where there is room for all;
// or one of them goes home, where a native moves away for it.
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
  using place = typename Design::place;
  template <class Tile>
  using bucket_type = typename Design::template bucket_type<Tile>;
  static constexpr u32 functions = slot_type::functions, all_functions = (2U << functions) - 2;

  Design design;  // no reference: that would put all of a kernel's parameters in local memory
  place home;     // of the key to be put in
  typename slot_type::value_bits value;
  u64 dice;

  template <class Tile>
  TILEHASH_FN outcome run(Tile t, bool active) const {
    return tries::all_of(*this, t, active);
  }

  // One try.
  template <class Tile>
  TILEHASH_FN verdict attempt(Tile t, u32 round, bool active) const {
    const u32 primary = design.where(home);
    const bool mine = lock(t, primary, active);
    const auto b = read(t, primary, mine);
    const word last = b.at(t, Design::last_slot);
    const u32 function = Design::entry_for(t, b, home.stored);
    place second = home;
    design.remap(second, function);
    const auto b2 = read(t, design.where(second), mine && function != 0);
    const bool here = b.has(t, home.stored), there = b2.has(t, second.stored);
    const bool known = mine && (here || (function != 0 && there));

    const u32 free = b.match_empty(t);
    bool done = put(t, primary, free, home.stored, mine && !known && free != 0);

    // Who goes first.
    path p;
    const u64 random = mix64(dice + round);
    const bool is_b = slot_type::is_remap(last);
    const u32 guests = Design::guests_in(t, b), natives = items_of(is_b) & ~guests;
    const u32 fellows = Design::in_group(t, b2, home.tag(), function);
    const u32 alone = alone_in(t, b);
    const bool shares = is_b && function != 0, swaps = shares && alone != 0 && !in_turn(itself_turn, round);
    const bool of_natives = swaps || (natives != 0 && in_turn(natives_turn, round));
    const bool follows = shares && fellows != 0 && in_turn(fellows_turn, round);
    const bool a_guest = guests != 0 && !follows && (is_b ? in_turn(guests_turn, round) : !of_natives);
    const bool a_native = !a_guest && !follows && (!is_b || of_natives);
    const bool itself = !a_guest && !a_native && !follows, converts = a_native && !is_b;
    const u32 turn = static_cast<u32>(random) % Design::bucket_slots;
    const u32 slot = follows ? lowest(fellows)
                             : turn_to(a_guest     ? guests
                                       : !a_native ? 0
                                       : swaps     ? alone
                                                   : natives,
                                       turn);
    const word here_stands = b.at(t, slot), there_stands = b2.at(t, slot);
    p.moves[0] = {follows ? design.where(second) : primary, slot, follows ? there_stands : here_stands, 0};
    const place first = itself ? home : design.place_in(p.moves[0].bucket, p.moves[0].content);
    const crowd of_b = crowd_of(t, b, first), of_b2 = crowd_of(t, b2, first);
    const reach r{in_turn(far_turn, round), round % 64 >= 56, follows};
    const bool tries_to = mine && !known && free == 0;
    const bool found = search(t, p, first, follows ? of_b2 : of_b, random, r, tries_to);

    // All that stand in the way move on, the last first.
    bool clear = found;
    for (u32 i = found ? p.length : 0; t.any(i > u32(itself));) {
      const bool on = clear && i > u32(itself);
      const bool moved = move(t, p.moves[on ? i - 1 : 0], on);
      if (i > u32(itself)) clear = moved, --i;
    }
    clear = clear && !converts && !follows;
    const u32 by = p.moves[0].function;
    place to = home;
    if (itself) design.remap(to, by);
    const auto b3 = read(t, design.where(to), clear);
    const u32 room = b3.match_empty(t), entry = Design::entry_for(t, read(t, primary, clear), home.stored);
    const bool fits = room != 0 && (!itself || entry == 0 || entry == by);  // a move may have taken the entry
    const bool came = put(t, design.where(to), room, to.stored, clear && fits);
    if (came && itself && t.rank() == 0) set_entry(primary, home.tag(), by);
    done = done || came;
    unlock(t, primary, mine);
    return done                 ? verdict::done
           : known              ? verdict::known
           : tries_to && !found ? verdict::no_room
                                : verdict::disturbed;
  }

 private:
  // Whose turn it is in which of sixteen rounds, from the right. Of a bucket of type A guests go as long as
  // there are any, but for the natives' turns. Who would share an entry rather swaps with a native whose
  // entry is not used, but for k's own turns.
  static constexpr u32 guests_turn = 0b0011001100110011, natives_turn = 0b1100100011001000,
                       itself_turn = 0b0010010000100100, fellows_turn = 0b1000000010000000;
  static constexpr u32 far_turn = 0b1110010001100100;  // natives of type B give way
  TILEHASH_FN static bool in_turn(u32 turns, u32 round) { return (turns >> round % 16 & 1) != 0; }
  struct reach {
    bool natives_of_b, natives_of_a;  // give way to guests
    bool one_more;                    // goes only where there can be room for one more
  };

  // An item that goes by another function, or home by 0, to the slot that the next one leaves, or to a free
  // one.
  struct step {
    u32 bucket, slot;
    word content;
    u32 function;
  };
  struct path {
    step moves[MaxPath];
    u32 length = 0;
  };

  template <class Tile>
  TILEHASH_FN auto read(Tile t, u32 bucket, bool active) const {
    return bucket_type<Tile>::read_shared(t, design.bucket_at(bucket), active);
  }
  template <class Tile>
  TILEHASH_FN bool lock(Tile t, u32 bucket, bool wanted) const {
    bool mine = false;
    if (wanted && t.rank() == 0) mine = try_lock(design.locks(), bucket);
    mine = t.broadcast(u32(mine), 0) != 0;
    t.sync();  // what is read from here on is read under the lock
    return mine;
  }
  template <class Tile>
  TILEHASH_FN void unlock(Tile t, u32 bucket, bool mine) const {
    t.sync();
    if (mine && t.rank() == 0) detail::unlock(design.locks(), bucket);
  }
  TILEHASH_FN static bool is_single(u32 mask) { return mask != 0 && (mask & (mask - 1)) == 0; }
  TILEHASH_FN static u32 items_of(bool is_b) { return Design::item_slots | u32(!is_b) << Design::last_slot; }
  // One of the slots in a mask, from a slot on.
  TILEHASH_FN static u32 turn_to(u32 mask, u32 turn) {
    const u32 turned = rotate_right<Design::bucket_slots>(mask, turn);
    return turned != 0 ? (lowest(turned) + turn) % Design::bucket_slots : 0;
  }
  TILEHASH_FN void set_entry(u32 bucket, u32 tag, u32 function) const {
    word* const at = design.bucket_at(bucket) + Design::last_slot;
    const word entries = load_relaxed(at);  // nobody else's while the bucket is locked
    compare_and_swap(at, entries, slot_type::with_entry(entries, tag, function));
  }
  // Natives whose entry nobody uses yet, in a bucket of type B.
  template <class Tile>
  TILEHASH_FN static u32 alone_in(Tile t, const bucket_type<Tile>& b) {
    const word last = b.at(t, Design::last_slot);
    return b.match_if(t, [&](word w) {
      const auto n = slot_type::stored_in(w);
      return Design::holds(0, w) && slot_type::function_of(n) == 0 &&
             slot_type::entry(last, slot_type::tag_of(slot_type::remainder_of(n))) == 0;
    });
  }
  // The key into one of the free slots.
  template <class Tile>
  TILEHASH_FN bool put(Tile t, u32 bucket, u32 free, typename slot_type::stored_key stored,
                       bool active) const {
    return try_claim(t, design.bucket_at(bucket) + (free != 0 ? lowest(free) : 0), slot_type::empty_word,
                     slot_type::make(stored, value), active);
  }

  // How many move where an item of `b` does, or one that is about to stand there, and by which functions they
  // may: guests by all but their own, a native by that in its entry, or by all if there is none.
  struct crowd {
    u32 items, may;
  };
  template <class Tile>
  TILEHASH_FN crowd crowd_of(Tile t, const bucket_type<Tile>& b, const place& item) const {
    const u32 entry = Design::entry_for(t, b, item.stored), now = item.function();
    const u32 sharers = Design::in_group(t, b, item.tag(), now);
    if (now != 0) return {count_ones(sharers), all_functions & ~(1U << now)};
    return {1, entry != 0 ? 1U << entry : all_functions};
  }

  // Walks to a free slot. True if there is one where the path's last item can go.
  template <class Tile>
  TILEHASH_FN bool search(Tile t, path& p, place item, crowd c, u64 random, reach r, bool active) const {
    bool found = false;
    for (bool walking = active; t.any(walking);) {
      const place own = design.primary_of(item);
      const u32 tag = item.tag(), turn = static_cast<u32>(random >> 32) % functions;
      bucket_type<Tile> next[functions];
      TILEHASH_UNROLL
      for (u32 f = 1; f <= functions; ++f)
        next[f - 1] =
            read(t, own.base + design.other_bucket(own.bucket, tag, f), walking && (c.may >> f & 1) != 0);
      // The emptiest that has room for all; else the emptiest that can get it, when items move on from there.
      // Of several, the first from `turn` on.
      u32 by = 0, most = 0, on = 0, seconds = 0, beside = 0;
      TILEHASH_UNROLL
      for (u32 f = 1; f <= functions; ++f) {
        const u32 free = count_ones(next[f - 1].match_empty(t));
        const u32 group = Design::in_group(t, next[f - 1], tag, f);
        const u32 guests = Design::guests_in(t, next[f - 1]);
        const bool is_b = next[f - 1].told(t, Design::last_slot, slot_type::is_remap) != 0;
        const bool all = r.natives_of_b && (is_b || r.natives_of_a);
        const u32 movable = (all ? items_of(is_b) : guests) & ~group, room = free + count_ones(movable);
        const bool is = (c.may >> f & 1) != 0 && room >= c.items + u32(r.one_more), later = f > turn;
        if (is && free >= c.items && (free > most || (free == most && later && by <= turn)))
          by = f, most = free;
        if (is && movable != 0 && (on == 0 || free > beside || (free == beside && later && on <= turn)))
          on = f, seconds = movable, beside = free;
      }
      if (r.one_more && on != 0 && (random & 1) != 0) most = 0;
      // Of items that share an entry one may go home, where a native makes room.
      const bool parts = walking && c.items > 1 && most == 0;
      const auto h = read(t, design.where(own), parts);
      const u32 free_at_home = h.match_empty(t), alone = alone_in(t, h);
      const u32 natives = items_of(true) & ~Design::guests_in(t, h), leaving = alone != 0 ? alone : natives;
      const bool to_home = parts && (free_at_home != 0 || (leaving != 0 && (on == 0 || (random & 2) != 0)));
      if (to_home) on = 0;
      found = walking && (most != 0 || (to_home && free_at_home != 0));
      if (found) p.moves[p.length].function = most != 0 ? by : 0;
      walking = walking && !found && (on != 0 || to_home) && p.length + 1 < MaxPath;
      // To the item that moves on from there.
      const u32 bucket = to_home ? design.where(own) : own.base + design.other_bucket(own.bucket, tag, on);
      const auto b = read(t, bucket, walking);
      const u32 slot =
          turn_to(to_home ? leaving : seconds, static_cast<u32>(random >> 40) % Design::bucket_slots);
      const word content = b.at(t, slot);
      const place then = design.place_in(bucket, content);
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

  // Moves an item, and who shares its entry, by another function, and says so in the entry; or the item alone
  // home, by function 0. False if something is not as it was when it was searched; then nothing has moved.
  template <class Tile>
  TILEHASH_FN bool move(Tile t, const step& s, bool active) const {
    const place item = design.place_in(s.bucket, s.content), own = design.primary_of(item);
    const u32 primary = design.where(own), tag = item.tag(), now = item.function();
    const bool goes_home = s.function == 0;
    place to = own;
    if (!goes_home) design.remap(to, s.function);
    const bool is_mine = primary == design.where(home);
    const bool locked = lock(t, primary, active && !is_mine), held = locked || (active && is_mine);

    const auto from = read(t, s.bucket, held), at_home = read(t, primary, held),
               there = read(t, design.where(to), held);
    const bool stands = from.at(t, s.slot) == s.content;
    const u32 sharers = Design::in_group(t, from, tag, now);
    const u32 items = now != 0 && !goes_home ? sharers : 1U << s.slot;
    const word last = at_home.at(t, Design::last_slot);
    const u32 entry = slot_type::is_remap(last) ? slot_type::entry(last, tag) : 0;
    const bool may = now != 0 || entry == 0 || entry == s.function;
    // A native makes its bucket type B, and what stands in the last slot, maybe a guest, moves too.
    const bool converts = now == 0 && !slot_type::is_remap(last);
    const u32 its = design.where(design.primary_of(design.place_in(primary, last)));
    const bool its_too = held && converts && its != primary && its != design.where(home);
    const bool its_locked = lock(t, its, its_too);
    const word now_last = read(t, primary, held).at(t, Design::last_slot);
    const bool lasts = !converts || (its_too == its_locked && Design::holds(0, last) && now_last == last);

    const u32 free = there.match_empty(t);
    const bool goes = held && stands && may && lasts && count_ones(free) >= count_ones(items);
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
    // Who came leaves its old slot, or if not all did, the new one.
    const bool stay = converts && all;
    leave(t, from, stay ? 0 : came, all ? design.place_in(s.bucket, s.content) : to, all);
    unlock(t, its, its_locked);
    unlock(t, primary, locked);
    return all;
  }

  // Items of a bucket into free slots of the one that they go to; gives those that it did.
  template <class Tile>
  TILEHASH_FN u32 copy(Tile t, const bucket_type<Tile>& from, u32 items, const place& to, u32 free,
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
  // Takes items, as they stand in `from` or as they came to a place, out of the bucket.
  template <class Tile>
  TILEHASH_FN void leave(Tile t, const bucket_type<Tile>& from, u32 items, const place& at,
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
