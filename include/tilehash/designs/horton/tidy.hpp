// SPDX-License-Identifier: Apache-2.0
// Tidies a bucket of a Horton table after keys were erased. Its secondary items return from other buckets,
// entry by entry, into its free slots. Entries that no item uses are cleared. The bucket becomes type A when
// no secondary item is left, or one that the last slot can take.
//
// No other thread puts items into this bucket, changes its entries or moves its secondary items; others at
// most take their own secondary items out of it. So plain stores suffice, and the buckets of several entries
// are read concurrently.
//
// The same code serves buckets in the table's memory, each read by a tile, and those of a region in a block's
// scratch, each read by one thread.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/space/solo_tile.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A region's buckets in the table. `words`: from its first one on.
template <class Design, class Tile>
struct horton_region_in_table {
  using word = typename Design::word;
  using bucket = typename Design::template bucket_type<Tile>;
  word* words;

  TILEHASH_FN bucket read(Tile t, u32 number, bool active) const {
    return bucket::read_shared(t, words + static_cast<u64>(number) * Design::bucket_slots, active);
  }
  TILEHASH_FN word load(u32 number, u32 slot) const { return load_relaxed(at(number, slot)); }
  TILEHASH_FN void put(u32 number, u32 slot, word content) const { store_relaxed(at(number, slot), content); }

  TILEHASH_FN word* at(u32 number, u32 slot) const {
    return words + (static_cast<u64>(number) * Design::bucket_slots + slot);
  }
};

// The same in a block's scratch.
template <class Design, class Words>
struct horton_region_in_scratch {
  using word = typename Design::word;
  using view = scratch_bucket<word, Design::bucket_slots>;
  Words words;

  struct bucket {
    Words words;
    u32 first;
    view v;
    template <class Test>
    TILEHASH_FN u32 match_if(solo_tile /*t*/, const Test& test) const {
      return v.by_slots(v.match_if(test));
    }
    TILEHASH_FN word at(solo_tile /*t*/, u32 slot) const { return load_relaxed(words + (first + slot)); }
  };
  TILEHASH_FN bucket read(solo_tile /*t*/, u32 number, bool /*active*/) const {
    return {words, number * Design::bucket_slots, view(words, number, number)};
  }
  TILEHASH_FN word load(u32 number, u32 slot) const { return load_relaxed(at(number, slot)); }
  // Atomic: race checkers of a GPU's shared memory report a plain store concurrent with reads as a race.
  TILEHASH_FN void put(u32 number, u32 slot, word content) const { exchange(at(number, slot), content); }

  TILEHASH_FN auto at(u32 number, u32 slot) const { return words + (number * Design::bucket_slots + slot); }
};

// A collective of the tile. `number`: within the region.
template <class Design, class Tile, class Region>
TILEHASH_FN void tidy_horton_bucket(const Design& design, Tile t, const Region& region, u32 number,
                                    bool active) {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  constexpr u32 at_once = tuning::here::tidied_at_once, last_slot = Design::last_slot;
  const auto b = region.read(t, number, active);
  const word before = b.at(t, last_slot);
  active = active && slot_type::is_remap(before);
  word entries = before;
  u32 free = b.match_if(t, slot_type::is_free), secondary = 0;  // secondary items that stay in other buckets
  u32 last_bucket = number, last_secondary = 0;
  for (u64 unseen = active ? slot_type::all_entries(before) : 0; t.any(unseen != 0);) {
    u32 tag[at_once], function[at_once], there[at_once];
    TILEHASH_UNROLL
    for (u32 q = 0; q < at_once; ++q) {
      tag[q] = unseen != 0 ? slot_type::first_tag(unseen) : 0;
      function[q] = unseen != 0 ? slot_type::entry(before, tag[q]) : 0;
      there[q] = design.other_bucket(number, tag[q], function[q]);
      unseen &= ~(u64(7) << 3 * tag[q]);
    }
    const decltype(region.read(t, number, active)) away[at_once] = {
        region.read(t, there[0], function[0] != 0), region.read(t, there[1], function[1] != 0)};
    TILEHASH_UNROLL
    for (u32 q = 0; q < at_once; ++q) {
      const u32 group = Design::in_group(t, away[q], tag[q], function[q]);
      u32 items = function[q] != 0 ? group : 0;
      while (t.any(items != 0 && free != 0)) {  // at most once for each slot
        const u32 from = items != 0 ? lowest(items) : 0;
        const word content = away[q].at(t, from);
        if (items == 0 || free == 0) continue;
        if (t.rank() == 0) {
          region.put(number, lowest(free), Design::at_home(content));
          region.put(there[q], from, slot_type::empty_word);
        }
        items &= items - 1;
        free &= free - 1;
      }
      if (function[q] != 0 && items == 0) entries = slot_type::with_entry(entries, tag[q], 0);
      if (items != 0) last_bucket = there[q], last_secondary = lowest(items);
      secondary += count_ones(items);
    }
  }
  if (!active || t.rank() != 0) return;
  if (secondary == 1) {
    entries = Design::at_home(region.load(last_bucket, last_secondary));
    region.put(last_bucket, last_secondary, slot_type::empty_word);
  } else if (entries == slot_type::no_entries) {
    entries = slot_type::empty_word;
  }
  if (entries != before) region.put(number, last_slot, entries);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
