// Many keys are erased from a Horton table region by region in block-local memory (engine/region_erase.hpp),
// and the region is tidied before it is written back: it is read and written once, in order, where single
// erases read and write a line of memory for each key, and tidying some more.
//
//   fetch the region | each key of its bin: out of its slot | tidy the buckets that are due | write it out
//
// Due are buckets of type B that a key left, or one of theirs from elsewhere. They are listed as the first
// such key goes, so that neighbours tidy them: of all buckets they are a third, and tidying takes long.
#pragma once

#include <tilehash/algorithm/scratch_bucket.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/designs/horton/tidy.hpp>
#include <tilehash/space/solo_tile.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

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

  // Scratch: the region's words; per bucket a mark that it is due; some numbers; the list of those that are.
  enum total : u32 { gone, due, numbers };
  TILEHASH_FN static constexpr u64 marks_at(u64 buckets) {
    return (buckets * slots * sizeof(word) + 3) / 4 * 4;
  }
  TILEHASH_FN static constexpr u64 list_at(u64 buckets) {
    return marks_at(buckets) + (buckets + numbers) * sizeof(u32);
  }
  static constexpr u64 scratch_bytes(u64 buckets) { return list_at(buckets) + buckets * sizeof(u16); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 region = static_cast<u32>(block.index()), me = block.rank(), all = block.size();
    const u32 buckets = design.region_buckets(), n = bins.size(region);
    const auto words = block.template scratch<word>();
    const auto marks = block.template scratch<u32>(marks_at(buckets)), number = marks + buckets;
    const auto list = block.template scratch<u16>(list_at(buckets));
    const auto bin = bins.at(region);
    word* const home = design.region_at(region);

    for (u32 i = me; i < buckets + numbers; i += all) marks[i] = 0;
    fetch_words<together>(home, buckets * slots, me, all, [&](u32 first, const word* held) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < together; ++k) words[first + k] = held[k];
    });
    block.barrier();

    const auto mark_due = [&](u32 bucket) {
      if (exchange(marks + bucket, u32(1)) == 0)
        list[fetch_add(number + due, u32(1))] = static_cast<u16>(bucket);
    };
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
        if (first + k * all < n) mine += take_out(words, design.place_of(hash[k]), mark_due);
      }
    }
    if (mine != 0) fetch_add(number + gone, mine);
    block.barrier();

    const horton_region_in_scratch<Design, std::remove_cv_t<decltype(words)>> in_scratch{words};
    for (u32 i = me, end = number[due]; i < end; i += all)
      tidy_horton_bucket(design, solo_tile{}, in_scratch, list[i], true);
    block.barrier();

    put_words<together>(words, buckets * slots, me, all, home);
    if (me == 0) count(region, number[gone]);
  }

 private:
  // Was it there, and did this call take it out?
  template <class Words, class MarkDue>
  TILEHASH_FN bool take_out(Words words, place p, const MarkDue& mark_due) const {
    const u32 home = p.bucket;
    for (;;) {  // twice at most
      const view b(words, p.bucket, p.bucket);
      const word last = load_relaxed(words + (p.bucket * slots + last_slot));
      const auto own = [&](word w) { return slot_type::stored_in(w) == p.stored; };
      if (const u32 same = b.match_if(own); same != 0) {
        const auto at = words + (p.bucket * slots + b.lowest_slot(same));
        const word seen = load_relaxed(at);
        if (!own(seen) || compare_and_swap(at, seen, slot_type::empty_word) != seen) return false;
        if (slot_type::is_remap(last)) mark_due(p.bucket);
        if (p.function() != 0) mark_due(home);
        return true;
      }
      if (p.function() != 0 || !slot_type::is_remap(last)) return false;
      const u32 function = slot_type::entry(last, p.tag());
      if (function == 0) return false;
      design.remap(p, function);
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
