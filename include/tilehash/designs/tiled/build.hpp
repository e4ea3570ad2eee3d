// The bulk build of `tiled`: partition the items by region, then build each region in block-local memory.
//
//   items --partition--> | bin 0 | bin 1 | ... one for each region
//                           | ^     | ^
//                         block 0  block 1 ... each reads its bin, builds the region in its scratch and
//                                              writes it to the table
//
// A random write to memory costs a whole line read and written back; partitioned items are written in runs
// that the cache gathers, and the table is written once, in order. So a build runs at several times the rate
// of single inserts, on a GPU (shared memory) and on a CPU (a block is worked through alone, its scratch lies
// in the cache).
//
// An empty table's region is its own bin: it has a slot for each of its items, so the build needs next to no
// memory beside the table. Into a table that holds items, many new ones are merged in the same way: the bins
// stand beside it, and a block begins with what its region holds. (Few: designs/tiled/merge.hpp.)
//
// What does not fit (many equal keys) and what finds no place in its region goes to `left`, and the caller
// inserts that one by one. If even `left` overflows, the caller inserts everything one by one.
//
// Building a region, with a barrier between the steps:
//   0  clear the scratch, or fetch what the region holds and close the gaps in its buckets
//   1  count every item into its first bucket; the first to come take its slots, the others go on a list
//   2  remove equal keys within each bucket
//   3  listed items: into their first or second bucket where there is room, or out if their key is there
//   4  still homeless: take the place of a key whose other bucket has room, or of any that must then go on
//   5  remove what step 4 made double
//   6  write the region out, with the overflow filter's bits
//
// Where the first of equal keys is to stay (bins in order, algorithm/ordered_bins.hpp) a word in the scratch
// has its entry's order in place of the value, and of equal keys that meet the earlier one stays. The values
// come from the bin before step 6. (Words of 16 bytes name their entries anyway.) An item is dropped only
// where another of its key stands in one of its buckets, so who stays at last is the first of those that were
// not left over. None is left over for want of room on the list: then step 3 is for all of the bin.
//
// The items of a table of one region are not partitioned: they are its bin as they are, those included that
// are none.
//
// Where a table gets more or fewer regions (engine/region_resize.hpp) a block's items are those that stand in
// regions of the table as it was: among free slots and keys of other blocks, and no two alike. Steps 2 and 5
// have nothing to do then. For trial, step 6 is left out, and the regions are those of a list.
//
// A key that was there before a merge moves only where a place is promised to it. So what finds no place in
// the end is always new, and nothing that was in the table leaves it. A bit of the word marks such keys, one
// that the filter needs only in the table; of words of 16 bytes, their low numbers.
// length: partition and build are one algorithm of seven steps, read together.
#pragma once

#include <tilehash/algorithm/ordered_bins.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/algorithm/scratch_bucket.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/remainder_slot.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/own_pointer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// What stands in a block's scratch for an item: the slot's word, as it will be in the table. Entries: how the
// bin's entries are read.
template <class Design, class Items, class Entries = routed_item<typename Design::slot_type>>
struct tiled_scratch_slot {
  using slot_type = typename Design::slot_type;
  using entry = routed_item<slot_type>;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  static constexpr bool is_exact = true;  // equal stored keys in a bucket are equal keys

  static constexpr word was_there =
      static_cast<word>(word(1) << slot_type::filter_shift % (8 * sizeof(word)));  // before a merge

  static constexpr bool keeps_first = tells_order<Entries>;
  static constexpr bool can_keep_first = sizeof(typename slot_type::value_bits) == sizeof(u32);

  Design design;
  Entries entries;
  Items items;   // the bin, where the first of equal keys is kept
  u32 held = 0;  // not needed: how many items the region had before

  TILEHASH_FN static bool stays(word w) { return (w & was_there) != 0; }
  TILEHASH_FN static word from_table(const auto& /*hashes*/, u32 /*bucket*/, word w, auto /*numbered*/) {
    return static_cast<word>((w & ~slot_type::filter_mask) | was_there);
  }
  TILEHASH_FN static stored_key stored_in(word w) { return slot_type::stored_in(w); }
  TILEHASH_FN static stored_key full_stored(word w) { return stored_in(w); }
  TILEHASH_FN static bool is_free(word w) { return slot_type::is_free(w); }
  TILEHASH_FN static bool is_second(word w) { return slot_type::is_second(stored_in(w)); }
  TILEHASH_FN word make(stored_key n, const word& e, u32 number) const {
    if constexpr (keeps_first)
      return slot_type::make(n, entries.order_of(e, number));
    else
      return slot_type::make(n, entry::value_of(e));
  }
  TILEHASH_FN static word in_other_bucket(word w) {
    return static_cast<word>(slot_type::make(stored_in(w) ^ 2, slot_type::value_of(w)) | (w & was_there));
  }
  TILEHASH_FN u32 mirror(u32 bucket, word w) const { return design.mirror(bucket, stored_in(w)); }
  TILEHASH_FN static u32 filter_index(word w) { return Design::filter_index(stored_in(w)); }
  TILEHASH_FN static bool same_key(word /*a*/, word /*b*/) { return true; }

  // To find an entry again: it itself, or its number in the bin.
  TILEHASH_FN static word handle(const word& e, u32 number) {
    if constexpr (keeps_first)
      return number;
    else
      return e;
  }
  TILEHASH_FN word entry_at(word handle) const {
    if constexpr (keeps_first)
      return items[handle];
    else
      return handle;
  }
  TILEHASH_FN static u32 number_in(word w) {  // or in a handle
    return static_cast<u32>(w) & ((1U << position_bits) - 1);
  }
  TILEHASH_FN word entry_of(u32 region, u32 bucket, word w) const {
    if constexpr (keeps_first)
      return entries.routed_as(items[number_in(w)]);
    else
      return entry::pack(design.hash_in(region, bucket, stored_in(w)), slot_type::value_of(w));
  }
  TILEHASH_FN static void set_value(auto at, const word& e) { store_low_half(at, entry::value_of(e)); }
  // Did a's item come before b's, of the same key?
  TILEHASH_FN static bool is_before(word a, word b) {
    return slot_type::value_of(a) < slot_type::value_of(b);
  }
};

// Words of 16 bytes cannot be swapped in shared memory. So 4 bytes stand for one: a few bits of its key, and
// the number of its entry, of which the scratch has a copy: first those of the region as it was, in a merge,
// then those of the bin.
//
//     +-------------------+-----+------+---------------+
//     |  key's bits (16)  | 2nd | used |  number (14)  |
//     +-------------------+-----+------+---------------+
//     |<-------- stored key ------------->|
template <class Design, class Items, class Entries>
  requires(sizeof(typename Design::word) == 16)
struct tiled_scratch_slot<Design, Items, Entries> {
  using slot_type = typename Design::slot_type;
  using entry = routed_item<slot_type>;
  using table_word = typename slot_type::word;
  using word = u32;
  using stored_key = u32;
  static constexpr bool is_exact = false;
  static constexpr u32 number_bits = 14;  // as tiled_build::most_slots
  static constexpr bool keeps_first = tells_order<Entries>, can_keep_first = true;

  Design design;
  Entries entries;
  Items items;
  u32 held = 0;  // how many items the region had before

  TILEHASH_FN bool stays(word w) const { return number_in(w) < held; }
  // A slot of the table; its entry gets a number.
  TILEHASH_FN word from_table(const auto& hashes, u32 bucket, const table_word& w, auto numbered) const {
    const auto n = slot_type::stored_in(w);
    const u32 number = fetch_add(numbered, u32(1));
    items[number] = entry::pack(hashes(design.first_bucket(bucket, n), slot_type::remainder_of(n)),
                                slot_type::value_of(w));
    return make(n, w, number);
  }
  TILEHASH_FN static stored_key stored_in(word w) { return w >> number_bits; }
  TILEHASH_FN static bool is_free(word w) { return (w >> number_bits & 1) == 0; }
  TILEHASH_FN static bool is_second(word w) { return (w >> number_bits & 2) != 0; }
  TILEHASH_FN static word make(typename slot_type::stored_key n, const table_word& /*entry*/, u32 number) {
    return static_cast<u32>(n & 0x3ffff) << number_bits | number;
  }
  TILEHASH_FN static word in_other_bucket(word w) { return w ^ 2U << number_bits; }
  TILEHASH_FN u32 mirror(u32 bucket, word w) const { return design.mirror(bucket, full_stored(w)); }
  TILEHASH_FN u32 filter_index(word w) const { return Design::filter_index(full_stored(w)); }
  TILEHASH_FN bool same_key(word a, word b) const {
    const table_word x = items[number_in(a)], y = items[number_in(b)];
    return entries.hash_of(x) == entries.hash_of(y);
  }
  TILEHASH_FN typename slot_type::stored_key full_stored(word w) const {
    const table_word e = items[number_in(w)];
    return slot_type::stored_as(entries.hash_of(e) & slot_type::remainder_mask, is_second(w));
  }

  TILEHASH_FN static word handle(const table_word& /*entry*/, u32 number) { return number; }
  TILEHASH_FN table_word entry_at(word handle) const { return items[handle]; }
  TILEHASH_FN static u32 number_in(word w) { return w & ((1U << number_bits) - 1); }
  TILEHASH_FN table_word entry_of(u32 /*region*/, u32 /*bucket*/, word w) const {
    return entries.routed_as(items[number_in(w)]);
  }
  TILEHASH_FN bool is_before(word a, word b) const {
    const table_word x = items[number_in(a)], y = items[number_in(b)];
    return entries.order_of(x, number_in(a)) < entries.order_of(y, number_in(b));
  }
};

template <class Design, class Bins = even_bins<typename Design::word>>
struct tiled_build {
  using slot_type = typename Design::slot_type;
  using table_word = typename slot_type::word;
  static constexpr bool keeps_first = in_order<Bins>;
  using entries = std::conditional_t<keeps_first, ordered_item<slot_type>, routed_item<slot_type>>;
  template <class Items>
  using scratch_slot_of = tiled_scratch_slot<Design, Items, entries>;
  using scratch_slot = scratch_slot_of<table_word*>;
  using word = typename scratch_slot::word;
  using stored_key = typename scratch_slot::stored_key;
  using entry = routed_item<slot_type>;
  using place = typename Design::place;
  using design_type = Design;
  static constexpr u32 block_size = 1024;
  static constexpr u32 slots = Design::bucket_slots;
  static constexpr u32 max_looks = scratch_slot::is_exact ? 48 : 16;  // of a walker
  static constexpr u32 together = 16 / sizeof(table_word);  // words of one bucket that are written at once
  static constexpr bool takes_items = true;                 // as bins
  static constexpr bool moves_regions = requires { Bins::are_regions; };
  static constexpr bool for_trial = requires { requires Bins::is_trial; };
  static constexpr bool walks_bins = moves_regions || requires { Bins::are_items; };  // some are no items
  static constexpr u64 most_slots = scratch_slot::is_exact ? ~u32(0) : 1U << 14;      // of a region

  Design design;
  Bins bins;         // of the regions that are built
  u32 first_region;  // of these
  bool merges;       // the table holds items
  spill_list<table_word> spill;
  u64* inserted;

  // Scratch: the region's words; for words of 16 bytes the bin; the homeless items; per bucket a count; the
  // list of items that are not in their first bucket; per bucket the filter's bits; the list's length, the
  // homeless items' number, how many of them have been taken up, the number of new keys, and of those that
  // were numbered here.
  // (Positions in a bin whose first items are kept have 16 bits, so that there is room for twice as many.)
  static constexpr u32 listed_a_word = keeps_first ? 2 : 1;
  using listed_item = std::conditional_t<keeps_first, u16, u32>;
  TILEHASH_FN static constexpr u64 list_words(u64 buckets) { return buckets * slots * 3 / 16; }
  TILEHASH_FN static constexpr u64 list_room(u64 buckets) { return list_words(buckets) * listed_a_word; }
  TILEHASH_FN static constexpr u64 homeless_room(u64 buckets) { return buckets * slots * 3 / 32; }
  TILEHASH_FN static constexpr u64 items_at(u64 buckets) {
    return (buckets * slots * sizeof(word) + 15) / 16 * 16;
  }
  TILEHASH_FN static constexpr u64 homeless_at(u64 buckets) {
    return items_at(buckets) + (scratch_slot::is_exact ? 0 : buckets * slots * sizeof(table_word));
  }
  static constexpr u64 scratch_bytes(u64 buckets) {
    return homeless_at(buckets) + homeless_room(buckets) * sizeof(word) +
           (2 * buckets + list_words(buckets) + 5) * sizeof(u32);
  }

  // Entries of words of 16 bytes that the scratch has room for.
  TILEHASH_FN static constexpr u32 most_numbers(u32 buckets) {
    return scratch_slot::is_exact ? ~u32(0) : buckets * slots;
  }

  struct view : scratch_bucket<word, slots> {
    using scratch_bucket<word, slots>::scratch_bucket;
    TILEHASH_FN u32 match(stored_key wanted) const {  // bit k: words[k]
      return this->match_if([&](word w) { return scratch_slot::stored_in(w) == wanted; });
    }
  };
  // The slots of a bucket that have this word's key, as view::match().
  TILEHASH_FN static u32 match_key(const auto& in, const view& b, word content) {
    u32 mask = b.match(scratch_slot::stored_in(content));
    if constexpr (!scratch_slot::is_exact) {
      if (mask != 0) {
        TILEHASH_UNROLL
        for (u32 k = 0; k < slots; ++k) {
          if ((mask >> k & 1) != 0 && !in.same_key(b.words[k], content)) mask &= ~(1U << k);
        }
      }
    }
    return mask;
  }
  // Puts a word into a free slot of a bucket, all into the same one first: inserted, present, or
  // refused when it is full.
  template <class Words, class Counts>
  TILEHASH_FN static outcome put(const auto& in, Words words, Counts counts, u32 number, word content) {
    for (;;) {  // again when another took the slot: at most once for each slot
      const view b(words, number, number);
      const u32 free = b.match(0);
      if (const u32 own = match_key(in, b, content); own != 0) {
        keep_earlier(in, words + (number * slots + b.lowest_slot(own)), content);
        return outcome::present;
      }
      if (free == 0) return outcome::refused;
      const auto at = words + (number * slots + b.lowest_slot(free));
      if (scratch_slot::is_free(compare_and_swap(at, word(0), content))) {
        fetch_add(counts + number, u32(1));
        return outcome::inserted;
      }
    }
  }
  // ... where the first of equal keys is to stay: the slot's, or this one.
  template <class Slot>
  TILEHASH_FN static void keep_earlier([[maybe_unused]] const auto& in, [[maybe_unused]] Slot at,
                                       [[maybe_unused]] word content) {
    if constexpr (keeps_first) {
      for (word seen = load_relaxed(at); in.is_before(content, seen);) {  // again at most once for each item
        const word was = compare_and_swap(at, seen, content);
        if (was == seen) return;
        seen = was;
      }
    }
  }
  // Of equal keys in a bucket the one in the lowest slot stays, or the first; then no free slot is left
  // before a taken one, in the order in which threads see them.
  template <class Words, class Counts>
  TILEHASH_FN static void remove_twins(const auto& in, Words words, Counts counts, u32 number) {
    view b(words, number, number);
    stored_key seen[slots];
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k)  // no two free slots alike: an even stored_key is no key's
      seen[k] = scratch_slot::is_free(b.words[k]) ? static_cast<stored_key>(2 * k)
                                                  : scratch_slot::stored_in(b.words[k]);
    bool twins = false;
    TILEHASH_UNROLL
    for (u32 s = 1; s < slots; ++s) {
      TILEHASH_UNROLL
      for (u32 r = 0; r < s; ++r) twins |= seen[r] == seen[s];
    }
    if (!twins) return;
    if constexpr (is_own_pointer<Words>)
      close_up(in, words, counts, number);
    else
      drop_twins(in, b, seen, words, counts, number);
  }
  // ... in registers, and back in the order in which put() sees the slots: neighbours that read their buckets
  // slot by slot wait for the same banks. (A CPU's one thread does not, and is up to two fifths slower so.)
  template <class Words, class Counts>
  TILEHASH_FN static void drop_twins(const auto& in, view& b, stored_key (&seen)[slots], Words words,
                                     Counts counts, u32 number) {
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
      if (!scratch_slot::is_free(b.words[k])) bucket[kept++ ^ b.turn] = b.words[k];
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k) {
      if (k >= kept) bucket[k ^ b.turn] = word(0);
    }
    counts[number] = kept;
  }
  // Keeps one of equal keys of a bucket and leaves no free slot before a taken one.
  template <class Words, class Counts>
  TILEHASH_FN static void close_up(const auto& in, Words words, Counts counts, u32 number) {
    const auto bucket = words + number * slots;
    u32 kept = 0;
    for (u32 s = 0; s < slots; ++s) {
      const word w = bucket[s];
      const bool is_free = scratch_slot::is_free(w);
      bool twin = false;
      for (u32 r = 0; r < kept; ++r) {
        const word kept_one = bucket[r];
        if (scratch_slot::stored_in(kept_one) != scratch_slot::stored_in(w) || !in.same_key(kept_one, w))
          continue;
        twin = true;
        if constexpr (keeps_first) {
          if (in.is_before(w, kept_one)) bucket[r] = w;
        }
      }
      if (!is_free && !twin) bucket[kept++] = w;
    }
    for (u32 s = kept; s < slots; ++s) bucket[s] = word(0);
    counts[number] = kept;
  }

  // Puts a word where a free slot is promised.
  template <class Words>
  TILEHASH_FN static void drop(Words words, u32 number, word content) {
    for (u32 s = number % slots;; s = (s + 1) % slots) {  // at most once round for each slot
      const auto at = words + (number * slots + s);
      if (scratch_slot::is_free(load_relaxed(at)) &&
          scratch_slot::is_free(compare_and_swap(at, word(0), content)))
        return;
    }
  }

  // Which keys of a bucket may move: into their other bucket, which seems to have room, or out into the open,
  // as those that were there before a merge may not.
  struct movers {
    u32 to_room = 0, freely = 0;  // as view::match()
  };
  template <class Counts>
  TILEHASH_FN static movers movers_in(const auto& in, const view& b, Counts counts, u32 bucket) {
    movers m;
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k) {
      const bool taken = !scratch_slot::is_free(b.words[k]);
      const u32 other = taken ? in.mirror(bucket, b.words[k]) : bucket;
      m.to_room |= u32(taken && load_relaxed(counts + other) < slots) << k;
      m.freely |= u32(taken && !in.stays(b.words[k])) << k;
    }
    return m;
  }

  // A key without a place, on its way through the buckets of its region.
  struct walker {
    word mover = 0;
    u32 bucket = 0;  // where it stands before, one of its mover's two
    u32 looks = 0;   // buckets seen so far
    u64 dice = 0;
  };
  // One look at a bucket. True when the walker has found a place.
  template <class Words, class Counts, class Filters>
  TILEHASH_FN static bool step(const auto& in, walker& w, Words words, Counts counts, Filters filters) {
    if (view::reserve(counts + w.bucket)) {
      drop(words, w.bucket, w.mover);
      return true;
    }
    w.dice = mix64(w.dice + w.looks);
    const view b(words, w.bucket, static_cast<u32>(w.dice >> 32));
    if constexpr (keeps_first) {  // many copies of one key would fill its buckets and send each other on
      if (const u32 own = match_key(in, b, w.mover); own != 0) {
        const auto at = words + (w.bucket * slots + b.lowest_slot(own));
        const word seen = load_relaxed(at);
        if (scratch_slot::stored_in(seen) == scratch_slot::stored_in(w.mover) && in.same_key(seen, w.mover) &&
            (!in.is_before(w.mover, seen) || compare_and_swap(at, seen, w.mover) == seen))
          return true;
      }
    }
    const movers m = movers_in(in, b, counts, w.bucket);
    if (m.to_room == 0 && w.looks == 0) {  // on to the first bucket
      w.bucket = in.mirror(w.bucket, w.mover);
      w.mover = scratch_slot::in_other_bucket(w.mover);
      return false;
    }
    const u32 candidates = m.to_room != 0 ? m.to_room : m.freely;
    if (candidates == 0) {
      w.looks = max_looks;
      return false;
    }
    const auto at = words + (w.bucket * slots + b.lowest_slot(candidates));
    const word seen = load_relaxed(at);  // a taken slot stays taken
    const u32 other = in.mirror(w.bucket, seen);
    const word moved = scratch_slot::in_other_bucket(seen);
    const bool promised = m.to_room != 0 && view::reserve(counts + other);
    if (m.to_room != 0 && !promised) return false;
    if (compare_and_swap(at, seen, w.mover) != seen) {
      if (promised) view::give_back(counts + other);
      return false;
    }
    if (!scratch_slot::is_second(seen)) set_bits(filters + w.bucket, 1U << in.filter_index(seen));
    if (promised)
      drop(words, other, moved);
    else
      w.mover = moved, w.bucket = other;
    return promised;
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 nth = static_cast<u32>(block.index()), region = region_of(nth);
    const u32 buckets = design.region_buckets();
    const auto words = block.template scratch<word>();
    const u32 room = static_cast<u32>(list_room(buckets)),
              more_room = static_cast<u32>(homeless_room(buckets));
    const auto items = block.template scratch<table_word>(items_at(buckets));
    const auto homeless = block.template scratch<word>(homeless_at(buckets));
    const auto counts = block.template scratch<u32>(homeless_at(buckets) + more_room * sizeof(word));
    const u64 list_at = homeless_at(buckets) + more_room * sizeof(word) + buckets * sizeof(u32);
    const auto list = block.template scratch<listed_item>(list_at);
    const auto filters = counts + (buckets + list_words(buckets));
    const auto listed = filters + buckets, wandering = listed + 1, taken_up = listed + 2, change = listed + 3,
               numbered = listed + 4;
    const auto bin = bins.at(nth);
    table_word* const home = design.region_at(region);
    auto in = [&] {
      if constexpr (!keeps_first)
        return scratch_slot_of<decltype(items)>{design, {}, items};
      else if constexpr (scratch_slot::is_exact)
        return scratch_slot_of<const table_word*>{design, bins.items_of(design.route().first_of(region)),
                                                  bin};
      else
        return scratch_slot_of<decltype(items)>{design, bins.items_of(design.route().first_of(region)),
                                                items};
    }();
    const u32 me = block.rank(), all = block.size();

    for (u32 i = me; i < buckets; i += all) counts[i] = 0, filters[i] = 0;  // 0
    for (u32 i = me; i < 5; i += all) listed[i] = 0;
    u32 before = 0;
    if (merges) {
      const auto hashes = design.hashes_in(region);
      block.barrier();
      fetch_words<together>(home, buckets * slots, me, all, [&](u32 first, const table_word* held) {
        u32 bits = 0;
        TILEHASH_UNROLL
        for (u32 k = 0; k < together; ++k) {
          const u32 i = first + k;
          const bool taken = !slot_type::is_free(held[k]);
          words[i] = taken ? in.from_table(hashes, i / slots, held[k], numbered) : word(0);
          bits |= static_cast<u32>((held[k] & slot_type::filter_mask) >> slot_type::filter_shift)
                  << (i % slots % 8 * slot_type::filter_bits);
          before += taken;
        }
        if (bits != 0) set_bits(filters + first / slots, bits);
      });
      block.barrier();
      in.held = numbered[0];
      for (u32 b = me; b < buckets; b += all) {
        const view v(words, b, b);
        const u32 taken = ~v.by_slots(v.match(0)) & ((1U << slots) - 1);
        counts[b] = count_ones(taken);
        if ((taken & (taken + 1)) != 0) close_up(in, words, counts, b);
      }
    } else {
      for (u32 i = me; i < buckets * slots; i += all) words[i] = word(0);
    }
    block.barrier();

    const auto take_in = [&](u32 i, const table_word& e) {
      if constexpr (!scratch_slot::is_exact) {
        i += in.held;
        if (i >= most_numbers(buckets)) return spill.add(in.entries.routed_as(e));
        items[i] = e;
      }
      const place p = design.place_of(in.entries.hash_of(e));
      // With its filter bit set, the key may stand in its second bucket from before.
      const bool waits = merges && has_bit(filters + p.bucket, design.filter_index(p.stored));
      const u32 s = waits ? slots : fetch_add(counts + p.bucket, u32(1));
      if (s < slots) {
        words[p.bucket * slots + s] = in.make(p.stored, e, i);
      } else if constexpr (keeps_first) {
        const u32 at = fetch_add(listed, u32(1));
        if (at < room) list[at] = static_cast<listed_item>(i);
      } else {
        append(list, listed, room, i, in.entries.routed_as(e));
      }
    };
    if constexpr (walks_bins) {  // 1
      bin.for_each_item(me, all, [&](u32 i, const table_word& e) {
        take_in(scratch_slot::is_exact ? i : fetch_add(numbered, u32(1)), e);
      });
    } else {
      constexpr u32 at_once = 4;
      const u32 n = bins.size(nth);
      for (u32 first = me; first < n; first += at_once * all) {
        table_word e[at_once];
        TILEHASH_UNROLL
        for (u32 k = 0; k < at_once; ++k) {
          if (first + k * all < n) e[k] = bin[first + k * all];
        }
        TILEHASH_UNROLL
        for (u32 k = 0; k < at_once; ++k) {
          if (first + k * all < n) take_in(first + k * all, e[k]);
        }
      }
    }
    block.barrier();

    if constexpr (!moves_regions) {
      for (u32 b = me; b < buckets; b += all) remove_twins(in, words, counts, b);  // 2
      block.barrier();
    }

    u32 waiting = listed[0] < room ? u32(listed[0]) : room;
    bool from_list = true;
    if constexpr (keeps_first) {  // no room for all: all are asked, and who has a place finds itself there
      from_list = listed[0] <= room;
      if (!from_list)
        waiting = bins.size(nth) < most_numbers(buckets) ? bins.size(nth) : most_numbers(buckets);
    }
    for (u32 q = me; q < waiting; q += all) {  // 3
      const u32 number = from_list ? u32(list[q]) : q;
      table_word e;
      if constexpr (scratch_slot::is_exact)
        e = bin[number];
      else
        e = items[number];
      const place p = design.place_of(in.entries.hash_of(e));
      place second = p;
      design.turn(second);
      const u32 bit = design.filter_index(p.stored);
      if (merges && has_bit(filters + p.bucket, bit) &&
          match_key(in, view(words, second.bucket, second.bucket), in.make(second.stored, e, number)) != 0)
        continue;
      outcome o = put(in, words, counts, p.bucket, in.make(p.stored, e, number));
      if (o == outcome::refused) {
        set_bits(filters + p.bucket, 1U << bit);
        o = put(in, words, counts, second.bucket, in.make(second.stored, e, number));
      }
      if (o == outcome::refused)
        append(homeless, wandering, more_room, scratch_slot::handle(e, number), in.entries.routed_as(e));
    }
    block.barrier();

    const u32 left = wandering[0] < more_room ? u32(wandering[0]) : more_room;
    walker walk;
    for (bool walking = false;;) {  // 4; who has found a place for an item takes the next
      if (!walking) {
        const u32 q = fetch_add(taken_up, u32(1));
        if (q >= left) break;
        const word handle = homeless[q];
        const table_word e = in.entry_at(handle);
        place p = design.place_of(in.entries.hash_of(e));
        design.turn(p);
        walk = {in.make(p.stored, e, scratch_slot::number_in(handle)), p.bucket, 0,
                static_cast<u64>(in.entries.hash_of(e))};
      }
      const bool placed = step(in, walk, words, counts, filters);
      walking = !placed && ++walk.looks < max_looks;
      if (!placed && !walking) spill.add(in.entry_of(region, walk.bucket, walk.mover));
    }
    block.barrier();

    if constexpr (!moves_regions) {
      for (u32 q = me; q < left; q += all) {  // 5
        const word handle = homeless[q];
        const table_word e = in.entry_at(handle);
        place p = design.place_of(in.entries.hash_of(e));
        auto stays = words;
        word it = 0;
        for (u32 half = 0; half < 2; ++half, design.turn(p)) {
          const view b(words, p.bucket, p.bucket);
          u32 twins = match_key(in, b, in.make(p.stored, e, scratch_slot::number_in(handle)));
          for (; twins != 0; twins &= twins - 1) {  // all that look for this key keep the same one
            const auto at = words + (p.bucket * slots + b.lowest_slot(twins));
            const word w = load_relaxed(at);
            if (scratch_slot::is_free(w)) continue;  // another has taken it out
            bool stays_now = scratch_slot::is_free(it);
            if constexpr (keeps_first) {
              if (!stays_now && in.is_before(w, it)) compare_and_swap(stays, it, word(0)), stays_now = true;
            }
            if (stays_now)
              stays = at, it = w;
            else
              compare_and_swap(at, w, word(0));
          }
        }
      }
      block.barrier();
    }

    if constexpr (keeps_first && scratch_slot::is_exact) {
      // The values, before the region takes the bin's place: the bin is read in order, as single values would
      // cost a sector each. In the place of the homeless items, the counts and the list an entry's slot.
      const auto slot_of = block.template scratch<u16>(homeless_at(buckets));
      const auto two = block.template scratch<u32>(homeless_at(buckets));
      constexpr u32 nowhere = 0xffff, at_once = 4;
      const u32 n = bins.size(nth),
                most = static_cast<u32>(more_room * sizeof(word) / 2) + buckets * 2 + room;
      const u32 known = n < most ? n : most;  // (a bin may be larger than its region)
      for (u32 i = me; i < (known + 1) / 2; i += all) two[i] = ~u32(0);
      block.barrier();
      for (u32 i = me; i < buckets * slots; i += all) {
        const word w = words[i];
        if (scratch_slot::is_free(w)) continue;
        const u32 number = scratch_slot::number_in(w);
        if (number < known)
          slot_of[number] = static_cast<u16>(i);
        else
          scratch_slot::set_value(words + i, bin[number]);
      }
      block.barrier();
      for (u32 first = me; first < known; first += at_once * all) {
        table_word e[at_once];
        TILEHASH_UNROLL
        for (u32 k = 0; k < at_once; ++k) {
          if (first + k * all < known) e[k] = bin[first + k * all];
        }
        TILEHASH_UNROLL
        for (u32 k = 0; k < at_once; ++k) {
          const u32 at = first + k * all < known ? u32(slot_of[first + k * all]) : nowhere;
          if (at != nowhere) scratch_slot::set_value(words + at, e[k]);
        }
      }
      block.barrier();
    }

    if constexpr (for_trial) return;

    u32 after = 0;
    for (u32 i = me * together; i < buckets * slots; i += all * together) {  // 6
      struct alignas(16) some {
        table_word words[together];
      } out;
      const u32 filter = filters[i / slots];
      TILEHASH_UNROLL
      for (u32 k = 0; k < together; ++k) {
        const word w = words[i + k];
        const u32 s = (i + k) % slots;
        const u32 bits = s < 8 ? filter >> (s * slot_type::filter_bits) & 7 : 0;
        after += !scratch_slot::is_free(w);
        out.words[k] = static_cast<table_word>(in_table(in, w) | static_cast<table_word>(bits)
                                                                     << slot_type::filter_shift);
      }
      *reinterpret_cast<some*>(home + i) = out;
    }
    if (after != before) fetch_add(change, after - before);  // modulo 2^32, as is its sum
    block.barrier();
    if (me == 0) fetch_add(inserted, static_cast<u64>(u32(change[0])));
  }

  // Of the nth bin.
  TILEHASH_FN u32 region_of(u32 nth) const {
    if constexpr (for_trial)
      return bins.number_of(nth);
    else
      return first_region + nth;
  }
  // A word of the scratch as the table has it, without filter bits.
  TILEHASH_FN static table_word in_table(const auto& in, word w) {
    if constexpr (scratch_slot::is_exact) {
      return static_cast<table_word>(w & ~scratch_slot::was_there);
    } else {
      if (scratch_slot::is_free(w)) return 0;
      return slot_type::make(in.full_stored(w), entry::value_of(in.entry_of(0, 0, w)));
    }
  }

  template <class Filters>
  TILEHASH_FN static bool has_bit(Filters at, u32 bit) {
    return (load_relaxed(at) >> bit & 1) != 0;
  }
  // Puts an item of the bin on a list, or hands it to the caller when the list is full.
  template <class List, class Length, class Item>
  TILEHASH_FN void append(List list, Length length, u32 room, Item item, const table_word& e) const {
    const u32 at = fetch_add(length, u32(1));
    if (at < room)
      list[at] = item;
    else
      spill.add(e);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
