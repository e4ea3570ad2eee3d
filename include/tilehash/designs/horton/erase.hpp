// SPDX-License-Identifier: Apache-2.0
// Erases many keys from a Horton table region by region in block-local memory (engine/region_erase.hpp). The
// region is tidied before it is written back. It is read and written once, in order. Single erases read and
// write a line of memory for each key, and tidying some more.
//
//   fetch the region | each key of its bin: out of its slot | tidy the buckets that are due | write it out
//
// A bucket of type B is due if an erased key was stored in it, or in another bucket by its remap entries. It
// is listed when the first such key is erased, so that neighbours tidy the list: a third of all buckets are
// due, and tidying takes long.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/designs/horton/tidy.hpp>
#include <tilehash/space/solo_tile.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// `Bins` have the hashes of the keys. Count{}(region, n): n keys of it were erased.
template <class Design, class Bins, class Count>
struct horton_erase {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using location = typename Design::location;
  using view = scratch_bucket<word, Design::bucket_slots>;
  static constexpr u32 block_size = tuning::gpu::large_block;
  static constexpr u32 slots = Design::bucket_slots, last_slot = Design::last_slot;
  static constexpr u32 together = slots * sizeof(word) < 16 ? 1 : 16 / sizeof(word);  // moved at once

  Design design;
  Bins bins;
  Count count;

  template <class Offset = u32>
  struct layout {
    scratch_array<word, Offset> words;  // the region's slots
    scratch_array<u32, Offset> marks;   // of each bucket: it is due
    scratch_array<u32, Offset> numbers;
    scratch_array<u16, Offset> list;  // of the buckets that are due
    enum total : u32 { gone, due, totals };

    TILEHASH_FN constexpr explicit layout(Offset buckets)
        : words(buckets * slots), marks(words, buckets), numbers(marks, totals), list(numbers, buckets) {}
    TILEHASH_FN constexpr Offset bytes() const { return list.end(); }
  };
  static constexpr u64 scratch_bytes(u64 buckets) { return layout<u64>(buckets).bytes(); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    block_of<Block> work(*this, block);
    work.load();
    block.barrier();
    work.erase();
    block.barrier();
    work.tidy();
    block.barrier();
    work.write_back();
  }

 private:
  // One thread's view of a block that erases from its region.
  template <class Block>
  struct block_of {
    const horton_erase& of;
    u32 region, me, all, buckets;
    u32 n;       // keys; loaded before the first barrier, so that no thread waits for it after that
    word* home;  // the region in the table
    scratch_in<word, Block> words;
    scratch_in<u32, Block> marks, numbers;
    scratch_in<u16, Block> list;

    TILEHASH_FN block_of(const horton_erase& e, const Block& b)
        : block_of(e, b, layout<>(e.design.region_buckets())) {}

    TILEHASH_FN void load() {
      for (u32 i = me; i < buckets + layout<>::totals; i += all) marks[i] = 0;  // and the numbers
      fetch_words<together>(home, buckets * slots, me, all, [&](u32 first, const word* held) {
        TILEHASH_UNROLL
        for (u32 k = 0; k < together; ++k) words[first + k] = held[k];
      });
    }
    TILEHASH_FN void erase() {
      u32 mine = 0;
      fetch_items(of.bins.at(region), n, me, all, [&](u32 /*i*/, const typename Design::key_bits& hash) {
        mine += of.take_out(words, of.design.location_of(hash), [&](u32 bucket) { mark_due(bucket); });
      });
      if (mine != 0) fetch_add(numbers + layout<>::gone, mine);
    }
    TILEHASH_FN void tidy() {
      const horton_region_in_scratch<Design, std::remove_cv_t<decltype(words)>> in_scratch{words};
      for (u32 i = me, end = numbers[layout<>::due]; i < end; i += all)
        tidy_horton_bucket(of.design, solo_tile{}, in_scratch, list[i], true);
    }
    TILEHASH_FN void write_back() {
      put_words<together>(words, buckets * slots, me, all, home);
      if (me == 0) of.count(region, numbers[layout<>::gone]);
    }

   private:
    TILEHASH_FN block_of(const horton_erase& e, const Block& b, const layout<>& memory)
        : of(e),
          region(static_cast<u32>(b.index())),
          me(b.rank()),
          all(b.size()),
          buckets(e.design.region_buckets()),
          n(e.bins.size(region)),
          home(e.design.region_at(region)),
          words(memory.words.in(b)),
          marks(memory.marks.in(b)),
          numbers(memory.numbers.in(b)),
          list(memory.list.in(b)) {}
    TILEHASH_FN void mark_due(u32 bucket) const {
      if (exchange(marks + bucket, u32(1)) == 0)
        list[fetch_add(numbers + layout<>::due, u32(1))] = static_cast<u16>(bucket);
    }
  };

  // True if the key was present and this call took it out.
  template <class Words, class MarkDue>
  TILEHASH_FN bool take_out(Words words, location p, const MarkDue& mark_due) const {
    const u32 primary = p.bucket;
    for (;;) {  // twice at most
      const view b(words, p.bucket, p.bucket);
      const word last = load_relaxed(words + (p.bucket * slots + last_slot));
      const auto own = [&](word w) { return slot_type::stored_in(w) == p.stored; };
      if (const u32 same = b.match_if(own); same != 0) {
        const auto at = words + (p.bucket * slots + b.lowest_slot(same));
        const word seen = load_relaxed(at);
        if (!own(seen) || compare_and_swap(at, seen, slot_type::empty_word) != seen) return false;
        if (slot_type::is_remap(last)) mark_due(p.bucket);
        if (p.function() != 0) mark_due(primary);
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
