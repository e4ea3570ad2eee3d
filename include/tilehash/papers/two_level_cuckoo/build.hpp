// The build of `two_level_cuckoo`: partition the items, then build the regions in block-local memory.
//
//   items --partition--> | bin 0 | bin 1 | ... one for each group of neighbouring regions
//                           | ^     | ^
//                         block 0  block 1 ... each reads its bin, builds the group's regions in its scratch
//                                              and writes them to the table
//
// The partition is partition.hpp's. A bin is the memory of its group's slots: there is a
// slot for each item, so the build needs next to no memory beside the table. Where a key comes so often that
// its bin overflows, the bins' counts are known all the same, and the items are partitioned a second time,
// into bins as large as they must be. (Words of 16 bytes always have bins beside the table.)
//
// Building a group, with a barrier between the steps:
//   0  clear the scratch
//   1  put every item into the first empty one of its three spots; where none is, take the place of the key
//      in one of them, which then looks for another of its own. A key that meets its like is dropped. A key
//      that has looked too often gives the region up for this seed
//   2  clear the regions that were given up; then step 1 again, with the next seed, for their items alone
//   3  write the regions and their seeds out. Of equal keys that did not meet, because one was on its way
//      while the other looked, the one in the first spot stays
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// What a build counts: items whose key is NaN, items in sentinel cells, items in the regions, and groups with
// a region that was given up under all seeds.
struct two_level_counter {
  static constexpr u32 illegal = 0, sentinels = 1, stored = 2, hopeless = 3, all = 4;
};

// Which group a key's region is in, as the partition asks for it: its regions are our groups.
template <class Design>
struct two_level_groups : keys_as_they_are<typename Design::slot_type> {
  using key_bits = typename Design::key_bits;

  Design design;
  u32 shift;  // log2 of the regions of a group

  two_level_groups(const Design& d, u32 log2_of_a_group) : design(d), shift(log2_of_a_group) {}
  TILEHASH_FN u32 regions() const { return ((design.regions() - 1) >> shift) + 1; }
  TILEHASH_FN u32 region_of(key_bits k) const { return design.region_of(design.hash(k)) >> shift; }
};

// Items whose keys live in sentinel cells are put there, and to the partition they are not there.
template <class Slot, class Source>
struct items_without_sentinels {
  Source source;
  sentinel_cells<Slot> cells;
  u64* count;

  TILEHASH_FN detail::item<Slot> operator()(u64 i) const {
    detail::item<Slot> x = source(i);
    if constexpr (Slot::reserves_keys) {
      if (x.valid && x.key.reserved) {
        cells.insert(x.key.bits, x.value);
        fetch_add(count, u64(1));
        x.valid = false;
      }
    }
    return x;
  }
};

// What stands in a block's scratch for an item: its slot's word.
template <class Design>
struct two_level_scratch_slot {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using type = word;
  static constexpr type empty = slot_type::empty_word;

  Design design;
  const word* bin;  // not needed

  TILEHASH_FN type make(word w, u64 /*hash*/, u32 /*number*/) const { return w; }
  TILEHASH_FN word word_of(type x) const { return x; }
  TILEHASH_FN u32 spot_bits(type x) const { return design.spot_bits(design.hash(slot_type::key_of(x))); }
  TILEHASH_FN bool same_key(type a, type b) const { return slot_type::key_of(a) == slot_type::key_of(b); }
};
// Words of 16 bytes cannot be swapped in shared memory. So 8 bytes stand for one: the bits of its hash from
// which its spots are reckoned, and one more than the number of its entry in the bin.
template <class Design>
  requires(sizeof(typename Design::word) == 16)
struct two_level_scratch_slot<Design> {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using type = u64;
  static constexpr type empty = 0;

  Design design;
  const word* bin;

  TILEHASH_FN type make(const word& /*entry*/, u64 hash, u32 number) const {
    return static_cast<u64>(design.spot_bits(hash)) << 32 | (number + 1);
  }
  TILEHASH_FN word word_of(type x) const { return bin[static_cast<u32>(x) - 1]; }
  TILEHASH_FN u32 spot_bits(type x) const { return static_cast<u32>(x >> 32); }
  TILEHASH_FN bool same_key(type a, type b) const {
    return a >> 32 == b >> 32 && a != empty && b != empty &&
           slot_type::key_of(word_of(a)) == slot_type::key_of(word_of(b));
  }
};

template <class Design>
struct two_level_build {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using scratch_slot = two_level_scratch_slot<Design>;
  using scratch_word = typename scratch_slot::type;
  using spots = typename Design::spots;
  using counts_of = two_level_counter;
  static constexpr u32 block_size = 1024;
  static constexpr bool builds_in_place = sizeof(word) <= 8;  // the bins are the table
  static constexpr u32 max_looks = 128;                       // of a key, and of those that make room for it
  static constexpr u32 nowhere = ~u32(0);

  Design design;
  u32 shift;  // log2 of the regions of a group
  uneven_bins<word> bins;
  u64* counts;

  // Scratch: what the slots hold; for each region the seed it is built with; how many regions were given up
  // under a seed, and how many items are in the table.
  static constexpr u64 scratch_bytes(u32 shift, u32 region_slots) {
    return (u64(region_slots) << shift) * sizeof(scratch_word) + ((u64(1) << shift) + 2) * sizeof(u32);
  }
  // Groups are large, so that the partition writes long runs, but each block should have one.
  template <class Space>
  static u32 group_shift(const Space& space, const Design& design) {
    const u64 room = space.largest_scratch();
    if (scratch_bytes(0, design.region_slots()) > room)
      refuse("a region of " + std::to_string(design.region_slots()) + " slots takes " +
             std::to_string(scratch_bytes(0, design.region_slots())) +
             " bytes of a block's memory, of which there are " + std::to_string(room) +
             "; take smaller regions (two_level_cuckoo's Capacity)");
    const u64 wanted = least_regions(space);
    u32 shift = 0;
    while ((Design::region_items << (shift + 1)) <= 16384 && (design.regions() >> (shift + 1)) >= wanted &&
           scratch_bytes(shift + 1, design.region_slots()) <= room)
      ++shift;
    return shift;
  }

  // A key on its way to a place.
  struct walker {
    scratch_word key;
    u32 base;  // its region's first slot in the scratch
    u32 from;  // the slot of the region that it had to leave, if any
    u32 looks;
  };
  // One look at the walker's three spots. True when no more is needed: it, or the last one that had to make
  // room, has a place, or its key is there.
  template <class Words>
  TILEHASH_FN bool step(const scratch_slot& in, walker& w, Words words, u32 seed) const {
    const spots s = design.spots_of(in.spot_bits(w.key), seed);
    scratch_word seen[3];
    bool known = false;
    TILEHASH_UNROLL
    for (u32 k = 0; k < 3; ++k) seen[k] = load_relaxed(words + (w.base + s.at[k]));
    TILEHASH_UNROLL
    for (u32 k = 0; k < 3; ++k) known |= in.same_key(seen[k], w.key);
    if (known) return true;
    // The spot after the one it had to leave; where two spots are the same slot, not that one again.
    u32 to = s.at[0];
    scratch_word old = seen[0];
    if (w.from == s.at[0] && s.at[1] != w.from)
      to = s.at[1], old = seen[1];
    else if ((w.from == s.at[0] || w.from == s.at[1]) && s.at[2] != w.from)
      to = s.at[2], old = seen[2];
    TILEHASH_UNROLL
    for (u32 k = 3; k-- > 0;) {
      if (seen[k] == scratch_slot::empty) to = s.at[k], old = scratch_slot::empty;
    }
    if (compare_and_swap(words + (w.base + to), old, w.key) != old) return false;
    if (old == scratch_slot::empty) return true;
    w.key = old;
    w.from = to;
    return false;
  }

  // Did this key, in slot `at` of its region, meet none of its like only because both were on their way?
  template <class Words>
  TILEHASH_FN bool is_twin(const scratch_slot& in, Words words, u32 base, u32 at, scratch_word key,
                           u32 seed) const {
    const spots s = design.spots_of(in.spot_bits(key), seed);
    bool before = true, twin = false;  // are we at a spot before this one?
    TILEHASH_UNROLL
    for (u32 k = 0; k < 3; ++k) {
      before = before && s.at[k] != at;
      const scratch_word other = words[base + s.at[k]];
      twin |= before && in.same_key(other, key);
    }
    return twin;
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), all = block.size(), group = static_cast<u32>(block.index());
    const u32 first = group << shift, slots = design.region_slots();
    const u32 left = design.regions() - first, regions = left >> shift == 0 ? left : 1U << shift;
    const auto words = block.template scratch<scratch_word>();
    const auto seeds = block.template scratch<u32>((u64(slots) << shift) * sizeof(scratch_word));
    const auto given_up = seeds + (1U << shift), stored = given_up + 1;
    const word* const bin = bins.at(group);
    const scratch_slot in{design, bin};
    const u32 n = bins.fill[group];

    for (u32 i = me; i < regions * slots; i += all) words[i] = scratch_slot::empty;  // 0
    for (u32 i = me; i < (1U << shift) + 2; i += all) seeds[i] = 0;
    block.barrier();

    u32 seed = 0, before = 0;
    for (; seed < Design::max_seeds; ++seed) {
      walker w{};
      bool walking = false;
      word coming = me < n ? bin[me] : word(0);  // asked for while the item before finds its place
      for (u32 i = me;;) {                       // 1; who has found a place for an item takes the next
        if (!walking) {
          if (i >= n) break;
          const word e = coming;
          if (n - i > all) coming = bin[i + all];
          const u64 hash = design.hash(slot_type::key_of(e));
          const u32 region = design.region_of(hash) - first;
          w = {in.make(e, hash, i), region * slots, nowhere, 0};
          i = n - i > all ? i + all : n;  // n may be near 2^32
          if (load_relaxed(seeds + region) != seed) continue;
        }
        walking = !step(in, w, words, seed);
        if (walking && ++w.looks >= max_looks) {
          walking = false;
          if (compare_and_swap(seeds + w.base / slots, seed, seed + 1) == seed) fetch_add(given_up, u32(1));
        }
      }
      block.barrier();
      const u32 now = given_up[0];
      if (now == before) break;
      before = now;
      for (u32 r = 0; r < regions; ++r) {  // 2
        if (seeds[r] != seed + 1) continue;
        for (u32 i = me; i < slots; i += all) words[r * slots + i] = scratch_slot::empty;
      }
      block.barrier();
    }

    u32 kept = 0;
    word* const out = design.region_at(first);
    for (u32 i = me, at = me, r = 0; i < regions * slots; i += all, at += all) {  // 3
      while (at >= slots) at -= slots, ++r;
      const scratch_word x = words[i];
      word content = slot_type::empty_word;
      if (x != scratch_slot::empty) {
        const bool twin = all > 1 && is_twin(in, words, r * slots, at, x, seeds[r]);
        content = twin ? slot_type::tombstone_word : in.word_of(x);
        kept += !twin;
      }
      out[i] = content;
    }
    for (u32 r = me; r < regions; r += all) design.seeds()[first + r] = static_cast<u8>(u32(seeds[r]));
    fetch_add(stored, kept);
    block.barrier();
    if (me != 0) return;
    fetch_add(counts + counts_of::stored, static_cast<u64>(u32(stored[0])));
    if (seed == Design::max_seeds) fetch_add(counts + counts_of::hopeless, u64(1));
  }
};

// Builds the table from n items. What it gives is not complete when a region could not be built.
template <class Space, class Design, class Source>
build_result build_two_level(Space& space, const Design& design, const Source& source, u64 n,
                             const sentinel_cells<typename Design::slot_type>& cells) {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using build_type = two_level_build<Design>;
  using groups_type = two_level_groups<Design>;
  using counts_of = two_level_counter;
  using source_type = items_without_sentinels<slot_type, Source>;
  const u32 shift = build_type::group_shift(space, design);
  const groups_type route(design, shift);
  const u32 groups = route.regions(), room = design.region_slots() << shift;
  buffer<u32, Space> fill(space, groups);
  buffer<u64, Space> counts(space, counts_of::all);
  buffer<word, Space> beside(space, build_type::builds_in_place ? 0 : static_cast<u64>(groups) * room);
  buffer<u64, Space> starts;
  const u32 last_room = static_cast<u32>(design.capacity() - static_cast<u64>(groups - 1) * room);
  uneven_bins<word> bins{{build_type::builds_in_place ? design.slots() : beside.data(), room, fill.data()},
                         groups - 1,
                         last_room};
  const auto partition = [&] {
    space.fill(counts.data(), counts_of::all, u64(0));
    const source_type items{source, cells, counts.data() + counts_of::sentinels};
    send_to_bins(space, route, items, n, bins, counts.data() + counts_of::illegal);
    return fill.to_host();
  };

  const auto sizes = partition();
  if (n > ~u32(0)) {  // a bin's count may have gone round
    const auto known = counts.to_host();
    require(std::accumulate(sizes.begin(), sizes.end(), u64(0)) + known[counts_of::illegal] +
                    known[counts_of::sentinels] ==
                n,
            "two_level_cuckoo: over 2^32 items fall to one block; leave out repeated keys");
  }
  if (grow_bins(space, bins, sizes, beside, starts)) partition();
  space.for_each_block(groups, build_type::block_size,
                       build_type::scratch_bytes(shift, design.region_slots()),
                       build_type{design, shift, bins, counts.data()});

  const auto sums = counts.to_host();
  build_result result;
  result.complete = sums[counts_of::hopeless] == 0;
  insert_report& report = result.report;
  report.inserted = sums[counts_of::stored];
  if constexpr (slot_type::reserves_keys) {
    typename sentinel_cells<slot_type>::cell two[2];
    space.copy_to_host(two, cells.cells, sizeof two);
    report.inserted += two[0].taken() + two[1].taken();
  }
  report.refused = sums[counts_of::illegal];
  report.present = n - report.inserted - report.refused;
  return result;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
