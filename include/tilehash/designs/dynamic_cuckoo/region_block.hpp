// SPDX-License-Identifier: Apache-2.0
// The block kernel that builds a region of subtables in its scratch (dynamic_cuckoo/region_build.hpp).
//
// A block inserts as exactly as single inserts do: a key takes the first free slot of its sequence by
// compare-and-swap, slots only fill up, and equal keys meet there. No key moves, so a taken slot is final,
// and its value is written at once. An item whose buckets are all full goes to the spill, and is inserted one
// by one; so does the key of the sentinel cell.
#pragma once

#include <type_traits>

#include <tilehash/algorithm/bins.hpp>
#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/apart_slot.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Cargo>
struct subtables_region_build {
  using apart = typename Cargo::apart;
  using word = typename apart::word;
  using arrived = typename Cargo::word;
  using entry = typename Cargo::entry;
  using value_element = typename Cargo::value_element;
  using design_type = typename Cargo::design_type;
  static constexpr u32 block_size = tuning::gpu::large_block;
  static constexpr u32 slots = 64 / sizeof(word), subtables = design_type::subtables;
  static constexpr u32 no_slot = ~u32(0);

  Cargo cargo;
  even_bins<arrived> bins;
  spill_list<arrived> spill;
  u64* inserted;

  template <class Offset = u32>
  struct layout {
    scratch_array<word, Offset> keys;  // of the region's buckets in each subtable
    scratch_array<u32, Offset> fresh;  // the number of new keys

    TILEHASH_FN constexpr explicit layout(Offset buckets)
        : keys(subtables * buckets * slots), fresh(keys, 1) {}
    TILEHASH_FN constexpr Offset bytes() const { return fresh.end(); }
  };
  static u64 scratch_bytes(const design_type& d) { return layout<u64>(d.region_buckets()).bytes(); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    block_of<Block> work(*this, block);
    work.clear();
    block.barrier();
    work.place();
    block.barrier();
    work.write_keys();
  }

 private:
  // One thread's view of a block that builds its region.
  template <class Block>
  struct block_of {
    const subtables_region_build& build;
    u32 nth, n, me, all, buckets;
    u64 first_bucket, first_slot;
    arrived* bin;
    scratch_in<word, Block> keys;
    scratch_in<u32, Block> fresh;

    TILEHASH_FN block_of(const subtables_region_build& of, const Block& b)
        : build(of),
          nth(static_cast<u32>(b.index())),
          n(of.bins.size(nth)),
          me(b.rank()),
          all(b.size()),
          buckets(of.cargo.design.region_buckets()),
          first_bucket(u64(of.cargo.first + nth) * buckets),
          first_slot(first_bucket * slots),
          bin(of.bins.at(nth)),
          keys(layout<>(buckets).keys.in(b)),
          fresh(layout<>(buckets).fresh.in(b)) {}

    TILEHASH_FN void clear() {
      const u32 words = subtables * buckets * slots;
      for (u32 i = me; i < words; i += all) keys[i] = apart::empty_word;
      if (me == 0) fresh[0] = 0;
    }
    TILEHASH_FN void place() {
      u32 came = 0;
      for (u32 i = me; i < n; i += all) {
        const arrived e = bin[i];
        const claimed to = find_slot(e);
        if (to.at != no_slot) write_value(e, to);
        came += to.at != no_slot;
      }
      if (came != 0) fetch_add(fresh, came);
    }
    TILEHASH_FN void write_keys() {
      for (u32 t = 0; t < subtables; ++t)
        put_words<4>(keys + t * buckets * slots, buckets * slots, me, all,
                     build.cargo.design.part_of(t).keys + first_slot);
      if (me == 0) fetch_add(build.inserted, u64(u32(fresh[0])));
    }

   private:
    // A bucket's number among those of the region, by subtables.
    TILEHASH_FN u32 number_of(const typename design_type::location& p) const {
      const auto& design = build.cargo.design;
      return p.table * buckets +
             static_cast<u32>(design.bucket_number(p, design.part_of(p.table)) - first_bucket);
    }
    struct claimed {
      u32 at = no_slot, table = 0;
    };
    TILEHASH_FN void write_value(const arrived& e, const claimed& to) const {
      if constexpr (!apart::is_set)
        copy_value(
            build.cargo.design.part_of(to.table).values + (first_slot + to.at - to.table * buckets * slots),
            build.cargo.value_of(e));
    }
    // Claims the first free slot of the item's sequence. None if its key is present, or for an item that it adds to
    // the spill.
    TILEHASH_FN claimed find_slot(const arrived& e) const {
      const auto& design = build.cargo.design;
      const word key = entry::hash_of(e);
      const auto home = design.locate(key);
      bool open = !apart::is_sentinel(key);
      while (open) {  // repeats when another thread took the slot: at most once for each slot of the sequence
        auto now = home;
        claimed to;
        bool is_last_resort = false, known = false;
        for (u32 steps = 0; steps < design.max_steps(); ++steps, design.advance(now)) {
          const u32 here = number_of(now);
          const scratch_bucket<word, slots> b(keys, here, here);
          known = b.match_if([&](word w) { return w == key; }) != 0;
          if (known) break;
          const u32 free = b.match_if([](word w) { return w == apart::empty_word; });
          if (free == 0) continue;
          const bool at_once = lowest(free) < design_type::first_slots;
          if (to.at == no_slot || (is_last_resort && at_once))
            to = {here * slots + b.lowest_slot(free), now.table}, is_last_resort = !at_once;
          if (at_once) break;  // this bucket has never been fuller, so no bucket after it has the key
        }
        if (known) return {};
        open = to.at != no_slot;
        if (open && compare_and_swap(keys + to.at, apart::empty_word, key) == apart::empty_word) return to;
      }
      build.spill.add(e);
      return {};
    }
  };
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
