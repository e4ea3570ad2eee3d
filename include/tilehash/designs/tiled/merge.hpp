// How `tiled` takes in items that are few beside those that its regions hold: where they stand.
//
//   items --partition--> | bin 0 | bin 1 | ... one for each region
//                           |       |
//                         block 0  block 1 ... each reads its region once, keeps its stored keys in scratch,
//                                              finds its items' places there, and changes those slots of the
//                                              table
//
// designs/tiled/build.hpp fetches a region whole, builds it and writes it back: right where most slots
// change. Here only lines that change are written, and values stay where they are: the scratch has half of
// the region's bytes or less, so that two blocks share a multiprocessor and one fetches while the other
// works. It takes words of 16 bytes too. Single inserts read a random line for each item, and write one more
// where the first bucket is full, for the filter; here all of that is told by the scratch.
//
// With a barrier between the steps, of which 2 to 5 come again where a bin has more items than the block has
// in hand:
//   1  the region's stored keys, its filters, and how many slots of each bucket are taken
//   2  every item: is its key there? Else into its first bucket, where that has room
//   3  those that had none: into their second bucket
//   4  those that had none there: a key of either bucket moves to its other one, or makes room by moving
//      another from there
//   5  of equal keys that step 4 put in twice, one goes
//
// In steps 2 and 3 a slot that is taken stays taken, so two items of one key aim at the same free slot and
// one finds the other (invariant 3 of designs/tiled.hpp). In step 4 a key moves at most once, and only to a
// slot that is promised to it; a compare-and-swap in the scratch decides who may change a slot of the table,
// which then nobody else does. The filter's bits of that slot are not its own: so a slot changes by an
// exclusive or, and they by an or.
//
// What finds no place goes to `spill`, and the caller inserts it one by one.
#pragma once

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/algorithm/scratch_bucket.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Bins = even_bins<typename Design::word>>
struct tiled_merge {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using value_bits = typename slot_type::value_bits;
  using entry = routed_item<slot_type>;
  using place = typename Design::place;
  static constexpr u32 block_size = 768;
  static constexpr u32 resident_blocks = 2;
  static constexpr u32 in_hand = 2;  // items of each in the block
  static constexpr u32 slots = Design::bucket_slots;
  static constexpr u32 together = 16 / sizeof(word);  // words of one bucket that are read at once
  static constexpr u32 filter_mask = (1U << Design::filter_size) - 1, one = 1U << 24;  // of a state
  static_assert(Design::filter_size <= 24);
  // A stored key has three bits less than a key: the highest says that it does not move any more.
  static constexpr stored_key settled = static_cast<stored_key>(stored_key(1) << (slot_type::key_width - 1));

  Design design;
  Bins bins;         // of the regions that take part
  u32 first_region;  // of these
  spill_list<word> spill;
  u64* inserted;

  // Scratch: the stored keys; per bucket its filter and, above it, its count; the number of new keys.
  TILEHASH_FN static constexpr u64 states_at(u64 buckets) { return buckets * slots * sizeof(stored_key); }
  static constexpr u64 scratch_bytes(u64 buckets) { return states_at(buckets) + (buckets + 1) * sizeof(u32); }

  struct view : scratch_bucket<stored_key, slots> {
    using scratch_bucket<stored_key, slots>::scratch_bucket;
    TILEHASH_FN u32 match(stored_key wanted) const {  // bit k: words[k]; 0 for the free ones
      return this->match_if([&](stored_key n) { return ((n ^ wanted) & ~settled) == 0; });
    }
  };

  // What a block works on.
  template <class Keys, class States>
  struct region {
    const Design& design;
    word* home;
    Keys keys;
    States states;

    TILEHASH_FN bool has_bit(u32 bucket, u32 bit) const {
      return (load_relaxed(states + bucket) >> bit & 1) != 0;
    }
    // A key leaves its first bucket for the other, or never finds room in it.
    TILEHASH_FN void leaves(u32 bucket, stored_key n) const {
      const u32 bit = Design::filter_index(n);
      if (has_bit(bucket, bit)) return;
      set_bits(states + bucket, 1U << bit);
      const auto f = Design::filter_for(n);
      set_bits(home + (bucket * slots + f.slot), static_cast<word>(word(1) << f.at));
    }
    // Into a free slot of a bucket: inserted, present, or refused when it is full.
    TILEHASH_FN outcome put(u32 bucket, stored_key n, value_bits v) const {
      for (;;) {  // again when another took the slot: at most once for each slot
        const view b(keys, bucket, bucket);
        if (b.match(n) != 0) return outcome::present;
        const u32 free = b.match(0);
        if (free == 0) return outcome::refused;
        const u32 at = bucket * slots + b.lowest_slot(free);
        if (compare_and_swap(keys + at, stored_key(0), n) != 0) continue;
        fetch_add(states + bucket, one);
        flip_bits(home + at, slot_type::make(n, v));
        return outcome::inserted;
      }
    }
    TILEHASH_FN bool has_room(u32 bucket) const { return load_relaxed(states + bucket) / one < slots; }
    TILEHASH_FN bool reserve(u32 bucket) const {
      for (u32 old = load_relaxed(states + bucket); old / one < slots;) {  // again when another changed it
        const u32 seen = compare_and_swap(states + bucket, old, old + one);
        if (seen == old) return true;
        old = seen;
      }
      return false;
    }
    TILEHASH_FN void give_back(u32 bucket) const { fetch_add(states + bucket, 0U - one); }
    // To where a free slot is promised.
    TILEHASH_FN void drop(u32 bucket, stored_key n, value_bits v) const {
      for (u32 s = bucket % slots;; s = (s + 1) % slots) {  // at most once round for each slot
        const u32 at = bucket * slots + s;
        if (load_relaxed(keys + at) == 0 &&
            compare_and_swap(keys + at, stored_key(0), static_cast<stored_key>(n | settled)) == 0)
          return flip_bits(home + at, slot_type::make(n, v));
      }
    }
    // The slot is the caller's now: its content makes way for another. Gives the value that stood there.
    TILEHASH_FN value_bits replace(u32 at, stored_key n, value_bits v) const {
      const word old = static_cast<word>(load_relaxed(home + at) & ~slot_type::filter_mask);
      flip_bits(home + at, static_cast<word>(old ^ slot_type::make(n, v)));
      return slot_type::value_of(old);
    }
    TILEHASH_FN void leaves_first(u32 bucket, stored_key n) const {
      if (!slot_type::is_second(n)) leaves(bucket, n);
    }

    // Which keys of a bucket may move.
    TILEHASH_FN static u32 movable(const view& b) {
      return b.match_if([](stored_key n) { return n != 0 && (n & settled) == 0; });
    }
    // ... and have room in their other bucket.
    TILEHASH_FN u32 with_room(const view& b, u32 bucket) const {
      u32 mask = 0;
      TILEHASH_UNROLL
      for (u32 k = 0; k < slots; ++k) {
        const stored_key n = b.words[k];
        const bool may = n != 0 && (n & settled) == 0;
        mask |= u32(may && has_room(design.mirror(bucket, may ? n : stored_key(0)))) << k;
      }
      return mask;
    }
    TILEHASH_FN bool take_slot(u32 at, stored_key old, stored_key n) const {
      return compare_and_swap(keys + at, old, static_cast<stored_key>(n | settled)) == old;
    }

    // False if another did.
    TILEHASH_FN bool remove(u32 at) const {
      const stored_key n = exchange(keys + at, stored_key(0));
      if (n == 0) return false;
      fetch_add(states + at / slots, 0U - one);
      flip_bits(home + at, static_cast<word>(load_relaxed(home + at) & ~slot_type::filter_mask));
      return true;
    }

    // Puts n into a full bucket by moving so many keys.
    TILEHASH_FN bool push(u32 moved, u32 bucket, stored_key n, value_bits v, u32 dice) const {
      return moved == 1 ? push_one(bucket, n, v, dice) : push_two(bucket, n, v, dice);
    }
    // A key of it goes to its other bucket.
    TILEHASH_FN bool push_one(u32 bucket, stored_key n, value_bits v, u32 dice) const {
      const view b(keys, bucket, dice);
      for (u32 todo = with_room(b, bucket); todo != 0; todo &= todo - 1) {
        const u32 at = bucket * slots + b.lowest_slot(todo);
        const stored_key x = load_relaxed(keys + at);
        if (x == 0 || (x & settled) != 0) continue;
        const u32 other = design.mirror(bucket, x);
        if (!reserve(other)) continue;
        if (!take_slot(at, x, n)) {
          give_back(other);
          continue;
        }
        leaves_first(bucket, x);
        drop(other, x ^ 2, replace(at, n, v));
        return true;
      }
      return false;
    }
    // ... a key of it goes to its other bucket, from which a third goes to its own.
    TILEHASH_FN bool push_two(u32 bucket, stored_key n, value_bits v, u32 dice) const {
      const view b(keys, bucket, dice);
      for (u32 todo = movable(b); todo != 0; todo &= todo - 1) {
        const u32 at = bucket * slots + b.lowest_slot(todo);
        const stored_key x = load_relaxed(keys + at);
        if (x == 0 || (x & settled) != 0) continue;
        const u32 middle = design.mirror(bucket, x);
        if (middle == bucket) continue;
        const view c(keys, middle, dice);
        for (u32 thirds = with_room(c, middle); thirds != 0; thirds &= thirds - 1) {
          const u32 its = middle * slots + c.lowest_slot(thirds);
          const stored_key y = load_relaxed(keys + its);
          if (y == 0 || (y & settled) != 0) continue;
          const u32 other = design.mirror(middle, y);
          if (!reserve(other)) continue;
          if (!take_slot(its, y, x ^ 2)) {
            give_back(other);
            continue;
          }
          if (!take_slot(at, x, n)) {  // x has moved meanwhile
            exchange(keys + its, y);
            give_back(other);
            break;
          }
          leaves_first(bucket, x);
          leaves_first(middle, y);
          drop(other, y ^ 2, replace(its, x ^ 2, replace(at, n, v)));
          return true;
        }
      }
      return false;
    }
  };

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 nth = static_cast<u32>(block.index()), n = bins.size(nth);
    if (n == 0) return;
    const u32 buckets = design.region_buckets(), me = block.rank(), all = block.size();
    const auto keys = block.template scratch<stored_key>();
    const auto states = block.template scratch<u32>(states_at(buckets)), fresh = states + buckets;
    const auto bin = bins.at(nth);
    word* const home = design.region_at(first_region + nth);
    const region<decltype(keys), decltype(states)> in{design, home, keys, states};

    // Each has some items in hand; the first of them are on their way while the region is fetched.
    word mine[in_hand];
    const auto fetch = [&](u32 from) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < in_hand; ++k) {
        if (from + k * all + me < n) mine[k] = bin[from + k * all + me];
      }
    };
    fetch(0);
    for (u32 b = me; b <= buckets; b += all) states[b] = 0;  // 1
    block.barrier();
    fetch_words<together>(home, buckets * slots, me, all, [&](u32 first, const word* held) {
      u32 state = 0;
      TILEHASH_UNROLL
      for (u32 k = 0; k < together; ++k) {
        keys[first + k] = slot_type::stored_in(held[k]);
        state += slot_type::is_free(held[k]) ? 0 : one;
        state += static_cast<u32>((held[k] & slot_type::filter_mask) >> slot_type::filter_shift)
                 << ((first + k) % slots % 8 * slot_type::filter_bits);
      }
      if (state != 0) fetch_add(states + first / slots, state);
    });
    block.barrier();

    u32 came = 0;
    for (u32 from = 0;;) {
      u32 open = 0, unplaced = 0;  // bit k: my k-th item
      TILEHASH_UNROLL
      for (u32 k = 0; k < in_hand; ++k) {  // 2
        if (from + k * all + me >= n) continue;
        const place p = design.place_of(entry::hash_of(mine[k]));
        if (in.has_bit(p.bucket, Design::filter_index(p.stored))) {
          place second = p;
          design.turn(second);
          if (view(keys, second.bucket, second.bucket).match(second.stored) != 0) continue;
        }
        const outcome o = in.put(p.bucket, p.stored, entry::value_of(mine[k]));
        came += u32(o == outcome::inserted);
        open |= u32(o == outcome::refused) << k;
      }
      block.barrier();
      TILEHASH_UNROLL
      for (u32 k = 0; k < in_hand; ++k) {  // 3
        if ((open >> k & 1) == 0) continue;
        const place first = design.place_of(entry::hash_of(mine[k]));
        place p = first;
        design.turn(p);
        const outcome o = in.put(p.bucket, p.stored, entry::value_of(mine[k]));
        if (o == outcome::inserted) in.leaves(first.bucket, first.stored), ++came;
        unplaced |= u32(o == outcome::refused) << k;
      }
      block.barrier();
      TILEHASH_UNROLL
      for (u32 k = 0; k < in_hand; ++k) {  // 4
        if ((unplaced >> k & 1) == 0) continue;
        if (make_room(in, mine[k]))
          ++came;
        else
          spill.add(mine[k]);
      }
      block.barrier();
      TILEHASH_UNROLL
      for (u32 k = 0; k < in_hand; ++k) {  // 5
        if ((unplaced >> k & 1) != 0) came -= remove_twins(in, mine[k]);
      }
      from += in_hand * all;
      if (from >= n) break;
      fetch(from);
      block.barrier();
    }
    if (came != 0) fetch_add(fresh, came);
    block.barrier();
    if (me == 0) fetch_add(inserted, static_cast<u64>(u32(fresh[0])));
  }

 private:
  // For an item whose buckets are full.
  TILEHASH_FN bool make_room(const auto& in, const word& e) const {
    const place first = design.place_of(entry::hash_of(e));
    place second = first;
    design.turn(second);
    const value_bits v = entry::value_of(e);
    const u32 dice = static_cast<u32>(mix64(static_cast<u64>(entry::hash_of(e))) >> 32);
    for (u32 moved = 1; moved <= 2; ++moved) {
      if (in.push(moved, first.bucket, first.stored, v, dice)) return true;
      if (in.push(moved, second.bucket, second.stored, v, dice)) {
        in.leaves(first.bucket, first.stored);
        return true;
      }
    }
    return false;
  }
  // How many copies of its key went.
  TILEHASH_FN u32 remove_twins(const auto& in, const word& e) const {
    place p = design.place_of(entry::hash_of(e));
    bool seen = false;
    u32 gone = 0;
    for (u32 half = 0; half < 2; ++half, design.turn(p)) {
      const view b(in.keys, p.bucket, p.bucket);
      for (u32 twins = b.match(p.stored); twins != 0; twins &= twins - 1) {
        const u32 at = p.bucket * slots + b.lowest_slot(twins);
        gone += u32(seen && in.remove(at));
        seen = true;
      }
    }
    return gone;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
