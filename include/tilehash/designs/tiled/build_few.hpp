// SPDX-License-Identifier: Apache-2.0
// Builds a region of `tiled` from few items, of which all keys differ. It has fewer steps than the build of any items
// (build.hpp), which takes over where this one gives up.
//
//   1  clear the scratch, fetch an item each
//   2  place    an item in its first bucket, or its second, or on a list; its key enters a set of the block's keys
//   3  move     one other key for each listed item; for the few that find none, keys along a path
//               (tiled_buckets::displace_by_tile)
//   4  write    the region
//
// The count of a bucket gives each item the number of its slot. So a slot may stay free behind a taken one: if an item
// could not take the slot of the key that was to move there.
//
// It gives up before step 4 if two keys are equal, or an item has no legal key, or it finds no slot.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/designs/tiled/build_buckets.hpp>

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
  static constexpr u32 most_again = 16;
  enum total : u32 { unplaced, again, odd, totals };

  template <class Offset = u32>
  struct layout {
    scratch_array<word, Offset> words;
    scratch_array<word, Offset> list, list_again;
    scratch_array<key_bits, Offset> keys;
    scratch_array<u32, Offset> counts, filters, numbers;

    TILEHASH_FN constexpr layout(Offset buckets, Offset cells)
        : words(buckets * slots),
          list(words, buckets * slots / 16 + 16),
          list_again(list, most_again),
          keys(list_again, cells),
          counts(keys, buckets),
          filters(counts, buckets),
          numbers(filters, totals) {}
    // Whole words of 8 bytes, as it is cleared.
    TILEHASH_FN constexpr Offset bytes() const { return (numbers.end() + 7) / 8 * 8; }
  };

 public:
  static constexpr u64 scratch_bytes(u64 buckets, u64 cells) { return layout<u64>(buckets, cells).bytes(); }

  // Inserts n items; get(i, e) fetches one and returns whether it is legal. The set of keys has so many cells, a power of
  // two, and at least twice as many as there are items. False: it has given up, and changed only the scratch. All
  // threads of the block call it.
  template <class Block, class Get>
  TILEHASH_FN static bool run(const Build& build, Block block, u32 region, u32 cells, u32 n, const Get& get) {
    const tiled_few<Build>::state<Block> in(build, block, cells);
    const u32 all = block.size();
    word e{};
    bool legal = block.rank() < n && get(block.rank(), e);
    in.clear();
    block.barrier();
    for (u32 i = block.rank(); i < n && !in.gives_up();) {
      if (legal)
        in.place(e);
      else
        in.give_up();
      i += all;
      legal = i < n && get(i, e);
    }
    block.barrier();
    if (!in.gives_up()) in.move_one_each();
    block.barrier();
    if (in.numbers[again] != 0) {
      in.move_others();
      block.barrier();
    }
    const bool gives_up = in.gives_up();
    if (gives_up)
      block.barrier();  // before the scratch is cleared
    else
      in.write(build.design.region_at(region));
    return !gives_up;
  }

 private:
  template <class Block>
  struct state {
    using buckets_type = tiled_buckets<typename Build::template scratch_slot_of<scratch_in<word, Block>>,
                                       scratch_in<word, Block>, scratch_in<u32, Block>>;
    using displaced = typename buckets_type::displaced;
    const design_type& design;
    const Block& block;
    u32 me, all, buckets, cells;
    layout<> memory;
    scratch_in<word, Block> words, list, list_again;
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
          list_again(memory.list_again.in(b)),
          keys(memory.keys.in(b)),
          counts(memory.counts.in(b)),
          filters(memory.filters.in(b)),
          numbers(memory.numbers.in(b)) {}

    TILEHASH_FN bool gives_up() const { return load_relaxed(numbers + odd) != 0; }
    TILEHASH_FN void give_up() const { set_bits(numbers + odd, u32(1)); }
    TILEHASH_FN void clear() const {
      const auto everything = block.template scratch<u64>();
      for (u32 i = me; i < memory.bytes() / 8; i += all) everything[i] = 0;
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
    // Listed items take slots of keys that go to their other buckets. The lanes of a tile look at both buckets of an item
    // at once, a slot each. A collective of the warp.
    TILEHASH_FN void move_one_each() const {
      constexpr u32 width = buckets_type::tile_width;
      const auto t = block.template tile<width>();
      const u32 came = numbers[unplaced], n = came < memory.list.size ? came : memory.list.size;
      for (u32 q = me / width; t.any(q < n); q += all / width) {
        const word e = q < n ? word(list[q]) : word(0);
        location p = design.location_of(entry::hash_of(e));
        if (t.rank() >= slots) design.turn(p);
        const auto at = words + (p.bucket * slots + t.rank() % slots);
        const word seen = q < n ? load_relaxed(at) : word(0);
        const u32 other =
            slot_type::is_free(seen) ? p.bucket : design.mirror(p.bucket, slot_type::stored_in(seen));
        u32 good = t.ballot(!slot_type::is_free(seen) && load_relaxed(counts + other) < slots);
        bool placed = q >= n;
        while (t.any(!placed && good != 0)) {
          const bool tries = !placed && good != 0 && t.rank() == lowest(good);
          const word content = slot_type::make(p.stored, entry::value_of(e));
          const bool done = tries && take_slot(at, seen, p.bucket, other, content);
          placed = t.ballot(done) != 0 || placed;
          good &= good - 1;
        }
        if (placed || t.rank() != 0) continue;
        const u32 nth = fetch_add(numbers + again, u32(1));
        if (nth < most_again)
          list_again[nth] = e;
        else
          give_up();
      }
    }
    // The key in a slot goes to its other bucket. False: that is full by now, or the key has moved.
    template <class At>
    TILEHASH_FN bool take_slot(At at, word seen, u32 bucket, u32 other, word content) const {
      const u32 s = fetch_add(counts + other, u32(1));
      if (s >= slots || compare_and_swap(at, seen, content) != seen) return false;
      const auto stored = slot_type::stored_in(seen);
      if (!slot_type::is_second(stored)) set_bits(filters + bucket, 1U << design_type::filter_index(stored));
      words[other * slots + s] = slot_type::make(stored ^ 2, slot_type::value_of(seen));
      return true;
    }
    // The same for those that no move of one key has placed. A collective of the warp.
    TILEHASH_FN void move_others() const {
      constexpr u32 width = buckets_type::tile_width;
      const auto t = block.template tile<width>();
      const buckets_type in{{design, {}, list}, words, counts, filters};
      const u32 came = numbers[again], n = came < most_again ? came : most_again;
      for (u32 q = me / width; t.any(q < n); q += all / width) {
        const bool mine = q < n;
        displaced d;
        if (mine) {
          const word e = list_again[q];
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
