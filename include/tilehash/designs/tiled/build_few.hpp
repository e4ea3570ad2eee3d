// SPDX-License-Identifier: Apache-2.0
// Builds a region of `tiled` from few items, of which all keys differ. It has fewer steps than the build of any items
// (build.hpp), which takes over where this one gives up.
//
//   1  clear the scratch, fetch the first items
//   2  place    an item in its first bucket, or its second, or on a list; its key enters a set of the block's keys
//   3  move     other keys, for listed items (tiled_buckets::displace_by_tile)
//   4  write    the region
//
// It gives up before step 4 if two keys are equal, or an item has no legal key, or it finds no slot.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/designs/tiled/build_buckets.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// `Build` is a tiled_build of an empty region.
template <class Build>
class tiled_few {
  using design_type = typename Build::design_type;
  using slot_type = typename design_type::slot_type;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using entry = typename Build::entry;
  using location = typename design_type::location;
  static constexpr u32 slots = design_type::bucket_slots;
  static constexpr u32 fetched = tuning::here::fetched_at_once;
  enum total : u32 { unplaced, odd, totals };

  template <class Offset = u32>
  struct layout {
    scratch_array<word, Offset> words;
    scratch_array<word, Offset> list;
    scratch_array<key_bits, Offset> keys;
    scratch_array<u32, Offset> counts, filters, numbers;

    TILEHASH_FN constexpr layout(Offset buckets, Offset cells)
        : words(buckets * slots),
          list(words, buckets * slots / 16 + 16),
          keys(list, cells),
          counts(keys, buckets),
          filters(counts, buckets),
          numbers(filters, totals) {}
    TILEHASH_FN constexpr Offset bytes() const { return numbers.end(); }
  };

 public:
  static constexpr u64 scratch_bytes(u64 buckets, u64 cells) { return layout<u64>(buckets, cells).bytes(); }

  // Inserts n items; get(i, e) fetches one and returns whether it is legal. The set of keys has so many cells, a power of
  // two, and at least twice as many as there are items. False: it has given up, and changed only the scratch. All
  // threads of the block call it.
  template <class Block, class Get>
  TILEHASH_FN static bool run(const Build& build, Block block, u32 region, u32 cells, u32 n, const Get& get) {
    const tiled_few<Build>::state<Block> in(build, block, cells);
    const u32 me = block.rank(), all = block.size();
    word e[fetched];
    u32 legal = fetch(e, me, all, n, get);
    in.clear();
    block.barrier();
    for (u32 first = me; first < n && !in.gives_up();) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < fetched; ++k) {
        if (first + k * all >= n) continue;
        if ((legal >> k & 1) != 0)
          in.place(e[k]);
        else
          in.give_up();
      }
      first += fetched * all;
      legal = fetch(e, first, all, n, get);
    }
    block.barrier();
    in.move_others();
    block.barrier();
    const bool gives_up = in.gives_up();
    if (gives_up)
      block.barrier();  // before the scratch is cleared
    else
      in.write(build.design.region_at(region));
    return !gives_up;
  }

 private:
  // Fetches a thread's next items. Bit k of the result: the k-th is legal.
  template <class Get>
  TILEHASH_FN static u32 fetch(word (&e)[fetched], u32 first, u32 all, u32 n, const Get& get) {
    u32 legal = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < fetched; ++k) {
      e[k] = word(0);
      if (first + k * all < n) legal |= u32(get(first + k * all, e[k])) << k;
    }
    return legal;
  }

  template <class Block>
  struct state {
    using buckets_type = tiled_buckets<typename Build::template scratch_slot_of<scratch_in<word, Block>>,
                                       scratch_in<word, Block>, scratch_in<u32, Block>>;
    using displaced = typename buckets_type::displaced;
    const design_type& design;
    const Block& block;
    u32 me, all, buckets, cells;
    layout<> memory;
    scratch_in<word, Block> words, list;
    scratch_in<key_bits, Block> keys;
    scratch_in<u32, Block> counts, filters, numbers;

    TILEHASH_FN state(const Build& build, const Block& b, u32 cells_of_keys)
        : design(build.design),
          block(b),
          me(b.rank()),
          all(b.size()),
          buckets(build.design.region_buckets()),
          cells(cells_of_keys),
          memory(buckets, cells),
          words(memory.words.in(b)),
          list(memory.list.in(b)),
          keys(memory.keys.in(b)),
          counts(memory.counts.in(b)),
          filters(memory.filters.in(b)),
          numbers(memory.numbers.in(b)) {}

    TILEHASH_FN bool gives_up() const { return load_relaxed(numbers + odd) != 0; }
    TILEHASH_FN void give_up() const { set_bits(numbers + odd, u32(1)); }
    TILEHASH_FN void clear() const {
      for (u32 i = me; i < buckets * slots; i += all) words[i] = word(0);
      for (u32 i = me; i < cells; i += all) keys[i] = key_bits(0);
      for (u32 i = me; i < buckets; i += all) counts[i] = 0, filters[i] = 0;
      if (me < totals) numbers[me] = 0;
    }
    // Enters a hash into the set. False: it is in the set, or it is 0, which is a free cell.
    TILEHASH_FN bool enters(key_bits h) const {
      if (h == 0) return false;
      for (u32 at = static_cast<u32>(h);; ++at) {  // half of the cells are free, so it ends
        at &= cells - 1;
        const key_bits seen = compare_and_swap(keys + at, key_bits(0), h);
        if (seen == 0) return true;
        if (seen == h) return false;
      }
    }
    TILEHASH_FN void place(word e) const {
      const key_bits h = entry::hash_of(e);
      location p = design.location_of(h);
      u32 s = fetch_add(counts + p.bucket, u32(1));  // before the set, as both take their time
      if (!enters(h)) give_up();
      if (s >= slots) {
        set_bits(filters + p.bucket, 1U << design_type::filter_index(p.stored));
        design.turn(p);
        s = fetch_add(counts + p.bucket, u32(1));
      }
      if (s < slots) {
        words[p.bucket * slots + s] = slot_type::make(p.stored, entry::value_of(e));
        return;
      }
      const u32 at = fetch_add(numbers + unplaced, u32(1));
      if (at < memory.list.size)
        list[at] = e;
      else
        give_up();
    }
    // A collective of the warp.
    TILEHASH_FN void move_others() const {
      constexpr u32 width = buckets_type::tile_width;
      const auto t = block.template tile<width>();
      const buckets_type in{{design, {}, list}, words, counts, filters};
      const u32 came = numbers[unplaced], n = came < memory.list.size ? came : memory.list.size;
      for (u32 q = me / width; t.any(q < n); q += all / width) {
        const bool mine = q < n;
        displaced d;
        if (mine) {
          const word e = list[q];
          location p = design.location_of(entry::hash_of(e));
          design.turn(p);
          d = {slot_type::make(p.stored, entry::value_of(e)), p.bucket, 0,
               static_cast<u64>(entry::hash_of(e))};
        }
        in.displace_by_tile(t, mine, d, [&](u32 /*bucket*/, word /*content*/) { give_up(); });
      }
    }
    TILEHASH_FN void write(word* home) const {
      constexpr u32 together = 16 / sizeof(word);
      for (u32 i = me * together; i < buckets * slots; i += all * together) {
        struct alignas(16) some {
          word words[together];
        } out;
        const u32 filter = filters[i / slots];
        TILEHASH_UNROLL
        for (u32 k = 0; k < together; ++k) {
          const u32 s = (i + k) % slots;
          const u32 bits = s < 8 ? filter >> (s * slot_type::filter_bits) & 7 : 0;
          out.words[k] = static_cast<word>(words[i + k] | static_cast<word>(bits) << slot_type::filter_shift);
        }
        *reinterpret_cast<some*>(home + i) = out;
      }
    }
  };
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
