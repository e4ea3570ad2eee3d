// SPDX-License-Identifier: Apache-2.0
// The buckets of a region that a block builds in its scratch (designs/horton/build.hpp). An item enters its
// primary bucket, or a secondary one, or replaces a primary item that moves to a secondary bucket.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// For each function, the sum of a bucket and its mirror under a tag.
struct alignas(16) horton_mirrors {
  u16 sums[8];
};

// `Words`, `Counts` and `Ways` are pointers into the block's scratch.
template <class Design, class Words, class Counts, class Ways>
struct horton_buckets {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using mirrors = horton_mirrors;
  static constexpr u32 slots = Design::bucket_slots, last_slot = Design::last_slot;
  static constexpr u32 max_tries = 64;  // to reserve a slot, when other threads are faster
  using view = scratch_bucket<word, slots>;

  const Design& design;
  Words words;
  Counts counts;  // taken or promised slots of each bucket
  Ways ways;      // the mirrors of each tag

  TILEHASH_FN view read(u32 bucket) const { return view(words, bucket, bucket); }

  // Keeps the item in the lowest slot of equal keys of a bucket. Returns the number of dropped items.
  TILEHASH_FN u32 drop_equal_keys(u32 number, const view& b) const {
    stored_key seen[slots];
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k)  // free slots differ: no item has so small a stored key
      seen[k] =
          slot_type::is_free(b.words[k]) ? static_cast<stored_key>(k) : slot_type::stored_in(b.words[k]);
    bool any_equal = false;
    TILEHASH_UNROLL
    for (u32 s = 1; s < slots; ++s) {
      TILEHASH_UNROLL
      for (u32 r = 0; r < s; ++r) any_equal |= seen[r] == seen[s];
    }
    if (!any_equal) return 0;
    const auto bucket = words + number * slots;
    u32 removed = 0;
    for (u32 s = 1; s < slots; ++s) {
      const word w = bucket[s];
      bool is_kept = false;
      for (u32 r = 0; r < s; ++r) is_kept |= slot_type::stored_in(bucket[r]) == slot_type::stored_in(w);
      if (is_kept && Design::holds(0, w)) bucket[s] = word(0), ++removed;
    }
    return removed;
  }
  // Moves the items of a bucket to its lowest slots.
  TILEHASH_FN void close_up(u32 number) const {
    u32 kept = 0;
    for (u32 s = 0; s < slots; ++s) {
      const word w = words[number * slots + s];
      if (!slot_type::is_free(w)) words[number * slots + kept++] = w;
    }
    for (u32 s = kept; s < slots; ++s) words[number * slots + s] = word(0);
  }
  // The bucket to which a function maps an item of a primary bucket, and the item's word there.
  TILEHASH_FN u32 bucket_by(u32 function, u32 bucket, word content) const {
    return function == 0 ? bucket : design.other_bucket(bucket, tag_of(content), function);
  }
  TILEHASH_FN static word by(u32 function, word content) {
    const auto remainder = slot_type::remainder_of(slot_type::stored_in(content));
    return slot_type::make(slot_type::stored_as(remainder, function), slot_type::value_of(content));
  }
  TILEHASH_FN static bool same_key(word a, word b) {
    return slot_type::stored_in(a) == slot_type::stored_in(b);
  }
  // True if the item's key is present in the bucket of a function.
  TILEHASH_FN bool is_present(u32 bucket, word content, u32 function) const {
    const u32 to = bucket_by(function, bucket, content);
    return read(to).match_if([&](word w) { return same_key(w, by(function, content)); }) != 0;
  }
  // Puts an item into the lowest free slot, unless its key is present; then an old item's value replaces the
  // stored one. False if the bucket is full.
  TILEHASH_FN bool put(u32 number, word content, bool is_old) const {
    for (;;) {  // repeats when another thread took the slot: at most once for each slot
      const view b = read(number);
      const u32 same = b.match_if([&](word w) { return same_key(w, content); });
      if (same != 0) {
        if (is_old) {  // the stored item is new
          const auto at = words + (number * slots + b.lowest_slot(same));
          compare_and_swap(at, load_relaxed(at), content);
        }
        return true;
      }
      const u32 free = b.match_if(slot_type::is_free);
      if (free == 0) return false;
      const auto at = words + (number * slots + lowest(b.by_slots(free)));
      if (compare_and_swap(at, word(0), content) == word(0)) return true;
    }
  }

  // A promised slot: its bucket, and the function that maps there. Function 0: none.
  struct promise {
    u32 function, bucket, at;
  };
  // Reserves a slot in one bucket. `at` is `slots` or more if it is full.
  TILEHASH_FN promise reserve(u32 function, u32 bucket) const {
    if (load_relaxed(counts + bucket) >= slots) return {function, bucket, slots};
    const u32 slot = fetch_add(counts + bucket, u32(1));
    if (slot >= slots) view::give_back(counts + bucket);
    return {function, bucket, slot};
  }
  // Reserves a slot in the emptiest of a tag's seven buckets. None where all are full.
  TILEHASH_FN promise reserve_any(const mirrors& way, u32 bucket) const {
    for (u32 tries = 0; tries < max_tries; ++tries) {  // repeats when other threads were faster
      u32 function = 0, to = 0, least = slots;
      TILEHASH_UNROLL
      for (u32 f = 1; f <= slot_type::functions; ++f) {
        const u32 other = design.mirrored(way.sums[f], bucket), taken = load_relaxed(counts + other);
        if (taken < least) least = taken, function = f, to = other;
      }
      if (function == 0) break;
      const promise p = reserve(function, to);
      if (p.at < slots) return p;
    }
    return {0, 0, 0};
  }
  // Returns a promised slot. If later slots have been promised, it stays free.
  TILEHASH_FN void give_back(const promise& p) const { compare_and_swap(counts + p.bucket, p.at + 1, p.at); }
  // Sets the remap entry of an item to the function of its promised slot: true. If another thread was faster,
  // `now` becomes the bucket's entries, and the item may use its entry there.
  TILEHASH_FN static bool claim(Words entries, word& now, u32 tag, u32 function) {
    while (slot_type::entry(now, tag) == 0) {  // once for each entry at most
      const word seen = compare_and_swap(entries, now, slot_type::with_entry(now, tag, function));
      if (seen == now) return true;
      now = seen;
    }
    return false;
  }

  // Puts an item of a primary bucket where its remap entry leads, or into the emptiest of seven buckets,
  // which the entry then names. False if that bucket is full.
  TILEHASH_FN bool remap(u32 bucket, word content) const {
    const u32 tag = tag_of(content);
    const mirrors way = ways[tag];
    const auto entries = words + (bucket * slots + last_slot);
    word now = load_relaxed(entries);
    promise p = {0, 0, slots};
    if (slot_type::entry(now, tag) == 0) {
      p = reserve_any(way, bucket);
      if (p.function == 0) return false;
      if (!claim(entries, now, tag, p.function) && slot_type::entry(now, tag) != p.function)
        give_back(p), p.at = slots;
    }
    if (p.at >= slots) {
      const u32 function = slot_type::entry(now, tag);
      p = reserve(function, design.mirrored(way.sums[function], bucket));
      if (p.at >= slots) return false;
    }
    words[p.bucket * slots + p.at] = by(p.function, content);
    return true;
  }
  // Puts an item into the slot of a primary item whose remap entry is unused, and that finds a free slot
  // elsewhere, unless the item's key is present. False if there is no such primary item.
  TILEHASH_FN bool swap(u32 bucket, word content) const {
    const auto entries = words + (bucket * slots + last_slot);
    word now = load_relaxed(entries);
    const u32 its = slot_type::entry(now, tag_of(content));
    if (is_present(bucket, content, 0) || (its != 0 && is_present(bucket, content, its))) return true;
    const view b = read(bucket);
    u32 alone = b.match_if([&](word w) {
      return Design::holds(0, w) && slot_type::function_of(slot_type::stored_in(w)) == 0 &&
             slot_type::entry(now, tag_of(w)) == 0;
    });
    for (; alone != 0; alone &= alone - 1) {
      const auto at = words + (bucket * slots + b.lowest_slot(alone));
      const word goes = load_relaxed(at);
      const u32 tag = tag_of(goes);
      const mirrors way = ways[tag];
      const promise p = reserve_any(way, bucket);
      if (p.function == 0) continue;
      if (!claim(entries, now, tag, p.function)) {
        give_back(p);
        continue;
      }
      // The claimed entry is the item's own, so no other thread moves it.
      compare_and_swap(at, goes, content);
      compare_and_swap(words + (p.bucket * slots + p.at), word(0), by(p.function, goes));
      return true;
    }
    return false;
  }
  TILEHASH_FN static u32 tag_of(word w) {
    return slot_type::tag_of(slot_type::remainder_of(slot_type::stored_in(w)));
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
