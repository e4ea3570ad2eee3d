// The bulk build of Horton tables, region by region in block-local memory (engine/region_fill.hpp). All
// eight buckets of a key lie in its region, so a block can finish it alone.
//
// Building a region, with a barrier between the steps:
//   0  clear the scratch; or fetch the region's items: those in their primary buckets close up, and the
//      guests of others are homeless
//   1  count every new item into its primary bucket; the first to come take its slots, the others go on a
//      list
//   2  remove equal keys within each bucket
//   3  guests that find a free slot in their primary buckets go home; listed items: out if their key is
//      there, else into a free slot, else homeless
//   4  buckets whose items are homeless become type B: what stands in the last slot is evicted
//   5  guests and evicted items, and then the other homeless ones: by the function in their entry, or by that
//      to the emptiest of seven buckets, which their entry then names, whoever writes it first. Where there
//      is no room, an item at home goes instead that has an entry of its own and room where it leads
//   6  remove equal keys that went both ways
//   7  remove equal keys within each bucket again, which went the same way; write the region out
//
// So a region that new items are merged with ends as one that is built from all of them. What finds no place
// (no item moves on twice), and those of equal keys that fill the list, go to `left`, and the caller inserts
// them one by one. Items that were in the table may not: where one of steps 0 to 4 finds a list full, or a
// guest or an evicted item finds no place, the region stays as it was, and all its new items go to `left`.
//
// Of equal keys the old one's value stays: a guest that finds its key at home puts its value there, and old
// items take slots of a secondary bucket before new ones do, of which the lowest stays.
//
// Words of 16 bytes cannot be swapped in shared memory: their tables are not built by regions.
// length: seven steps of one algorithm, read together.
#pragma once

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/algorithm/scratch_bucket.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

template <class Design, class Bins = even_bins<typename Design::word>>
struct horton_build {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using entry = routed_item<slot_type>;
  static constexpr u32 block_size = 1024;
  static constexpr u32 slots = Design::bucket_slots, last_slot = Design::last_slot;
  static constexpr u32 together = slots * sizeof(word) < 16 ? 1 : 16 / sizeof(word);  // written at once
  static constexpr bool merges_too = true;
  static constexpr u64 most_slots = ~u32(0);
  static constexpr u32 max_tries = 64;            // of a homeless item, when others are faster
  static constexpr u32 overflows = u32(1) << 31;  // in a bucket's count: some of its items are homeless
  using view = scratch_bucket<word, slots>;

  Design design;
  Bins bins;         // of the regions that are built
  u32 first_region;  // of these
  bool merges;       // the table holds items
  spill_list<word> spill;
  u64* inserted;

  // Scratch: the region's words; the homeless items, evicted ones from the end; per bucket a count; the list;
  // the homeless items' buckets; and some numbers.
  enum total : u32 { listed, wandering, evicted, returned, change, stays, numbers };
  TILEHASH_FN static constexpr u64 room(u64 buckets) { return buckets * slots * 3 / 16 + 32; }
  TILEHASH_FN static constexpr u64 homeless_at(u64 buckets) {
    return (buckets * slots * sizeof(word) + 15) / 16 * 16;
  }
  TILEHASH_FN static constexpr u64 counts_at(u64 buckets) {
    return homeless_at(buckets) + room(buckets) * sizeof(word);
  }
  static constexpr u64 scratch_bytes(u64 buckets) {
    return counts_at(buckets) + (buckets + 2 * room(buckets) + numbers) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 nth = static_cast<u32>(block.index()), region = first_region + nth;
    const u32 buckets = design.region_buckets(), lists = static_cast<u32>(room(buckets));
    const auto words = block.template scratch<word>();
    const auto homeless = block.template scratch<word>(homeless_at(buckets));
    const auto counts = block.template scratch<u32>(counts_at(buckets));
    const auto list = counts + buckets, its_bucket = list + lists, number = its_bucket + lists;
    const auto bin = bins.at(nth);
    word* const home = design.region_at(region);
    const u32 n = bins.size(nth), me = block.rank(), all = block.size();
    const auto length = [&](u32 which) { return number[which] < lists ? u32(number[which]) : lists; };
    // To the caller; while they are merged, all or none are.
    const auto spill_one = [&](word e) {
      if (merges)
        set_bits(number + stays, 1U);
      else
        spill.add(e);
    };
    const auto entry_of = [&](u32 bucket, word content) {
      return entry::pack(design.hash_in(region, bucket, slot_type::stored_in(content)),
                         slot_type::value_of(content));
    };

    for (u32 i = me; i < buckets; i += all) counts[i] = 0;  // 0
    for (u32 i = me; i < numbers; i += all) number[i] = 0;
    if (merges) {
      fetch_words<together>(home, buckets * slots, me, all, [&](u32 first, const word* held) {
        TILEHASH_UNROLL
        for (u32 k = 0; k < together; ++k) words[first + k] = held[k];
      });
    } else {
      for (u32 i = me; i < buckets * slots; i += all) words[i] = word(0);
    }
    block.barrier();
    u32 before = 0;
    if (merges) {
      for (u32 b = me; b < buckets; b += all) {
        u32 kept = 0;
        for (u32 s = 0; s < slots; ++s) {
          const word w = words[b * slots + s];
          if (!Design::holds(0, w)) continue;
          ++before;
          if (slot_type::function_of(slot_type::stored_in(w)) == 0) {
            words[b * slots + kept++] = w;
            continue;
          }
          const auto p = design.primary_of({0, b, slot_type::stored_in(w)});
          const u32 at = fetch_add(number + wandering, u32(1));
          if (at < lists)
            homeless[at] = slot_type::make(p.stored, slot_type::value_of(w)), its_bucket[at] = p.bucket;
          else
            set_bits(number + stays, 1U);
        }
        for (u32 s = kept; s < slots; ++s) words[b * slots + s] = word(0);
        counts[b] = kept;
      }
      block.barrier();
    }
    const u32 guests = length(wandering);

    constexpr u32 at_once = 4;
    for (u32 first = me; first < n; first += at_once * all) {  // 1
      word e[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all < n) e[k] = bin[first + k * all];
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all >= n) continue;
        const auto p = design.place_of(entry::hash_of(e[k]));
        const u32 s = fetch_add(counts + p.bucket, u32(1));
        if (s < slots) {
          words[p.bucket * slots + s] = slot_type::make(p.stored, entry::value_of(e[k]));
        } else {
          const u32 at = fetch_add(number + listed, u32(1));
          if (at < lists)
            list[at] = first + k * all;
          else
            spill_one(e[k]);
        }
      }
    }
    block.barrier();

    for (u32 b = me; b < buckets; b += all) remove_twins(words, b, view(words, b, b)), counts[b] = 0;  // 2
    block.barrier();

    for (u32 q = me; q < guests; q += all) {  // 3
      const u32 b = its_bucket[q];
      if (put(words, b, homeless[q], true))
        homeless[q] = word(0);
      else
        set_bits(counts + b, overflows);
    }
    const u32 waiting = length(listed);
    for (u32 q = me; q < waiting; q += all) {
      const word e = bin[list[q]];
      const auto p = design.place_of(entry::hash_of(e));
      const word content = slot_type::make(p.stored, entry::value_of(e));
      if (put(words, p.bucket, content, false)) continue;
      set_bits(counts + p.bucket, overflows);
      const u32 at = fetch_add(number + wandering, u32(1));
      if (at < lists)
        homeless[at] = content, its_bucket[at] = p.bucket;
      else
        spill_one(e);
    }
    block.barrier();

    const u32 left = length(wandering);
    for (u32 b = me; b < buckets; b += all) {  // 4
      u32 taken = slots - count_ones(view(words, b, b).match_if(slot_type::is_free));
      if ((counts[b] & overflows) != 0) {
        const auto last = words + (b * slots + last_slot);
        const word content = last[0];
        taken += slot_type::is_free(content);
        if (!slot_type::is_free(content)) {
          const u32 at = fetch_add(number + evicted, u32(1));
          if (left + at < lists)
            homeless[lists - 1 - at] = content, its_bucket[lists - 1 - at] = b;
          else
            spill_one(entry_of(b, content));
        }
        last[0] = slot_type::no_entries;
      }
      counts[b] = taken;
    }
    block.barrier();

    const auto goes_home = [&](u32 slot) { list[fetch_add(number + returned, u32(1))] = slot; };
    const auto send_away = [&](u32 from, u32 to, bool old) {  // 5
      for (u32 q = from + me; q < to; q += all) {
        const word content = homeless[q];
        if (slot_type::is_free(content) || go_away(words, counts, its_bucket[q], content, goes_home))
          continue;
        if (old)
          spill_one(entry_of(its_bucket[q], content));
        else
          spill.add(entry_of(its_bucket[q], content));
      }
    };
    const u32 gone = number[evicted] < lists - left ? u32(number[evicted]) : lists - left;
    send_away(0, guests, true);
    send_away(lists - gone, lists, true);
    if (merges) {
      block.barrier();
      if (number[stays] != 0) {
        for (u32 i = me; i < n; i += all) spill.add(bin[i]);
        return;
      }
    }
    send_away(guests, left, false);
    block.barrier();

    const u32 went_home = number[returned];
    for (u32 q = me; q < went_home; q += all) {  // 6
      const u32 bucket = list[q] / slots;
      const word content = load_relaxed(words + list[q]);
      const u32 function = slot_type::entry(words[bucket * slots + last_slot], tag_of(content));
      if (function != 0) remove(words, bucket, content, function);
    }
    block.barrier();

    u32 after = 0;  // 7
    for (u32 b = me; b < buckets; b += all) {
      const view v(words, b, b);
      after += count_ones(v.match_if([](word w) { return Design::holds(0, w); })) - remove_twins(words, b, v);
    }
    if (after != before) fetch_add(number + change, after - before);  // modulo 2^32, as is its sum
    block.barrier();

    for (u32 i = me * together; i < buckets * slots; i += all * together) {
      struct alignas(together * sizeof(word)) some {
        word words[together];
      } out;
      TILEHASH_UNROLL
      for (u32 k = 0; k < together; ++k) out.words[k] = words[i + k];
      *reinterpret_cast<some*>(home + i) = out;
    }
    if (me == 0) fetch_add(inserted, static_cast<u64>(u32(number[change])));
  }

 private:
  // Of equal keys in a bucket that in the lowest slot stays. Gives how many do not.
  template <class Words>
  TILEHASH_FN static u32 remove_twins(Words words, u32 number, const view& b) {
    stored_key seen[slots];
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k)  // no two free slots alike: so small a stored key is no item's
      seen[k] =
          slot_type::is_free(b.words[k]) ? static_cast<stored_key>(k) : slot_type::stored_in(b.words[k]);
    bool twins = false;
    TILEHASH_UNROLL
    for (u32 s = 1; s < slots; ++s) {
      TILEHASH_UNROLL
      for (u32 r = 0; r < s; ++r) twins |= seen[r] == seen[s];
    }
    if (!twins) return 0;
    const auto bucket = words + number * slots;
    u32 removed = 0;
    for (u32 s = 1; s < slots; ++s) {
      const word w = bucket[s];
      bool twin = false;
      for (u32 r = 0; r < s; ++r) twin |= slot_type::stored_in(bucket[r]) == slot_type::stored_in(w);
      if (twin && Design::holds(0, w)) bucket[s] = word(0), ++removed;
    }
    return removed;
  }
  // The bucket to which a function leads an item, and how it looks there.
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
  // Does its key stand where a function leads?
  template <class Words>
  TILEHASH_FN bool stands(Words words, u32 bucket, word content, u32 function) const {
    const u32 to = bucket_by(function, bucket, content);
    return view(words, to, to).match_if([&](word w) { return same_key(w, by(function, content)); }) != 0;
  }
  template <class Words>
  TILEHASH_FN void remove(Words words, u32 bucket, word content, u32 function) const {
    const u32 to = bucket_by(function, bucket, content);
    const view b(words, to, to);
    u32 same = b.match_if([&](word w) { return same_key(w, by(function, content)); });
    for (; same != 0; same &= same - 1) {
      const auto at = words + (to * slots + b.lowest_slot(same));
      compare_and_swap(at, load_relaxed(at), word(0));
    }
  }
  // Into a free slot, unless its key is there already; that takes an old item's value. False if there is no
  // room.
  template <class Words>
  TILEHASH_FN static bool put(Words words, u32 number, word content, bool is_old) {
    for (;;) {  // again when another took the slot: at most once for each slot
      const view b(words, number, number);
      const u32 same = b.match_if([&](word w) { return same_key(w, content); });
      if (same != 0) {
        if (is_old) {  // what is there is new
          const auto at = words + (number * slots + b.lowest_slot(same));
          compare_and_swap(at, load_relaxed(at), content);
        }
        return true;
      }
      const u32 free = b.match_if(slot_type::is_free);
      if (free == 0) return false;
      const auto at = words + (number * slots + b.lowest_slot(free));
      if (compare_and_swap(at, word(0), content) == word(0)) return true;
    }
  }
  // The function to the emptiest of the seven buckets for a tag, where a slot is promised; 0: all are full.
  template <class Counts>
  TILEHASH_FN u32 promise(Counts counts, u32 bucket, u32 tag) const {
    for (u32 tries = 0; tries < max_tries; ++tries) {  // again when others were faster
      u32 function = 0, least = slots;
      TILEHASH_UNROLL
      for (u32 f = 1; f <= slot_type::functions; ++f) {
        const u32 taken = load_relaxed(counts + design.other_bucket(bucket, tag, f));
        if (taken < least) least = taken, function = f;
      }
      if (function == 0 || view::reserve(counts + design.other_bucket(bucket, tag, function)))
        return function;
    }
    return 0;
  }
  TILEHASH_FN static u32 tag_of(word w) {
    return slot_type::tag_of(slot_type::remainder_of(slot_type::stored_in(w)));
  }

  // A homeless item goes where its entry leads, or to the emptiest of seven buckets; or it stays, if another
  // can go.
  template <class Words, class Counts, class GoesHome>
  TILEHASH_FN bool go_away(Words words, Counts counts, u32 bucket, word content,
                           const GoesHome& goes_home) const {
    const auto entries = words + (bucket * slots + last_slot);
    const u32 tag = tag_of(content);
    for (u32 tries = 0; tries < max_tries; ++tries) {
      const word now = load_relaxed(entries);
      u32 function = slot_type::entry(now, tag);
      if (function != 0) {
        if (!view::reserve(counts + design.other_bucket(bucket, tag, function))) break;
      } else {
        function = promise(counts, bucket, tag);
        if (function == 0) break;
        if (compare_and_swap(entries, now, slot_type::with_entry(now, tag, function)) != now) {
          view::give_back(counts + design.other_bucket(bucket, tag, function));
          continue;
        }
      }
      drop(words, bucket, content, function);
      return true;
    }
    const u32 function = slot_type::entry(load_relaxed(entries), tag);
    if (stands(words, bucket, content, 0)) return true;  // others of its key were faster
    if (function != 0 && stands(words, bucket, content, function)) return true;
    return swap(words, counts, bucket, content, goes_home);
  }
  // Takes the slot of an item at home whose entry nobody uses and which has room elsewhere.
  template <class Words, class Counts, class GoesHome>
  TILEHASH_FN bool swap(Words words, Counts counts, u32 bucket, word content,
                        const GoesHome& goes_home) const {
    const auto entries = words + (bucket * slots + last_slot);
    for (u32 tries = 0; tries < max_tries; ++tries) {
      const word now = load_relaxed(entries);
      const view b(words, bucket, bucket);
      u32 alone = b.match_if([&](word w) {
        return Design::holds(0, w) && slot_type::function_of(slot_type::stored_in(w)) == 0 &&
               slot_type::entry(now, tag_of(w)) == 0;
      });
      u32 at = 0, tag = 0, function = 0;
      for (; alone != 0 && function == 0; alone &= alone - 1) {
        at = bucket * slots + b.lowest_slot(alone);
        tag = tag_of(load_relaxed(words + at));
        function = promise(counts, bucket, tag);
      }
      if (function == 0) return false;
      const word goes = load_relaxed(words + at);
      // Whose entry this is, is for no other to move.
      if (tag != tag_of(goes) ||
          compare_and_swap(entries, now, slot_type::with_entry(now, tag, function)) != now) {
        view::give_back(counts + design.other_bucket(bucket, tag, function));
        continue;
      }
      compare_and_swap(words + at, goes, content);
      goes_home(at);
      drop(words, bucket, goes, function);
      return true;
    }
    return false;
  }
  // By a function to the bucket where a slot is promised: into the lowest that is free.
  template <class Words>
  TILEHASH_FN void drop(Words words, u32 bucket, word content, u32 function) const {
    const auto to = words + bucket_by(function, bucket, content) * slots;
    for (u32 s = 0;; s = (s + 1) % slots) {  // at most once round for each slot
      if (slot_type::is_free(load_relaxed(to + s)) &&
          compare_and_swap(to + s, word(0), by(function, content)) == word(0))
        return;
    }
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
