// SPDX-License-Identifier: Apache-2.0
// A bulk build of `tiled` that combines the values of equal keys (designs/tiled/build.hpp).
//
// A bin may have many more items than its region has slots. While items are placed, no key moves and no slot
// becomes free again. So a bucket that is full without a key stays so, and all items of a key meet in one
// slot. If both buckets are full, they meet in one word of the unplaced items, which are a hash table of
// different keys. Afterwards these are displaced as in other builds. No two of them are equal.
//
// An item is left over only if the unplaced items are full, or if no displacement finds a slot. Other items
// of its key may have been placed, so the caller combines it with what the table has.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/tiled/build.hpp>
#include <tilehash/designs/tiled/build_block.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Build, class Block>
struct tiled_combining_block : tiled_build_block<Build, Block> {
  using base = tiled_build_block<Build, Block>;
  using base::base, base::build, base::region, base::unplaced_items, base::in, base::me, base::all;
  using typename base::entry;
  using typename base::location;
  using typename base::slot;
  using typename base::word;

  TILEHASH_FN void load() {
    base::load();
    for (u32 i = me; i < most_unplaced(); i += all) unplaced_items[i] = Build::no_item(region);
  }
  // In place of steps 1 to 3.
  TILEHASH_FN void combine_items() {
    constexpr u32 at_once = tuning::here::region_combined_at_once;
    fetch_items<at_once>(base::bin, build.bins.size(base::nth), me, all, [&](u32 /*i*/, const word& e) {
      location p = build.design.location_of(entry::hash_of(e));
      if (in.put_or_combine(p.bucket, in.in.make(p.stored, e, 0), build.op) != outcome::refused) return;
      const u32 bit = build.design.filter_index(p.stored);
      if (!in.has_bit(p.bucket, bit)) set_bits(in.filters + p.bucket, 1U << bit);
      build.design.turn(p);
      if (in.put_or_combine(p.bucket, in.in.make(p.stored, e, 0), build.op) != outcome::refused) return;
      if (!combine_unplaced(e)) build.spill.add(e);
    });
  }

 private:
  TILEHASH_FN u32 most_unplaced() const { return base::memory.unplaced_items.size; }
  // Returns false if the item finds no free word.
  TILEHASH_FN bool combine_unplaced(const word& e) const {
    const u32 capacity = most_unplaced();
    const auto hash = entry::hash_of(e);
    const word none = Build::no_item(region);
    u32 s = static_cast<u32>(fast_range(mix64(static_cast<u64>(hash)), capacity));
    for (u32 probes = 0; probes < Build::max_probes; ++probes, s = s + 1 == capacity ? 0 : s + 1) {
      word seen = load_relaxed(unplaced_items + s);
      if (Build::is_free(region, seen)) seen = compare_and_swap(unplaced_items + s, none, word(e));
      if (seen == none) return true;
      if (entry::hash_of(seen) != hash) continue;
      slot::combine_value(unplaced_items + s, entry::value_of(e), build.op);
      return true;
    }
    return false;
  }
};

// For words with a value of 4 bytes in their lower half.
template <class Design, class Op>
  requires(!Design::slot_type::is_set && sizeof(typename Design::word) == 8 &&
           bytes_of<typename Design::mapped_type> == 4)
struct tiled_combining_build : tiled_build<Design> {
  using base = tiled_build<Design>;
  using typename base::entry;
  using typename base::word;
  static constexpr bool combines = true;
  static constexpr u32 max_probes = 64;

  Op op;

  // A free word for unplaced items has a hash of another region. (There are two or more regions.)
  TILEHASH_FN static word no_item(u32 region) {
    using key_bits = typename Design::key_bits;
    return entry::pack(region == 0 ? static_cast<key_bits>(~key_bits(0)) : key_bits(0), 0);
  }
  TILEHASH_FN static bool is_free(u32 region, const word& e) {
    return entry::hash_of(e) == entry::hash_of(no_item(region));
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    tiled_combining_block<tiled_combining_build, Block> work(*this, block);
    work.load();
    block.barrier();
    work.combine_items();
    block.barrier();
    work.displace();
    block.barrier();
    work.write_back();
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
