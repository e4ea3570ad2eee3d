// Of the items of equal keys in a region's bin the first: what a build of `tiled` does before it writes the
// region out, when it is to keep that one (keep::first).
//
//   scratch  | k:2 | p:7 | c:9 | ..   any of k's items stands there; the build has dropped others
//   marks    | .1..1.. |              and has set a bit for each key of which it dropped one
//   bin      | k:2 p:7 k:5 k:4 c:9    | the items with such a bit are asked once more:
//   numbers  |   8   3   6   7   1    | k's slot takes the least of their numbers, 6, and then 6's value
//
// So nothing is done for items whose keys nobody else has, but that each is looked at once more where
// anything was dropped. Where so many are asked that their list has no room, they are asked in rounds, by
// bucket.
#pragma once

#include <tilehash/algorithm/contested.hpp>
#include <tilehash/core/atomic.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

template <class Design>
struct tiled_marks {
  // Eight bits of a bucket's word in the scratch, above the filter's.
  static constexpr u32 shift = 24;
  static_assert(Design::filter_size <= shift);
  TILEHASH_FN static u32 bit(typename Design::stored_key n) {
    return 1U << (shift + (static_cast<u32>(n >> 2) * 0x9e3779b1U >> 29));
  }
};

// Build: designs/tiled/build.hpp.
template <class Build>
struct tiled_first {
  using word = typename Build::word;
  using table_word = typename Build::table_word;
  using place = typename Build::place;
  using entry = typename Build::entry;
  using marks = tiled_marks<typename Build::design_type>;
  static constexpr u32 nobody = ~u32(0);

  // The list has `room`; `dropped` is how many items were.
  template <class Block, class Words, class Filters, class List, class Count>
  TILEHASH_FN static void settle(const Build& build, Block block, const auto& in, Words words,
                                 Filters filters, List list, u32 room, Count length, u32 dropped, u32 nth) {
    const u32 me = block.rank(), all = block.size(), buckets = build.design.region_buckets();
    const table_word* const bin = build.bins.at(nth);
    const u32* const numbers = build.bins.numbers_at(nth);
    const u32 came = build.bins.size(nth), most = buckets * Build::slots;
    const u32 n =
        Build::scratch_slot::is_exact || came < most ? came : most;  // those beyond it were left over
    // Two for each that was dropped, and those that share a bit with one, by chance.
    const u64 expected = 2 * u64(dropped) + u64(n) * dropped / (u64(8) * buckets);
    const u32 rounds = 1 + static_cast<u32>((expected < n ? expected : n) * 9 / 8 / room);
    for (u32 round = 0; round < rounds; ++round) {
      if (me == 0) *length = 0;
      block.barrier();
      const auto t = block.template tile<32>();
      constexpr u32 at_once = sizeof(table_word) <= 8 ? 8 : 4;
      for (u32 first = 0; first < n; first += at_once * all) {  // who is asked
        table_word e[at_once];
        u32 asked[at_once];  // of the tile, bit by bit
        u32 before = 0, found = 0;
        TILEHASH_UNROLL
        for (u32 k = 0; k < at_once; ++k) {
          const u32 i = first + k * all + me;
          if (i < n) e[k] = bin[i];
        }
        TILEHASH_UNROLL
        for (u32 k = 0; k < at_once; ++k) {
          bool asks = false;
          if (first + k * all + me < n) {
            const place p = build.design.place_of(entry::hash_of(e[k]));
            asks = (load_relaxed(filters + p.bucket) & marks::bit(p.stored)) != 0 &&
                   (rounds == 1 || static_cast<u64>(p.bucket) * rounds / buckets == round);
          }
          asked[k] = t.ballot(asks);
          found += count_ones(asked[k]);
        }
        if (found != 0 && t.rank() == 0) before = fetch_add(length, found);
        before = t.broadcast(before, 0);
        TILEHASH_UNROLL
        for (u32 k = 0; k < at_once; ++k) {
          const u32 at = before + count_ones(asked[k] & ((1U << t.rank()) - 1));
          if ((asked[k] >> t.rank() & 1) != 0 && at < room) list[at] = first + k * all + me;
          before += count_ones(asked[k]);
        }
      }
      block.barrier();
      const u32 asked = *length < room ? u32(*length) : room;
      if (me == 0 && asked < *length) fetch_add(build.bins.unsettled, u64(1));
      for (u32 q = me; q < asked; q += all) {  // where their key stands
        const u32 i = list[q], slot = slot_of(build, in, words, bin[i], i);
        list[q] = slot == nobody ? nobody : slot << 16 | i;
        if (slot != nobody) in.open(words + slot);
      }
      block.barrier();
      for (u32 q = me; q < asked; q += all) {
        const u32 x = list[q];
        if (x != nobody) in.enter(words + (x >> 16), x & 0xffff, numbers);
      }
      block.barrier();
      for (u32 q = me; q < asked; q += all) {
        const u32 x = list[q];
        if (x != nobody && !in.is_in(words + (x >> 16), x & 0xffff, numbers)) list[q] = nobody;
      }
      block.barrier();
      for (u32 q = me; q < asked; q += all) {
        const u32 x = list[q];
        if (x != nobody) in.close(words + (x >> 16), bin[x & 0xffff]);
      }
      block.barrier();
    }
  }

 private:
  // `nobody` where the key was left over, for others to put in.
  TILEHASH_FN static u32 slot_of(const Build& build, const auto& in, const auto& words, const table_word& e,
                                 u32 number) {
    place p = build.design.place_of(entry::hash_of(e));
    for (u32 half = 0; half < 2; ++half, build.design.turn(p)) {
      const typename Build::view b(words, p.bucket, p.bucket);
      const u32 mask = Build::match_key(in, b, Build::scratch_slot::make(p.stored, e, number));
      if (mask != 0) return p.bucket * Build::slots + b.lowest_slot(mask);
    }
    return nobody;
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
