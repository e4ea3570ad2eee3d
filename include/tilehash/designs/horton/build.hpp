// The bulk build of Horton tables, region by region in block-local memory (engine/region_fill.hpp). All
// eight buckets of a key lie in its region, so a block can finish it alone.
//
// Building a region, with a barrier between the steps:
//   0  clear the scratch; or fetch the region's items: those in their primary buckets close up, and the
//      guests of others are unplaced
//   1  count every new item into its primary bucket; the first to come take its slots, the others are
//      unplaced
//   2  remove equal keys within each bucket, and close it up
//   3  unplaced items: out if their key is in their primary bucket, else into a free slot of it
//   4  buckets whose items are still unplaced become type B: what stands in the last slot is evicted
//   5  guests and evicted items, and then the other unplaced ones: by the function in their entry, or by that
//      to the emptiest of seven buckets, which their entry then names, whoever writes it first
//   6  for each that finds no room there, an item at home goes instead that has an entry of its own and room
//      where it leads. These are few and take long, so they are listed, and neighbours in the block take them
//   7  remove equal keys within each bucket again, which went the same way; write the region out
//
// From step 2 on a bucket's items stand in its lowest slots, as many as its count says: who counts himself in
// has a slot of his own.
//
// So a region that new items are merged with ends as one that is built from all of them. What finds no place
// (no item moves on twice), and what comes when there are too many unplaced ones, goes to `left`, and the
// caller inserts it one by one. Items that were in the table may not: where there are too many unplaced ones,
// or a guest or an evicted item finds no place, the region stays as it was, and all its new items go to
// `left`.
//
// Of equal keys the old one's value stays: a guest that finds its key at home puts its value there, and old
// items take slots of a secondary bucket before new ones do, of which the lowest stays.
//
// Words of 16 bytes cannot be swapped in shared memory: their tables are not built by regions.
// length: eight steps of one algorithm, read together.
#pragma once

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/algorithm/scratch_bucket.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The largest region, in buckets, that a block of sm_90's 227 KiB can build: the fewer there are, the longer
// are the runs of the partition before.
constexpr u64 horton_region(u64 slots, u64 word_bytes) {
  const u64 unplaced = word_bytes + 2 * sizeof(u16);  // as scratch_bytes() below
  return (u64(227) * 1024 - 512 - 32 * unplaced) /
         (slots * word_bytes + sizeof(u32) + (slots * 3 * unplaced + 15) / 16);
}

template <class Design, class Bins = even_bins<typename Design::word>>
struct horton_build {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using entry = routed_item<slot_type>;
  static constexpr u32 block_size = 1024;
  static constexpr u32 slots = Design::bucket_slots, last_slot = Design::last_slot;
  static constexpr u32 together = slots * sizeof(word) < 16 ? 1 : 16 / sizeof(word);  // written at once
  static constexpr u64 most_slots = u64(1) << 16;  // of a region: 16 bits tell one
  static constexpr u32 max_tries = 64;             // of an item to be promised a slot, when others are faster
  static constexpr u32 overflows = u32(1) << 31;   // in a bucket's count: some of its items are unplaced
  using view = scratch_bucket<word, slots>;

  Design design;
  Bins bins;         // of the regions that are built
  u32 first_region;  // of these
  bool merges;       // the table holds items
  spill_list<word> spill;
  u64* inserted;

  // What a tag's functions mirror a bucket at: sums of both.
  struct alignas(16) mirrors {
    u16 sums[8];
  };

  // Scratch: the region's words; the mirrors of each tag; the unplaced items, evicted ones from the end; per
  // bucket a count; some numbers; the unplaced items' buckets; and the list of those that are stuck.
  enum total : u32 { wandering, evicted, stuck_before, stuck, change, stays, numbers };
  TILEHASH_FN static constexpr u64 room(u64 buckets) { return buckets * slots * 3 / 16 + 32; }
  TILEHASH_FN static constexpr u64 mirrors_at(u64 buckets) {
    return (buckets * slots * sizeof(word) + 15) / 16 * 16;
  }
  TILEHASH_FN static constexpr u64 unplaced_at(u64 buckets) {
    return mirrors_at(buckets) + slot_type::entries * sizeof(mirrors);
  }
  TILEHASH_FN static constexpr u64 counts_at(u64 buckets) {
    return unplaced_at(buckets) + room(buckets) * sizeof(word);
  }
  TILEHASH_FN static constexpr u64 lists_at(u64 buckets) {
    return counts_at(buckets) + (buckets + numbers) * sizeof(u32);
  }
  static constexpr u64 scratch_bytes(u64 buckets) {
    return lists_at(buckets) + 2 * room(buckets) * sizeof(u16);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 nth = static_cast<u32>(block.index()), region = first_region + nth;
    const u32 buckets = design.region_buckets(), lists = static_cast<u32>(room(buckets));
    const auto words = block.template scratch<word>();
    const auto unplaced = block.template scratch<word>(unplaced_at(buckets));
    const auto counts = block.template scratch<u32>(counts_at(buckets)), number = counts + buckets;
    const auto its_bucket = block.template scratch<u16>(lists_at(buckets)), list = its_bucket + lists;
    const auto ways = block.template scratch<mirrors>(mirrors_at(buckets));
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

    // False where there are too many.
    const auto make_unplaced = [&](u32 bucket, word content) {
      const u32 at = fetch_add(number + wandering, u32(1));
      if (at >= lists) return false;
      unplaced[at] = content;
      its_bucket[at] = static_cast<u16>(bucket);
      return true;
    };

    for (u32 i = me; i < buckets; i += all) counts[i] = 0;  // 0
    for (u32 i = me; i < numbers; i += all) number[i] = 0;
    for (u32 tag = me; tag < slot_type::entries; tag += all) {
      mirrors m;
      for (u32 f = 0; f < 8; ++f) m.sums[f] = static_cast<u16>(design.sum_of(tag, f));
      ways[tag] = m;
    }
    if (merges) {
      fetch_words<together>(home, buckets * slots, me, all, [&](u32 first, const word* held) {
        TILEHASH_UNROLL
        for (u32 k = 0; k < together; ++k) words[first + k] = held[k];
      });
    } else {
      for (u32 i = me; i < buckets * slots; i += all) words[i] = word(0);
    }
    block.barrier();
    u32 before = 0, guests = 0;
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
          if (!make_unplaced(p.bucket, slot_type::make(p.stored, slot_type::value_of(w))))
            set_bits(number + stays, 1U);
        }
        for (u32 s = kept; s < slots; ++s) words[b * slots + s] = word(0);
        counts[b] = kept;
      }
      block.barrier();
      guests = length(wandering);
      block.barrier();
    }

    constexpr u32 at_once = 4;
    for (u32 first = me; first < n; first += at_once * all) {  // 1
      word e[at_once] = {};
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all < n) e[k] = bin[first + k * all];
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all >= n) continue;
        const auto p = design.place_of(entry::hash_of(e[k]));
        const word content = slot_type::make(p.stored, entry::value_of(e[k]));
        const u32 s = fetch_add(counts + p.bucket, u32(1));
        if (s < slots)
          words[p.bucket * slots + s] = content;
        else if (!make_unplaced(p.bucket, content))
          spill_one(e[k]);
      }
    }
    block.barrier();

    for (u32 b = me; b < buckets; b += all) {  // 2
      if (remove_twins(words, b, view(words, b, b)) != 0) close_up(words, b);
      counts[b] = 0;
    }
    const u32 left = length(wandering);
    block.barrier();

    for (u32 q = me; q < left; q += all) {  // 3
      const u32 b = its_bucket[q];
      if (put(words, b, unplaced[q], q < guests))
        unplaced[q] = word(0);
      else
        set_bits(counts + b, overflows);
    }
    block.barrier();

    for (u32 b = me; b < buckets; b += all) {  // 4
      u32 taken = slots - count_ones(view(words, b, b).match_if(slot_type::is_free));
      if ((counts[b] & overflows) != 0) {
        const word content = words[b * slots + last_slot];
        words[b * slots + last_slot] = slot_type::no_entries;
        const u32 at = fetch_add(number + evicted, u32(1));
        if (left + at < lists)
          unplaced[lists - 1 - at] = content, its_bucket[lists - 1 - at] = static_cast<u16>(b);
        else
          spill_one(entry_of(b, content));
      }
      counts[b] = taken;
    }
    block.barrier();

    const auto send_away = [&](u32 from, u32 to, u32 stuck_ones, bool is_new) {  // 5
      for (u32 q = from + me; q < to; q += all) {
        const word content = unplaced[q];
        const u32 b = its_bucket[q];
        if (slot_type::is_free(content)) continue;
        if (is_new && stands(words, b, content, 0)) continue;  // an old one of its key swapped
        if (!go_away(words, counts, ways, b, content))
          list[fetch_add(number + stuck_ones, u32(1))] = static_cast<u16>(q);
      }
    };
    const auto swap_in = [&](u32 stuck_ones, bool old) {  // 6
      for (u32 i = me, end = number[stuck_ones]; i < end; i += all) {
        const u32 q = list[i], b = its_bucket[q];
        const word content = unplaced[q];
        if (swap(words, counts, ways, b, content)) continue;
        if (old)
          spill_one(entry_of(b, content));
        else
          spill.add(entry_of(b, content));
      }
    };
    const u32 gone = number[evicted] < lists - left ? u32(number[evicted]) : lists - left;
    send_away(lists - gone, lists, stuck_before, false);
    if (merges) {
      send_away(0, guests, stuck_before, false);
      block.barrier();
      swap_in(stuck_before, true);
      block.barrier();
      if (number[stays] != 0) {
        for (u32 i = me; i < n; i += all) spill.add(bin[i]);
        return;
      }
      send_away(guests, left, stuck, true);
      block.barrier();
      swap_in(stuck, false);
    } else {
      send_away(0, left, stuck_before, false);
      block.barrier();
      swap_in(stuck_before, true);
    }
    block.barrier();

    u32 after = 0;  // 7
    for (u32 b = me; b < buckets; b += all) {
      const view v(words, b, b);
      after += count_ones(v.match_if([](word w) { return Design::holds(0, w); })) - remove_twins(words, b, v);
    }
    if (after != before) fetch_add(number + change, after - before);  // modulo 2^32, as is its sum
    block.barrier();

    put_words<together>(words, buckets * slots, me, all, home);
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
  // Moves what stands in a bucket to its lowest slots.
  template <class Words>
  TILEHASH_FN static void close_up(Words words, u32 number) {
    u32 kept = 0;
    for (u32 s = 0; s < slots; ++s) {
      const word w = words[number * slots + s];
      if (!slot_type::is_free(w)) words[number * slots + kept++] = w;
    }
    for (u32 s = kept; s < slots; ++s) words[number * slots + s] = word(0);
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
  // Into the lowest free slot, unless its key is there already; that takes an old item's value. False if
  // there is no room.
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
      const auto at = words + (number * slots + lowest(b.by_slots(free)));
      if (compare_and_swap(at, word(0), content) == word(0)) return true;
    }
  }

  // A slot that is promised: in which bucket, and by which function. None: function 0.
  struct promise {
    u32 function, bucket, at;
  };
  // In one bucket; `at` is too high where there is none.
  template <class Counts>
  TILEHASH_FN promise ask(Counts counts, u32 function, u32 bucket) const {
    if (load_relaxed(counts + bucket) >= slots) return {function, bucket, slots};
    const u32 slot = fetch_add(counts + bucket, u32(1));
    if (slot >= slots) view::give_back(counts + bucket);
    return {function, bucket, slot};
  }
  // In the emptiest of the seven buckets for a tag. None where all are full.
  template <class Counts>
  TILEHASH_FN promise ask_all(Counts counts, const mirrors& way, u32 bucket) const {
    for (u32 tries = 0; tries < max_tries; ++tries) {  // again when others were faster
      u32 function = 0, to = 0, least = slots;
      TILEHASH_UNROLL
      for (u32 f = 1; f <= slot_type::functions; ++f) {
        const u32 other = design.mirrored(way.sums[f], bucket), taken = load_relaxed(counts + other);
        if (taken < least) least = taken, function = f, to = other;
      }
      if (function == 0) break;
      const promise p = ask(counts, function, to);
      if (p.at < slots) return p;
    }
    return {0, 0, 0};
  }
  // It is not taken. Where others have been promised the next ones meanwhile, it stays free.
  template <class Counts>
  TILEHASH_FN static void give_back(Counts counts, const promise& p) {
    compare_and_swap(counts + p.bucket, p.at + 1, p.at);
  }
  // Has the item's entry say by which function it was promised a slot: true. Or, if another was faster, `now`
  // is what the bucket's entries are, and its entry may be used.
  template <class Entries>
  TILEHASH_FN static bool claim(Entries entries, word& now, u32 tag, u32 function) {
    while (slot_type::entry(now, tag) == 0) {  // once for each entry at most
      const word seen = compare_and_swap(entries, now, slot_type::with_entry(now, tag, function));
      if (seen == now) return true;
      now = seen;
    }
    return false;
  }

  // An unplaced item goes where its entry leads, or to the emptiest of seven buckets. False where there is no
  // room.
  template <class Words, class Counts, class Ways>
  TILEHASH_FN bool go_away(Words words, Counts counts, Ways ways, u32 bucket, word content) const {
    const u32 tag = tag_of(content);
    const mirrors way = ways[tag];
    const auto entries = words + (bucket * slots + last_slot);
    word now = load_relaxed(entries);
    promise p = {0, 0, slots};
    if (slot_type::entry(now, tag) == 0) {
      p = ask_all(counts, way, bucket);
      if (p.function == 0) return false;
      if (!claim(entries, now, tag, p.function) && slot_type::entry(now, tag) != p.function)
        give_back(counts, p), p.at = slots;
    }
    if (p.at >= slots) {
      const u32 function = slot_type::entry(now, tag);
      p = ask(counts, function, design.mirrored(way.sums[function], bucket));
      if (p.at >= slots) return false;
    }
    words[p.bucket * slots + p.at] = by(p.function, content);
    return true;
  }
  // Takes the slot of an item at home whose entry nobody uses and which has room elsewhere; unless another of
  // its key stands where it could.
  template <class Words, class Counts, class Ways>
  TILEHASH_FN bool swap(Words words, Counts counts, Ways ways, u32 bucket, word content) const {
    const auto entries = words + (bucket * slots + last_slot);
    word now = load_relaxed(entries);
    const u32 its = slot_type::entry(now, tag_of(content));
    if (stands(words, bucket, content, 0) || (its != 0 && stands(words, bucket, content, its))) return true;
    const view b(words, bucket, bucket);
    u32 alone = b.match_if([&](word w) {
      return Design::holds(0, w) && slot_type::function_of(slot_type::stored_in(w)) == 0 &&
             slot_type::entry(now, tag_of(w)) == 0;
    });
    for (; alone != 0; alone &= alone - 1) {
      const auto at = words + (bucket * slots + b.lowest_slot(alone));
      const word goes = load_relaxed(at);
      const u32 tag = tag_of(goes);
      const mirrors way = ways[tag];
      const promise p = ask_all(counts, way, bucket);
      if (p.function == 0) continue;
      if (!claim(entries, now, tag, p.function)) {
        give_back(counts, p);
        continue;
      }
      // Whose entry this is, is for no other to move.
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
