// Many keys are erased from a Horton table region by region in block-local memory (engine/region_erase.hpp),
// and the region is tidied before it is written back: it is read and written once, in order, where single
// erases read and write a line of memory for each key, and tidying some more.
//
//   fetch the region | each key of its bin: out of its slot | tidy each bucket of type B | write it out
#pragma once

#include <tilehash/algorithm/scratch_bucket.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/designs/horton/tidy.hpp>
#include <tilehash/space/solo_tile.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// `Bins` have the hashes of the keys. Count{}(n): so many were there.
template <class Design, class Bins, class Count>
struct horton_erase {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using place = typename Design::place;
  using view = scratch_bucket<word, Design::bucket_slots>;
  static constexpr u32 block_size = 1024;
  static constexpr u32 slots = Design::bucket_slots, last_slot = Design::last_slot;
  static constexpr u32 together = slots * sizeof(word) < 16 ? 1 : 16 / sizeof(word);  // moved at once

  Design design;
  Bins bins;
  Count count;

  // Scratch: the region's words; how many keys were there.
  TILEHASH_FN static constexpr u64 gone_at(u64 buckets) {
    return (buckets * slots * sizeof(word) + 3) / 4 * 4;
  }
  static constexpr u64 scratch_bytes(u64 buckets) { return gone_at(buckets) + sizeof(u32); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 region = static_cast<u32>(block.index()), me = block.rank(), all = block.size();
    const u32 buckets = design.region_buckets(), n = bins.size(region);
    const auto words = block.template scratch<word>();
    const auto gone = block.template scratch<u32>(gone_at(buckets));
    const auto bin = bins.at(region);
    word* const home = design.region_at(region);

    if (me == 0) gone[0] = 0;
    fetch_words<together>(home, buckets * slots, me, all, [&](u32 first, const word* held) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < together; ++k) words[first + k] = held[k];
    });
    block.barrier();

    constexpr u32 at_once = 4;
    u32 mine = 0;
    for (u32 first = me; first < n; first += at_once * all) {
      typename Design::key_bits hash[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all < n) hash[k] = bin[first + k * all];
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all < n) mine += take_out(words, design.place_of(hash[k]));
      }
    }
    if (mine != 0) fetch_add(gone, mine);
    block.barrier();

    const horton_region_in_scratch<Design, std::remove_cv_t<decltype(words)>> in_scratch{words};
    for (u32 b = me; b < buckets; b += all) {
      if (slot_type::is_remap(load_relaxed(words + (b * slots + last_slot))))
        tidy_horton_bucket(design, solo_tile{}, in_scratch, b, true);
    }
    block.barrier();

    put_words<together>(words, buckets * slots, me, all, home);
    if (me == 0) count(region, gone[0]);
  }

 private:
  // Was it there, and did this thread take it out?
  template <class Words>
  TILEHASH_FN bool take_out(Words words, place p) const {
    for (;;) {  // twice at most
      const view b(words, p.bucket, p.bucket);
      const auto own = [&](word w) { return slot_type::stored_in(w) == p.stored; };
      if (const u32 same = b.match_if(own); same != 0) {
        const auto at = words + (p.bucket * slots + b.lowest_slot(same));
        const word seen = load_relaxed(at);
        return own(seen) && compare_and_swap(at, seen, slot_type::empty_word) == seen;
      }
      const word last = load_relaxed(words + (p.bucket * slots + last_slot));
      if (p.function() != 0 || !slot_type::is_remap(last)) return false;
      const u32 function = slot_type::entry(last, p.tag());
      if (function == 0) return false;
      design.remap(p, function);
    }
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
