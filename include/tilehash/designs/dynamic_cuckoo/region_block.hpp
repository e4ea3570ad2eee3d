// SPDX-License-Identifier: Apache-2.0
// The block kernel that builds a region of subtables in its scratch (dynamic_cuckoo/region_build.hpp), in steps with
// a barrier between them:
//
//   1  place          each item takes the first free slot of its sequence, as a single insert does
//   2  write_keys     to the table, in order
//   3  place_values   in the scratch, in place of the keys
//   4  write_values   to the table, in order
//
// Between steps 1 and 3 the number of an item's slot is stored in its bin in place of the key. Values written to the
// table in step 1 would be random writes of a few bytes each, which take longer than all of the steps.
//
// A block of one thread (a CPU) writes the values in step 1: they stay in its cache. So does a GPU if a value is no
// word of up to four bytes.
//
// Slots only fill up and no key moves. So equal keys meet, and a slot that is taken is final.
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

// Without ValuesInOrder, values are written in step 1.
template <class Cargo, bool ValuesInOrder>
struct subtables_region_build {
  using apart = typename Cargo::apart;
  using word = typename apart::word;
  using arrived = typename Cargo::word;
  using entry = typename Cargo::entry;
  using value_element = typename Cargo::value_element;
  using design_type = typename Cargo::design_type;
  static constexpr u32 block_size = tuning::gpu::large_block;
  static constexpr u32 slots = 64 / sizeof(word), subtables = design_type::subtables;
  static constexpr u64 value_bytes = apart::is_set ? 0 : sizeof(value_element);
  static constexpr bool values_in_scratch =
      ValuesInOrder && Cargo::has_value && (value_bytes == 1 || value_bytes == 2 || value_bytes == 4);
  using value_word = std::conditional_t<value_bytes == 1, u8, std::conditional_t<value_bytes == 2, u16, u32>>;
  static constexpr u32 no_slot = ~u32(0);

  Cargo cargo;
  even_bins<arrived> bins;
  spill_list<arrived> spill;
  u64* inserted;

  template <class Offset = u32>
  struct layout {
    scratch_array<word, Offset> keys;  // of the region's buckets in each subtable; later the values
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
    if constexpr (values_in_scratch) {
      block.barrier();
      work.place_values();
      block.barrier();
      work.write_values();
    }
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
    scratch_in<value_word, Block> values;

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
          fresh(layout<>(buckets).fresh.in(b)),
          values(b.template scratch<value_word>()) {}

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
        if (to.at != no_slot || values_in_scratch) keep_value(i, e, to);
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
    TILEHASH_FN void place_values() const {
      fetch_items(bin, n, me, all, [&](u32 /*i*/, const arrived& e) {
        if (entry::hash_of(e) != no_slot)
          values[entry::hash_of(e)] = static_cast<value_word>(entry::value_of(e));
      });
    }
    TILEHASH_FN void write_values() const {
      for (u32 t = 0; t < subtables; ++t)
        put_words<4>(values + t * buckets * slots, buckets * slots, me, all,
                     reinterpret_cast<value_word*>(build.cargo.design.part_of(t).values) + first_slot);
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
    // The value of the i-th item, which has this slot.
    TILEHASH_FN void keep_value(u32 i, const arrived& e, const claimed& to) const {
      if constexpr (values_in_scratch)
        bin[i] = entry::pack(to.at, entry::value_of(e));
      else if constexpr (!apart::is_set)
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
