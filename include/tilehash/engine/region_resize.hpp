// SPDX-License-Identifier: Apache-2.0
// Gives a table more regions, or fewer, in its own memory.
//
// A region is a range of hashes (algorithm/hash_route.hpp). If the number of regions changes, each is still a
// range, in the same order. So a new region's keys are in one old region or in neighbouring ones. A block
// reads these, builds the region in its scratch, and writes it to its position. It may only overwrite regions
// that no other block needs any more. So a table grows in steps from the top, and shrinks from below:
//
//   before    | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
//   after     | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | . | . | . | . | . | 15 |
//                                             |<---- step 1, from 4 ... 7 ---->|
//                             |<- step 2 ---->|  from 2 and 3
//                     |<-w 3->|  from 1
//             |<----->|  the rest, from a copy of region 0
//
// A step reads only regions that no earlier step has written. The last few regions (a 32nd) would take as
// many steps again, so they are built from a copy. So the table is read once and written once, and a doubling
// takes five steps.
//
// No key may be lost, and nothing may fail once a step has begun. So a first pass over the table counts the
// keys that find their new first bucket full. At most these can be left without a slot in their regions
// (hardly ever any is), and there is a list for so many. The pass also lists the regions for which it cannot
// show that all their keys have slots (engine/crowded_regions.hpp: few or none). These are built as a trial
// and not written: if a key is left, the table is not resized in place. So there is a slot for each key that
// is left in the end, and kernel/exact_placement.hpp finds it without memory. All memory is taken before the
// first step, a CPU's scratch too.
#pragma once

#include <algorithm>
#include <vector>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/crowded_regions.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The source of a region's build (as bins: designs/tiled/build.hpp): the old regions of the table.
template <class Design>
struct old_regions {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using entry = routed_item<slot_type>;
  static constexpr bool are_regions = true;  // items among free slots, no two alike

  Design before, after;
  const word* slots;  // of the old regions, from the first
  u32 first;          // of the new regions to build

  // The items of one new region.
  struct reader {
    old_regions regions;
    u32 number;           // of the new region
    u32 from, to;         // old regions that have its keys
    u32 lowest, highest;  // first buckets of such, in `from` and in `to`

    // use(i, entry) for each; the threads of a block share them.
    template <class Use>
    TILEHASH_FN void for_each_item(u32 me, u32 all, const Use& use) const {
      constexpr u32 together = 16 / sizeof(word);
      const u32 each = regions.before.region_slots();
      for (u32 r = from; r <= to; ++r) {
        const auto hashes = regions.before.hashes_in(r);
        fetch_words<together>(regions.slots + static_cast<u64>(r) * each, each, me, all,
                              [&](u32 i, const word* held) {
                                TILEHASH_UNROLL
                                for (u32 k = 0; k < together; ++k) {
                                  word e = held[k];
                                  if (take(hashes, r, i / Design::bucket_slots, e))
                                    use((r - from) * each + i + k, e);
                                }
                              });
      }
    }
    // Reads the i-th item again.
    TILEHASH_FN word operator[](u32 i) const {
      const u32 each = regions.before.region_slots(), r = from + i / each, s = i % each;
      word e = regions.slots[static_cast<u64>(r) * each + s];
      take(regions.before.hashes_in(r), r, s / Design::bucket_slots, e);
      return e;
    }

   private:
    // If this word has an item that goes to the new region, turns it into its entry and returns true.
    template <class Hashes>
    TILEHASH_FN bool take(const Hashes& hashes, u32 region, u32 bucket, word& w) const {
      if (slot_type::is_free(w)) return false;
      const stored_key n = slot_type::stored_in(w);
      const u32 b = regions.before.first_bucket(bucket, n);
      if ((region == from && b < lowest) || (region == to && b > highest)) return false;
      const auto h = hashes(b, slot_type::remainder_of(n));
      if (regions.after.region_of(h) != number) return false;
      w = entry::pack(h, slot_type::value_of(w));
      return true;
    }
  };
  TILEHASH_FN reader at(u32 nth) const { return at_region(first + nth); }
  TILEHASH_FN reader at_region(u32 number) const {
    const auto &old = before.route(), &now = after.route();
    const u64 least = static_cast<u64>(now.first_of(number)) * old.regions();
    const u64 most = static_cast<u64>(now.last_of(number)) * old.regions();
    const auto bucket = [&](u64 scaled) {
      return static_cast<u32>((scaled & ~u32(0)) * before.region_buckets() >> 32);
    };
    return {*this,         number,      static_cast<u32>(least >> 32), static_cast<u32>(most >> 32),
            bucket(least), bucket(most)};
  }
};

// The source of a trial build: builds the listed regions, and writes none.
template <class Design>
struct listed_regions : old_regions<Design> {
  static constexpr bool is_trial = true;

  const u32* list;  // their numbers

  TILEHASH_FN u32 number_of(u32 nth) const { return list[nth]; }
  TILEHASH_FN auto at(u32 nth) const { return this->at_region(list[nth]); }
};

// Scratch for all blocks of a launch, if the space allocates it (a CPU).
template <class Space>
auto scratch_taken(Space& space, u64 blocks, u64 bytes) {
  if constexpr (requires { space.scratch_of(blocks, bytes); })
    return space.scratch_of(blocks, bytes);
  else
    return nothing{};
}

template <class Design, class Space>
class region_resize {
  using word = typename Design::word;
  using regions_type = old_regions<Design>;
  using build_type = typename Design::template region_build<regions_type>;
  using counting = find_crowded<regions_type>;

 public:
  // Should a table with these regions get so many in its own memory? Not if they are few: then a new table
  // with regions of another size is better. A change by less than a ninth would take too many steps.
  static bool suits(const Space& space, const Design& before, u64 regions) {
    const u64 now = before.regions();
    return std::min(now, regions) >= least_regions &&
           (regions >= least_after(now) || regions <= most_after(now)) &&
           before.region_slots() <= build_type::most_slots && before.region_buckets() < counting::none &&
           std::max(build_type::scratch_bytes(before.region_buckets()),
                    counting::scratch_bytes(before.region_buckets())) <= space.largest_scratch();
  }
  // Returns as many regions, or so many more that growth pays.
  static u64 grown(const Design& before, u64 regions) {
    return std::max<u64>(regions, least_after(before.regions()));
  }

  region_resize(Space& space, const Design& before, u64 regions)
      : space_(space), before_(before), after_(before) {
    after_.reshape(before.slots(), regions);
  }
  const Design& after() const { return after_; }

  // Reads the table, and allocates all temporary memory. Returns false, and changes nothing, if the keys are
  // too uneven, or not all have slots. Throws out_of_memory. Synchronizes with the host.
  bool prepare() {
    plan();
    counters_ = buffer<u64, Space>(space_, 3);
    space_.fill(counters_.data(), 3, u64(0));
    const u64 all = after_.regions();
    const buffer<u32, Space> crowded(space_, all);
    space_.for_each_block(all, counting::block_size, counting::scratch_bytes(after_.region_buckets()),
                          counting{{before_, after_, before_.slots(), 0}, counters_.data(), crowded.data()});
    const auto counts = counters_.to_host();
    if (counts[1] != 0) return false;
    space_.fill(counters_.data(), 3, u64(0));
    spilled_ = buffer<word, Space>(space_, counts[0]);
    saved_ = buffer<word, Space>(space_, copied_ * before_.region_slots());
    scratch_ = scratch_taken(space_, all, build_type::scratch_bytes(after_.region_buckets()));
    return counts[2] == 0 || all_are_placeable(crowded.data(), counts[2]);
  }

  // `memory` is the table's, large enough for the old and for the new regions, with the old ones in front.
  // Cannot fail. Returns the items left to insert one by one. Synchronizes with the host.
  region_filled<Design, Space> run(void* memory) {
    before_.reshape(memory, before_.regions());
    after_.reshape(memory, after_.regions());
    const bool grows = after_.regions() > before_.regions();
    if (grows) build_steps();
    space_.copy(saved_.data(), before_.slots(), saved_.bytes());
    build(saved_.data(), 0, from_copy_);
    if (!grows) build_steps();
    const auto counts = counters_.to_host();
    region_filled<Design, Space> r;
    r.design = after_;
    r.left = counts[0];
    r.inserted = counts[2];
    r.lists_left = r.left <= spilled_.size();
    r.memory = std::move(spilled_);
    r.spilled = r.memory.data();
    saved_ = {};
    scratch_ = {};
    return r;
  }

 private:
  static constexpr u64 least_regions = tuning::of<Space>::least_resized_regions;
  static constexpr u64 copied_share = tuning::of<Space>::copied_share;
  static u64 least_after(u64 regions) { return regions + divide_up(regions, 8); }
  static u64 most_after(u64 regions) { return regions - divide_up(regions, 9); }

  struct step {
    u64 first, end;
  };
  void plan() {
    const u64 old = before_.regions(), all = after_.regions(), few = divide_up(all, copied_share);
    if (all > old) {
      from_copy_ = all;  // regions before it are not built yet
      for (u64 needed; from_copy_ > few && (needed = divide_up(from_copy_ * old, all)) < from_copy_;
           from_copy_ = needed)
        steps_.push_back({needed, from_copy_});
    } else {
      from_copy_ = std::min(all, std::max(few, all / (old - all) + 1));  // fewer free no regions for a step
      for (u64 first = from_copy_; first < all; first = steps_.back().end)
        steps_.push_back({first, std::min(first * old / all, all)});
    }
    copied_ = divide_up(from_copy_ * old, all);
  }
  void build_steps() {
    for (const step& w : steps_) build(before_.slots(), w.first, w.end - w.first);
  }
  void build(const word* old, u64 first, u64 count) {
    const spill_list<word> spill{spilled_.data(), counters_.data(), spilled_.size()};
    const u32 from = static_cast<u32>(first);
    launch(build_type{after_, {before_, after_, old, from}, from, false, spill, counters_.data() + 2}, count);
  }
  // Builds the listed regions without writing them. Returns whether no key is left.
  bool all_are_placeable(const u32* list, u64 count) {
    using bins = listed_regions<Design>;
    using trial = typename Design::template region_build<bins>;
    const spill_list<word> spill{spilled_.data(), counters_.data(), 0};
    const bins regions{{before_, after_, before_.slots(), 0}, list};
    launch(trial{after_, regions, 0, false, spill, counters_.data() + 2}, count);
    const u64 left = read_one(space_, counters_.data());
    if (left == 0) space_.fill(counters_.data(), 3, u64(0));
    return left == 0;
  }
  template <class Work>
  void launch(const Work& work, u64 count) {
    const u64 bytes = build_type::scratch_bytes(after_.region_buckets());
    if constexpr (requires { space_.scratch_of(count, bytes); })
      space_.for_each_block(count, Work::block_size, bytes, work, scratch_);
    else
      space_.for_each_block(count, Work::block_size, bytes, work);
  }

  Space& space_;
  Design before_, after_;
  std::vector<step> steps_;
  u64 from_copy_ = 0;  // new regions, the first ones, built from a copy of ...
  u64 copied_ = 0;     // ... so many old ones
  buffer<u64, Space> counters_;
  buffer<word, Space> spilled_, saved_;
  decltype(scratch_taken(std::declval<Space&>(), 0, 0)) scratch_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
