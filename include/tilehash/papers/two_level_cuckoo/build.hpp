// SPDX-License-Identifier: Apache-2.0
// The build of `two_level_cuckoo`: partition the items, then build the regions in block-local memory.
//
//   items --partition--> | bin 0 | bin 1 | ... one for each group of neighbouring regions
//                           | ^     | ^
//                         block 0  block 1 ... each reads its bin, builds the group's regions in its scratch
//                                              and writes them to the table
//
// The partition is partition.hpp's. A bin is the memory of its group's slots, which has a slot for each item,
// so the build needs next to no memory in addition to the table. If a repeated key overflows its bin, the
// counts of the bins are known all the same, and the items are partitioned a second time, into bins that are
// large enough. (Words of 16 bytes always have separate bins.)
//
// The steps of a block, with a barrier between them (build_block.hpp):
//   0  clear           the scratch
//   1  place           puts every item into the first empty one of its three spots; where none is, it takes
//                      the spot of a key, which then looks for another of its own. A key that meets an equal
//                      one is dropped. A key that has looked too often gives the region up for this seed
//   2  clear_given_up  clears the regions that were given up; then step 1 again, with the next seed, for
//                      their items alone
//   3  write_back      the regions and their seeds. Among equal keys that did not meet, because one was in
//                      flight while the other looked, the one in the first spot stays
#pragma once

#include <numeric>
#include <vector>

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/papers/two_level_cuckoo/build_block.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The partition's route: its regions are this build's groups.
template <class Design>
struct two_level_groups : keys_as_they_are<typename Design::slot_type> {
  using key_bits = typename Design::key_bits;

  Design design;
  u32 shift;  // log2 of the regions of a group

  two_level_groups(const Design& d, u32 log2_of_a_group) : design(d), shift(log2_of_a_group) {}
  TILEHASH_FN u32 regions() const { return ((design.regions() - 1) >> shift) + 1; }
  TILEHASH_FN u32 region_of(key_bits k) const { return design.region_of(design.hash(k)) >> shift; }
};

// Inserts items with sentinel keys into their cells, and hides them from the partition.
template <class Slot, class Source>
struct items_without_sentinels {
  Source source;
  sentinel_cells<Slot> cells;
  u64* count;

  TILEHASH_FN detail::item<Slot> operator()(u64 i) const {
    detail::item<Slot> x = source(i);
    if constexpr (Slot::reserves_keys) {
      if (x.valid && x.key.reserved) {
        cells.insert(x.key.bits, x.value);
        fetch_add(count, u64(1));
        x.valid = false;
      }
    }
    return x;
  }
};

// Builds the table from n items. The result is not complete if a region could not be built.
template <class Space, class Design, class Source>
build_result build_two_level(Space& space, const Design& design, const Source& source, u64 n,
                             const sentinel_cells<typename Design::slot_type>& cells) {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using build_type = two_level_build<Design>;
  using groups_type = two_level_groups<Design>;
  using counts_of = two_level_counter;
  using source_type = items_without_sentinels<slot_type, Source>;
  const u32 shift = build_type::group_shift(space, design);
  const groups_type route(design, shift);
  const u32 groups = route.regions(), capacity = design.region_slots() << shift;
  buffer<u32, Space> fill(space, groups);
  buffer<u64, Space> counts(space, counts_of::all);
  buffer<word, Space> apart(space, build_type::builds_in_place ? 0 : static_cast<u64>(groups) * capacity);
  buffer<u64, Space> starts;
  const u32 last_capacity = static_cast<u32>(design.capacity() - static_cast<u64>(groups - 1) * capacity);
  uneven_bins<word> bins{{build_type::builds_in_place ? design.slots() : apart.data(), capacity, fill.data()},
                         groups - 1,
                         last_capacity};
  const auto partition = [&] {
    space.fill(counts.data(), counts_of::all, u64(0));
    const source_type items{source, cells, counts.data() + counts_of::sentinels};
    send_to_bins(space, route, items, n, bins, counts.data() + counts_of::illegal);
    return fill.to_host();
  };

  const auto sizes = partition();
  if (n > ~u32(0)) {  // a bin's count may have wrapped
    const auto known = counts.to_host();
    require(std::accumulate(sizes.begin(), sizes.end(), u64(0)) + known[counts_of::illegal] +
                    known[counts_of::sentinels] ==
                n,
            "two_level_cuckoo: over 2^32 items fall to one block; leave out repeated keys");
  }
  if (grow_bins(space, bins, sizes, apart, starts)) partition();
  space.for_each_block(groups, build_type::block_size,
                       build_type::scratch_bytes(shift, design.region_slots()),
                       build_type{design, shift, bins, counts.data()});

  const auto sums = counts.to_host();
  build_result result;
  result.complete = sums[counts_of::hopeless] == 0;
  insert_report& report = result.report;
  report.inserted = sums[counts_of::stored];
  if constexpr (slot_type::reserves_keys) {
    typename sentinel_cells<slot_type>::cell two[2];
    space.copy_to_host(two, cells.cells, sizeof two);
    report.inserted += two[0].taken() + two[1].taken();
  }
  report.refused = sums[counts_of::illegal];
  report.present = n - report.inserted - report.refused;
  return result;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
