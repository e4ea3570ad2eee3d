// SPDX-License-Identifier: Apache-2.0
// The buckets of a region that a block builds in its scratch (designs/tiled/build.hpp): an item enters a
// bucket, leaves it, or replaces another one.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/tiled/scratch_slot.hpp>
#include <tilehash/space/own_pointer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// `Slot` is a tiled_scratch_slot. `Words` and `Counts` are pointers into the block's scratch.
template <class Slot, class Words, class Counts>
struct tiled_buckets {
  using word = typename Slot::word;
  using stored_key = typename Slot::stored_key;
  static constexpr u32 slots = Slot::design_type::bucket_slots;
  static constexpr bool keeps_first = Slot::keeps_first;
  static constexpr u32 max_looks = Slot::is_exact ? 48 : 16;  // of a displaced item

  Slot in;
  Words words;
  Counts counts;   // taken or promised slots of each bucket
  Counts filters;  // the overflow filter's bits of each bucket

  struct view : scratch_bucket<word, slots> {
    using scratch_bucket<word, slots>::scratch_bucket;
    TILEHASH_FN u32 match(stored_key wanted) const {  // bit k: words[k]
      return this->match_if([&](word w) { return Slot::stored_in(w) == wanted; });
    }
  };
  TILEHASH_FN view read(u32 bucket) const { return view(words, bucket, bucket); }
  TILEHASH_FN bool has_bit(u32 bucket, u32 bit) const {
    return (load_relaxed(filters + bucket) >> bit & 1) != 0;
  }

  // The slots of a bucket that have this word's key, as view::match().
  TILEHASH_FN u32 match_key(const view& b, word content) const {
    u32 mask = b.match(Slot::stored_in(content));
    if constexpr (!Slot::is_exact) {
      if (mask != 0) {
        TILEHASH_UNROLL
        for (u32 k = 0; k < slots; ++k) {
          if ((mask >> k & 1) != 0 && !in.same_key(b.words[k], content)) mask &= ~(1U << k);
        }
      }
    }
    return mask;
  }
  // Puts a word into the lowest free slot of a bucket: inserted, present, or refused when the bucket is full.
  TILEHASH_FN outcome put(u32 number, word content) const {
    for (;;) {  // repeats when another thread took the slot: at most once for each slot
      const view b = read(number);
      const u32 free = b.match(0);
      if (const u32 own = match_key(b, content); own != 0) {
        keep_earlier(words + (number * slots + b.lowest_slot(own)), content);
        return outcome::present;
      }
      if (free == 0) return outcome::refused;
      const auto at = words + (number * slots + b.lowest_slot(free));
      if (Slot::is_free(compare_and_swap(at, word(0), content))) {
        fetch_add(counts + number, u32(1));
        return outcome::inserted;
      }
    }
  }
  // The same; where the key is present, its value is combined with this word's. A bucket that was full stays full,
  // so all items of a key go to one bucket, or to none.
  template <class Op>
  TILEHASH_FN outcome put_or_combine(u32 number, word content, const Op& op) const {
    for (;;) {  // as in put()
      const view b = read(number);
      if (const u32 own = b.match(Slot::stored_in(content)); own != 0) {
        Slot::combine_value(words + (number * slots + b.lowest_slot(own)), Slot::slot_type::value_of(content),
                            op);
        return outcome::present;
      }
      const u32 free = b.match(0);
      if (free == 0) return outcome::refused;
      const auto at = words + (number * slots + b.lowest_slot(free));
      if (Slot::is_free(compare_and_swap(at, word(0), content))) {
        fetch_add(counts + number, u32(1));
        return outcome::inserted;
      }
    }
  }
  // Replaces the value of a key that is stored in a bucket. Returns false if it is not. No key may move meanwhile.
  TILEHASH_FN bool assign(u32 number, stored_key n, const typename Slot::table_word& e) const {
    const view b = read(number);
    const u32 equal = b.match(n);
    if (equal == 0) return false;
    Slot::replace_value(words + (number * slots + b.lowest_slot(equal)), e);
    return true;
  }
  // If the first of equal keys is kept: keeps the slot's item or replaces it by this one.
  TILEHASH_FN void keep_earlier([[maybe_unused]] Words at, [[maybe_unused]] word content) const {
    if constexpr (keeps_first) {
      for (word seen = load_relaxed(at); in.is_before(content, seen);) {  // repeats at most once an item
        const word was = compare_and_swap(at, seen, content);
        if (was == seen) return;
        seen = was;
      }
    }
  }
  // Keeps one of equal keys in a bucket: in the lowest slot, or the first. Afterwards no free slot
  // precedes a taken one in the order in which put() sees them.
  TILEHASH_FN void drop_equal_keys(u32 number) const {
    view b = read(number);
    stored_key seen[slots];
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k)  // free slots differ: an even stored_key is no key's
      seen[k] = Slot::is_free(b.words[k]) ? static_cast<stored_key>(2 * k) : Slot::stored_in(b.words[k]);
    bool any_equal = false;
    TILEHASH_UNROLL
    for (u32 s = 1; s < slots; ++s) {
      TILEHASH_UNROLL
      for (u32 r = 0; r < s; ++r) any_equal |= seen[r] == seen[s];
    }
    if (!any_equal) return;
    if constexpr (is_own_pointer<Words>)
      close_up(number);
    else
      drop_equal_keys(b, seen, number);
  }
  // The same in registers, written back in the order in which put() sees the slots: neighbouring threads that
  // read their buckets slot by slot conflict on banks. (A CPU's single thread has no conflicts, and this way
  // takes it up to 1.4 times as long.)
  TILEHASH_FN void drop_equal_keys(view& b, stored_key (&seen)[slots], u32 number) const {
    TILEHASH_UNROLL
    for (u32 s = 1; s < slots; ++s) {
      TILEHASH_UNROLL
      for (u32 r = 0; r < s; ++r) {
        if (seen[r] != seen[s] || !in.same_key(b.words[r], b.words[s])) continue;
        bool other_stays = (s ^ b.turn) < (r ^ b.turn);
        if constexpr (keeps_first) other_stays = in.is_before(b.words[s], b.words[r]);
        if (other_stays)
          b.words[r] = word(0), seen[r] = static_cast<stored_key>(2 * r);
        else
          b.words[s] = word(0), seen[s] = static_cast<stored_key>(2 * s);
      }
    }
    const auto bucket = words + number * slots;
    u32 kept = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k) {
      if (!Slot::is_free(b.words[k])) bucket[kept++ ^ b.turn] = b.words[k];
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k) {
      if (k >= kept) bucket[k ^ b.turn] = word(0);
    }
    counts[number] = kept;
  }
  // Keeps one of equal keys of a bucket and leaves no free slot before a taken one.
  TILEHASH_FN void close_up(u32 number) const {
    const auto bucket = words + number * slots;
    u32 kept = 0;
    for (u32 s = 0; s < slots; ++s) {
      const word w = bucket[s];
      const bool is_free = Slot::is_free(w);
      bool is_kept = false;
      for (u32 r = 0; r < kept; ++r) {
        const word kept_one = bucket[r];
        if (Slot::stored_in(kept_one) != Slot::stored_in(w) || !in.same_key(kept_one, w)) continue;
        is_kept = true;
        if constexpr (keeps_first) {
          if (in.is_before(w, kept_one)) bucket[r] = w;
        }
      }
      if (!is_free && !is_kept) bucket[kept++] = w;
    }
    for (u32 s = kept; s < slots; ++s) bucket[s] = word(0);
    counts[number] = kept;
  }

  // Puts a word into a bucket that has promised a free slot.
  TILEHASH_FN void put_promised(u32 number, word content) const {
    for (u32 s = number % slots;; s = (s + 1) % slots) {  // at most once round for each slot
      const auto at = words + (number * slots + s);
      if (Slot::is_free(load_relaxed(at)) && Slot::is_free(compare_and_swap(at, word(0), content))) return;
    }
  }

  // The keys of a bucket that may move: to their other bucket, which seems to have a free slot; or to no slot
  // yet, except keys that were present before a merge.
  struct movers {
    u32 to_free = 0, freely = 0;  // as view::match()
  };
  TILEHASH_FN movers movers_in(const view& b, u32 bucket) const {
    movers m;
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k) {
      const bool taken = !Slot::is_free(b.words[k]);
      const u32 other = taken ? in.mirror(bucket, b.words[k]) : bucket;
      m.to_free |= u32(taken && load_relaxed(counts + other) < slots) << k;
      m.freely |= u32(taken && !in.stays(b.words[k])) << k;
    }
    return m;
  }

  // An item that has no slot yet and moves through the buckets of its region.
  struct displaced {
    word mover = 0;
    u32 bucket = 0;  // the next one to look at, one of the item's two
    u32 looks = 0;   // buckets seen so far
    u64 dice = 0;
  };
  // Looks at one bucket. True when the displaced item, or the one that it replaced last, has a slot.
  TILEHASH_FN bool step(displaced& d) const {
    if (view::reserve(counts + d.bucket)) {
      put_promised(d.bucket, d.mover);
      return true;
    }
    d.dice = mix64(d.dice + d.looks);
    const view b(words, d.bucket, static_cast<u32>(d.dice >> 32));
    if constexpr (keeps_first) {  // many copies of a key would fill its buckets and displace each other
      if (const u32 own = match_key(b, d.mover); own != 0) {
        const auto at = words + (d.bucket * slots + b.lowest_slot(own));
        const word seen = load_relaxed(at);
        if (Slot::stored_in(seen) == Slot::stored_in(d.mover) && in.same_key(seen, d.mover) &&
            (!in.is_before(d.mover, seen) || compare_and_swap(at, seen, d.mover) == seen))
          return true;
      }
    }
    const movers m = movers_in(b, d.bucket);
    if (m.to_free == 0 && d.looks == 0) {  // next, the first bucket
      d.bucket = in.mirror(d.bucket, d.mover);
      d.mover = Slot::in_other_bucket(d.mover);
      return false;
    }
    const u32 candidates = m.to_free != 0 ? m.to_free : m.freely;
    if (candidates == 0) {
      d.looks = max_looks;
      return false;
    }
    const auto at = words + (d.bucket * slots + b.lowest_slot(candidates));
    const word seen = load_relaxed(at);  // a taken slot stays taken
    const u32 other = in.mirror(d.bucket, seen);
    const word moved = Slot::in_other_bucket(seen);
    const bool promised = m.to_free != 0 && view::reserve(counts + other);
    if (m.to_free != 0 && !promised) return false;
    if (compare_and_swap(at, seen, d.mover) != seen) {
      if (promised) view::give_back(counts + other);
      return false;
    }
    if (!Slot::is_second(seen)) set_bits(filters + d.bucket, 1U << in.filter_index(seen));
    if (promised)
      put_promised(other, moved);
    else
      d.mover = moved, d.bucket = other;
    return promised;
  }

  // The same by a tile, for an item without a slot; `mine`: it has one. Its lanes look at both buckets at once, a slot
  // each, so few items take less time. If no key can move to a free slot, another key is displaced in turn. Calls
  // spill(bucket, word) in one lane for an item that found no slot. A collective of the warp.
  static constexpr u32 tile_width = 2 * slots, max_tile_looks = max_looks / 2;
  template <class Tile, class Spill>
  TILEHASH_FN void displace_by_tile(Tile t, bool mine, displaced d, const Spill& spill) const {
    for (; t.any(mine); ++d.looks) {
      const bool is_there = t.rank() < slots;
      const u32 bucket = is_there || !mine ? d.bucket : in.mirror(d.bucket, d.mover);
      const word content = is_there ? d.mover : Slot::in_other_bucket(d.mover);
      const auto at = words + (bucket * slots + t.rank() % slots);
      const word seen = mine ? load_relaxed(at) : word(0);
      const bool taken = !Slot::is_free(seen);
      const u32 other = taken ? in.mirror(bucket, seen) : bucket;  // a free slot may be promised to no item
      u32 good = t.ballot(mine && load_relaxed(counts + other) < slots);
      while (t.any(mine && good != 0)) {
        bool done = false;
        if (mine && good != 0 && t.rank() == lowest(good)) done = take_slot(at, seen, bucket, other, content);
        if (t.ballot(done) != 0) mine = false;
        good &= good - 1;
      }
      if (mine && d.looks >= max_tile_looks) {
        if (t.rank() == 0) spill(d.bucket, d.mover);
        mine = false;
      }
      d.dice = mix64(d.dice + d.looks);
      const u32 keys = t.ballot(mine && taken && !in.stays(seen));
      const u32 from = static_cast<u32>(d.dice >> 32) % tile_width, later = keys >> from << from;
      const u32 one = later != 0 ? lowest(later) : keys != 0 ? lowest(keys) : 0;
      const bool goes = mine && keys != 0 && t.rank() == one && compare_and_swap(at, seen, content) == seen;
      if (goes) leaves(bucket, seen);
      const u32 next_bucket = t.broadcast(other, one);
      const word next = t.broadcast(Slot::in_other_bucket(seen), one);
      if (t.ballot(goes) != 0) d.bucket = next_bucket, d.mover = next;
    }
  }

 private:
  TILEHASH_FN void leaves(u32 bucket, word w) const {
    if (!Slot::is_second(w)) set_bits(filters + bucket, 1U << in.filter_index(w));
  }
  // A slot is promised in bucket `other`: to this item, or to the key `seen`, whose slot the item takes.
  template <class At>
  TILEHASH_FN bool take_slot(At at, word seen, u32 bucket, u32 other, word content) const {
    if (!view::reserve(counts + other)) return false;
    if (Slot::is_free(seen)) return put_promised(bucket, content), true;
    if (compare_and_swap(at, seen, content) != seen) return view::give_back(counts + other), false;
    leaves(bucket, seen);
    put_promised(other, Slot::in_other_bucket(seen));
    return true;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
