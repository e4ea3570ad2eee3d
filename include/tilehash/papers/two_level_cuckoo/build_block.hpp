// SPDX-License-Identifier: Apache-2.0
// The kernel that builds the regions of a `two_level_cuckoo` table, a block for each group of regions.
// build.hpp describes its steps.
#pragma once

#include <string>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The counters of a build: NaN keys, items in sentinel cells, items in the regions, and groups with a region
// that was given up under all seeds.
struct two_level_counter {
  static constexpr u32 illegal = 0, sentinels = 1, stored = 2, hopeless = 3, all = 4;
};

// The scratch's representation of an item: its slot's word.
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
// Shared memory has no compare-and-swap of 16 bytes. So 8 bytes represent such a word: the bits of its hash
// that determine its spots, and one more than the number of its entry in the bin.
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
  static constexpr u32 block_size = tuning::gpu::large_block;
  static constexpr bool builds_in_place = sizeof(word) <= 8;  // the bins are the table
  static constexpr u32 max_looks = 128;                       // of a key, and of those that it displaces
  static constexpr u32 nowhere = ~u32(0);

  Design design;
  u32 shift;  // log2 of the regions of a group
  uneven_bins<word> bins;
  u64* counts;

  template <class Offset = u32>
  struct layout {
    enum total : u32 { given_up, stored, totals };  // regions under a seed; items in the table

    scratch_array<scratch_word, Offset> words;  // the slots
    scratch_array<u32, Offset> seeds;           // with which each region is built
    scratch_array<u32, Offset> numbers;         // one for each `total`

    TILEHASH_FN constexpr layout(u32 shift, Offset region_slots)
        : words(region_slots << shift), seeds(words, Offset(1) << shift), numbers(seeds, totals) {}
    TILEHASH_FN constexpr Offset bytes() const { return numbers.end(); }
  };
  static constexpr u64 scratch_bytes(u32 shift, u32 region_slots) {
    return layout<u64>(shift, region_slots).bytes();
  }
  // Groups are large, so that the partition writes long runs, but there are enough for all blocks.
  template <class Space>
  static u32 group_shift(const Space& space, const Design& design) {
    const u64 available = space.largest_scratch();
    if (scratch_bytes(0, design.region_slots()) > available)
      refuse("a region of " + std::to_string(design.region_slots()) + " slots takes " +
             std::to_string(scratch_bytes(0, design.region_slots())) +
             " bytes of a block's memory, of which there are " + std::to_string(available) +
             "; take smaller regions (two_level_cuckoo's Capacity)");
    const u64 wanted = least_regions(space);
    u32 shift = 0;
    while ((Design::region_items << (shift + 1)) <= tuning::of<Space>::rows_region &&
           (design.regions() >> (shift + 1)) >= wanted &&
           scratch_bytes(shift + 1, design.region_slots()) <= available)
      ++shift;
    return shift;
  }

  // A key that has no slot yet.
  struct in_flight_item {
    scratch_word key;
    u32 base;  // its region's first slot in the scratch
    u32 from;  // the slot of the region that it was evicted from, if any
    u32 looks;
  };
  // Looks once at the three spots of the in-flight key. True if it is done: it, or the last key that it
  // displaced, has a slot, or its key is present.
  template <class Words>
  TILEHASH_FN bool step(const scratch_slot& in, in_flight_item& w, Words words, u32 seed) const {
    const spots s = design.spots_of(in.spot_bits(w.key), seed);
    scratch_word seen[3];
    bool known = false;
    TILEHASH_UNROLL
    for (u32 k = 0; k < 3; ++k) seen[k] = load_relaxed(words + (w.base + s.at[k]));
    TILEHASH_UNROLL
    for (u32 k = 0; k < 3; ++k) known |= in.same_key(seen[k], w.key);
    if (known) return true;
    // The spot after the one that it was evicted from; if two spots are the same slot, not that one again.
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

  // True if this key, in slot `at` of its region, has an equal one that it missed as both were in flight.
  template <class Words>
  TILEHASH_FN bool is_repeated(const scratch_slot& in, Words words, u32 base, u32 at, scratch_word key,
                               u32 seed) const {
    const spots s = design.spots_of(in.spot_bits(key), seed);
    bool before = true, repeated = false;  // are the spots so far before this one?
    TILEHASH_UNROLL
    for (u32 k = 0; k < 3; ++k) {
      before = before && s.at[k] != at;
      const scratch_word other = words[base + s.at[k]];
      repeated |= before && in.same_key(other, key);
    }
    return repeated;
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    block_of<Block> work(*this, block);
    work.clear();
    block.barrier();
    for (; work.seed < Design::max_seeds; ++work.seed) {
      work.place();
      block.barrier();
      if (!work.has_given_up()) break;
      work.clear_given_up();
      block.barrier();
    }
    work.write_back();
    block.barrier();
    work.count();
  }

 private:
  // One thread's view of a block that builds its group.
  template <class Block>
  struct block_of {
    const two_level_build& build;
    u32 me, all, group, first, slots, regions;
    scratch_in<scratch_word, Block> words;
    scratch_in<u32, Block> seeds, numbers;
    const word* bin;
    scratch_slot in;
    u32 n;
    u32 seed = 0;
    u32 before = 0;  // regions that were given up under earlier seeds

    TILEHASH_FN block_of(const two_level_build& of, const Block& b)
        : block_of(of, b, layout<>(of.shift, of.design.region_slots())) {}

    // Step 0.
    TILEHASH_FN void clear() {
      for (u32 i = me; i < regions * slots; i += all) words[i] = scratch_slot::empty;
      for (u32 i = me; i < (1U << build.shift) + layout<>::totals; i += all) seeds[i] = 0;  // and the numbers
    }
    // Step 1. A thread that has found a slot for an item takes the next.
    TILEHASH_FN void place() {
      in_flight_item w{};
      bool walking = false;
      word coming = me < n ? bin[me] : word(0);  // fetched while the item before finds its slot
      for (u32 i = me;;) {
        if (!walking) {
          if (i >= n) break;
          const word e = coming;
          if (n - i > all) coming = bin[i + all];
          const u64 hash = build.design.hash(slot_type::key_of(e));
          const u32 region = build.design.region_of(hash) - first;
          w = {in.make(e, hash, i), region * slots, nowhere, 0};
          i = n - i > all ? i + all : n;  // n may be near 2^32
          if (load_relaxed(seeds + region) != seed) continue;
        }
        walking = !build.step(in, w, words, seed);
        if (walking && ++w.looks >= max_looks) {
          walking = false;
          if (compare_and_swap(seeds + w.base / slots, seed, seed + 1) == seed)
            fetch_add(numbers + layout<>::given_up, u32(1));
        }
      }
    }
    // True if a region was given up under this seed.
    TILEHASH_FN bool has_given_up() {
      const u32 now = numbers[layout<>::given_up], then = before;
      before = now;
      return now != then;
    }
    // Step 2.
    TILEHASH_FN void clear_given_up() {
      for (u32 r = 0; r < regions; ++r) {
        if (seeds[r] != seed + 1) continue;
        for (u32 i = me; i < slots; i += all) words[r * slots + i] = scratch_slot::empty;
      }
    }
    // Step 3.
    TILEHASH_FN void write_back() {
      u32 kept = 0;
      word* const out = build.design.region_at(first);
      for (u32 i = me, at = me, r = 0; i < regions * slots; i += all, at += all) {
        while (at >= slots) at -= slots, ++r;
        const scratch_word x = words[i];
        word content = slot_type::empty_word;
        if (x != scratch_slot::empty) {
          const bool repeated = all > 1 && build.is_repeated(in, words, r * slots, at, x, seeds[r]);
          content = repeated ? slot_type::tombstone_word : in.word_of(x);
          kept += !repeated;
        }
        out[i] = content;
      }
      for (u32 r = me; r < regions; r += all)
        build.design.seeds()[first + r] = static_cast<u8>(u32(seeds[r]));
      fetch_add(numbers + layout<>::stored, kept);
    }
    TILEHASH_FN void count() {
      if (me != 0) return;
      fetch_add(build.counts + counts_of::stored, static_cast<u64>(u32(numbers[layout<>::stored])));
      if (seed == Design::max_seeds) fetch_add(build.counts + counts_of::hopeless, u64(1));
    }

   private:
    TILEHASH_FN block_of(const two_level_build& of, const Block& b, const layout<>& memory)
        : build(of),
          me(b.rank()),
          all(b.size()),
          group(static_cast<u32>(b.index())),
          first(group << of.shift),
          slots(of.design.region_slots()),
          regions(0),
          words(memory.words.in(b)),
          seeds(memory.seeds.in(b)),
          numbers(memory.numbers.in(b)),
          bin(of.bins.at(group)),
          in{of.design, bin},
          n(of.bins.fill[group]) {
      const u32 left = of.design.regions() - first;
      regions = left >> of.shift == 0 ? left : 1U << of.shift;
    }
  };
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
