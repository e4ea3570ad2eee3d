// The bulk build of Horton tables, region by region in block-local memory (designs/region_fill.hpp). All
// eight buckets of a key lie in its region, so a block can finish it alone.
//
// Building an empty region, with a barrier between the steps:
//   0  clear the scratch
//   1  count every item into its primary bucket; the first to come take its slots, the others go on a list
//   2  remove equal keys within each bucket
//   3  listed items: out if their key is there, else into a free slot, else homeless
//   4  buckets whose items are homeless become type B: what stands in the last slot is homeless too
//   5  homeless items: by the function in their entry, or by that to the emptiest of seven buckets, which
//      their entry then names, whoever writes it first
//   6  remove equal keys within each bucket again, which went the same way
//   7  write the region out
//
// No item moves another, so at high loads some find no place; these, and those of equal keys that fill the
// list, go to `left`, and the caller inserts them one by one.
//
// Words of 16 bytes cannot be swapped in shared memory: their tables are not built by regions.
#pragma once

#include <tilehash/algorithm/partition.hpp>
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
  static constexpr bool merges_too = false;
  static constexpr u64 most_slots = ~u32(0);
  static constexpr u32 max_tries = 64;            // of a homeless item, when others are faster
  static constexpr u32 overflows = u32(1) << 31;  // in a bucket's count: some of its items are homeless

  Design design;
  Bins bins;         // of the regions that are built
  u32 first_region;  // of these
  bool merges;       // never
  spill_list<word> spill;
  u64* inserted;

  // Scratch: the region's words; the homeless items; per bucket a count; the list; the homeless items'
  // buckets; the two lists' lengths and the number of items.
  TILEHASH_FN static constexpr u64 room(u64 buckets) { return buckets * slots * 3 / 16 + 32; }
  TILEHASH_FN static constexpr u64 homeless_at(u64 buckets) {
    return (buckets * slots * sizeof(word) + 15) / 16 * 16;
  }
  TILEHASH_FN static constexpr u64 counts_at(u64 buckets) {
    return homeless_at(buckets) + room(buckets) * sizeof(word);
  }
  static constexpr u64 scratch_bytes(u64 buckets) {
    return counts_at(buckets) + (buckets + 2 * room(buckets) + 3) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 nth = static_cast<u32>(block.index()), region = first_region + nth;
    const u32 buckets = design.region_buckets(), lists = static_cast<u32>(room(buckets));
    const auto words = block.template scratch<word>();
    const auto homeless = block.template scratch<word>(homeless_at(buckets));
    const auto counts = block.template scratch<u32>(counts_at(buckets));
    const auto list = counts + buckets, its_bucket = list + lists;
    const auto listed = its_bucket + lists, wandering = listed + 1, all_items = listed + 2;
    const auto bin = bins.at(nth);
    word* const home = design.region_at(region);
    const u32 n = bins.size(nth), me = block.rank(), all = block.size();
    const auto send_off = [&](u32 bucket, word content) {  // on the list of homeless items, or to the caller
      const u32 at = fetch_add(wandering, u32(1));
      if (at < lists)
        homeless[at] = content, its_bucket[at] = bucket;
      else
        give_up(region, bucket, content);
    };

    for (u32 i = me; i < buckets * slots; i += all) words[i] = word(0);  // 0
    for (u32 i = me; i < buckets; i += all) counts[i] = 0;
    for (u32 i = me; i < 3; i += all) listed[i] = 0;
    block.barrier();

    for (u32 i = me; i < n; i += all) {  // 1
      const word e = bin[i];
      const auto p = design.place_of(entry::hash_of(e));
      const u32 s = fetch_add(counts + p.bucket, u32(1));
      if (s < slots) {
        words[p.bucket * slots + s] = slot_type::make(p.stored, entry::value_of(e));
      } else {
        const u32 at = fetch_add(listed, u32(1));
        if (at < lists)
          list[at] = i;
        else
          spill.add(e);
      }
    }
    block.barrier();

    for (u32 b = me; b < buckets; b += all) remove_twins(words + b * slots), counts[b] = 0;  // 2
    block.barrier();

    const u32 waiting = listed[0] < lists ? u32(listed[0]) : lists;
    for (u32 q = me; q < waiting; q += all) {  // 3
      const word e = bin[list[q]];
      const auto p = design.place_of(entry::hash_of(e));
      const word content = slot_type::make(p.stored, entry::value_of(e));
      if (put(words + p.bucket * slots, content)) continue;
      set_bits(counts + p.bucket, overflows);
      send_off(p.bucket, content);
    }
    block.barrier();

    for (u32 b = me; b < buckets; b += all) {  // 4
      const auto last = words + (b * slots + last_slot);
      if ((counts[b] & overflows) != 0) {
        send_off(b, last[0]);
        last[0] = slot_type::no_entries;
      }
      u32 taken = 0;
      for (u32 s = 0; s < slots; ++s) taken += !slot_type::is_free(words[b * slots + s]);
      counts[b] = taken;
    }
    block.barrier();

    const u32 left = wandering[0] < lists ? u32(wandering[0]) : lists;
    for (u32 q = me; q < left; q += all) {  // 5
      const u32 b = its_bucket[q];
      const word content = homeless[q];
      if (!go_away(words, counts, b, content)) give_up(region, b, content);
    }
    block.barrier();

    u32 items = 0;
    for (u32 b = me; b < buckets; b += all) {  // 6
      remove_twins(words + b * slots);
      for (u32 s = 0; s < slots; ++s) items += Design::holds(0, words[b * slots + s]);
    }
    if (items != 0) fetch_add(all_items, items);
    block.barrier();

    for (u32 i = me * together; i < buckets * slots; i += all * together) {  // 7
      struct alignas(together * sizeof(word)) some {
        word words[together];
      } out;
      TILEHASH_UNROLL
      for (u32 k = 0; k < together; ++k) out.words[k] = words[i + k];
      *reinterpret_cast<some*>(home + i) = out;
    }
    if (me == 0) fetch_add(inserted, static_cast<u64>(u32(all_items[0])));
  }

 private:
  // Of equal keys in a bucket one stays.
  template <class Words>
  TILEHASH_FN static void remove_twins(Words bucket) {
    for (u32 s = 1; s < slots; ++s) {
      const word w = bucket[s];
      bool twin = false;
      for (u32 r = 0; r < s; ++r) twin |= slot_type::stored_in(bucket[r]) == slot_type::stored_in(w);
      if (twin && Design::holds(0, w)) bucket[s] = word(0);
    }
  }
  // Into a free slot, unless its key is there already. False if there is no room.
  template <class Words>
  TILEHASH_FN static bool put(Words bucket, word content) {
    for (;;) {  // again when another took the slot: at most once for each slot
      u32 free = slots;
      for (u32 s = slots; s-- > 0;) {
        const word w = load_relaxed(bucket + s);
        if (slot_type::stored_in(w) == slot_type::stored_in(content)) return true;
        if (slot_type::is_free(w)) free = s;
      }
      if (free == slots) return false;
      if (compare_and_swap(bucket + free, word(0), content) == word(0)) return true;
    }
  }
  // By a secondary function; a bucket's count is of the slots that are taken or promised.
  template <class Words, class Counts>
  TILEHASH_FN bool go_away(Words words, Counts counts, u32 bucket, word content) const {
    const auto remainder = slot_type::remainder_of(slot_type::stored_in(content));
    const u32 tag = slot_type::tag_of(remainder);
    const auto entries = words + (bucket * slots + last_slot);
    for (u32 tries = 0; tries < max_tries; ++tries) {
      const word now = load_relaxed(entries);
      u32 function = slot_type::entry(now, tag);
      const bool is_new = function == 0;
      if (is_new) {
        u32 least = slots;
        for (u32 f = 1; f <= slot_type::functions; ++f) {
          const u32 taken = load_relaxed(counts + design.other_bucket(bucket, tag, f));
          if (taken < least) least = taken, function = f;
        }
        if (function == 0) return false;
      }
      const u32 to = design.other_bucket(bucket, tag, function);
      if (fetch_add(counts + to, u32(1)) >= slots) {
        fetch_add(counts + to, ~u32(0));
        if (!is_new) return false;
        continue;
      }
      if (is_new && compare_and_swap(entries, now, slot_type::with_entry(now, tag, function)) != now) {
        fetch_add(counts + to, ~u32(0));
        continue;
      }
      drop(words + to * slots,
           slot_type::make(slot_type::stored_as(remainder, function), slot_type::value_of(content)));
      return true;
    }
    return false;
  }
  // Where a free slot is promised.
  template <class Words>
  TILEHASH_FN static void drop(Words bucket, word content) {
    for (u32 s = 0;; s = (s + 1) % slots) {  // at most once round for each slot
      if (slot_type::is_free(load_relaxed(bucket + s)) &&
          compare_and_swap(bucket + s, word(0), content) == word(0))
        return;
    }
  }
  TILEHASH_FN void give_up(u32 region, u32 bucket, word content) const {
    spill.add(entry::pack(design.hash_in(region, bucket, slot_type::stored_in(content)),
                          slot_type::value_of(content)));
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
