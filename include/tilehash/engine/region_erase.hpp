// SPDX-License-Identifier: Apache-2.0
// Erases many keys by regions, where that pays: the launches around the kernel that erases from one region in
// a block's memory (Design::region_erase: designs/horton/erase.hpp).
//
//   keys --partition--> | bin | bin | ... outside the table    only their hashes
//                          |     |
//                        block block ...  each fetches its region, erases the keys of its bin, tidies, and
//                                         writes it out
//
// A single erase reads a random line of memory and writes it back. Here keys are written in runs, and the
// whole table is read and written in order, so it does not pay for few keys.
#pragma once

#include <algorithm>

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/erase.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A partitioned key without a value: its hash.
template <class Slot>
struct key_alone : Slot {
  using mapped_type = void;
  using word = typename Slot::key_bits;
  using value_bits = u8;
  static constexpr bool is_set = true;
  static constexpr u32 value_shift = 0;
  TILEHASH_FN static constexpr value_bits value_of(word /*hash*/) { return 0; }
};

// From keys to their regions.
template <class Design>
struct erase_route {
  using slot_type = key_alone<typename Design::slot_type>;
  using key_bits = typename Design::key_bits;
  Design design;

  TILEHASH_FN u32 regions() const { return design.regions(); }
  TILEHASH_FN key_bits hash(key_bits k) const { return design.hash(k); }
  TILEHASH_FN key_bits unhash(key_bits h) const { return design.unhash(h); }
  TILEHASH_FN u32 region_of(key_bits h) const { return design.region_of(h); }
};

// Erases keys that did not fit their bins: more keys of one region, or equal ones, than expected by chance.
template <class Design>
struct erase_spilled {
  Design design;
  const typename Design::key_bits* hashes;
  call_counters counters;
  TILEHASH_FN void operator()(u64 i) const {
    query<typename Design::slot_type> key;
    key.bits = design.unhash(hashes[i]);
    key.legal = true;
    if (erase_one(design, {}, key)) counters.add(counter::gone, i / 32, 1);
  }
};

struct count_gone {
  call_counters counters;
  TILEHASH_FN void operator()(u32 region, u32 n) const {
    if (n != 0) counters.add(counter::gone, region, n);
  }
};

template <class Design, class Space>
class region_erase {
  using key_bits = typename Design::key_bits;
  using key_type = typename Design::key_type;
  using slot_type = key_alone<typename Design::slot_type>;
  using bins_type = even_bins<key_bits>;
  using block_type = typename Design::template region_erase<bins_type, count_gone>;

 public:
  // Is it worth it for n keys? Each window of them reads and writes the whole table, so not for few. There
  // must be two regions for each block that runs at once (docs/explain/horton.md). A block's scratch must
  // hold a region, and a partition's counters.
  static bool pays(const Space& space, const Design& design, u64 n) {
    const u64 most =
        std::min<u64>(most_regions<slot_type>(space), Space::has_lanes ? best_regions<Space> : ~u32(0));
    return n >= least_to_partition<Space> && n >= design.capacity() / tuning::of<Space>::erase_share &&
           design.regions() <= most &&
           design.regions() >= tuning::of<Space>::erase_regions_each * least_regions(space) &&
           block_type::scratch_bytes(design.region_buckets()) <= space.largest_scratch();
  }

  // Allocates memory for at most n keys, in windows. A window takes at most a quarter of the table's memory.
  // Throws out_of_memory.
  region_erase(Space& space, const Design& design, u64 n)
      : space_(space),
        route_{design},
        window_(
            std::min(n, std::max(least_to_partition<Space>,
                                 design.capacity() / 4 * sizeof(typename Design::word) / sizeof(key_bits)))),
        capacity_(static_cast<u32>(bin_capacity(window_, design.regions()))),
        spill_capacity_(window_ / 32 + 1024),
        entries_(space, static_cast<u64>(capacity_) * design.regions()),
        spilled_(space, spill_capacity_),
        counts_(space, 2),
        fill_(space, design.regions()) {}

  void run(const key_type* keys, u64 n, const call_counters& counters) {
    for (u64 done = 0; done < n; done += window_)
      erase_window(keys + done, std::min(window_, n - done), counters);
  }

 private:
  // Synchronizes with the host once, to learn the number of spilled keys.
  void erase_window(const key_type* keys, u64 n, const call_counters& counters) {
    const Design& design = route_.design;
    space_.fill(fill_.data(), fill_.size(), u32(0));
    space_.fill(counts_.data(), 2, u64(0));
    const bins_type bins{entries_.data(), capacity_, fill_.data()};
    send_by_blocks(space_, route_, array_source<slot_type>{keys, nullptr}, n, bins,
                   spill_list<key_bits>{spilled_.data(), counts_.data(), spill_capacity_},
                   counts_.data() + 1);
    space_.for_each_block(design.regions(), block_type::block_size,
                          block_type::scratch_bytes(design.region_buckets()),
                          block_type{design, bins, count_gone{counters}});
    const u64 left = read_one(space_, counts_.data());
    if (left > spill_capacity_)  // too uneven; erased keys are absent, so they do not count twice
      erase(space_, design, {}, keys, n, counters);
    else
      space_.for_each(left, erase_spilled<Design>{design, spilled_.data(), counters});
  }

  Space& space_;
  erase_route<Design> route_;
  u64 window_;
  u32 capacity_;
  u64 spill_capacity_;
  buffer<key_bits, Space> entries_, spilled_;
  buffer<u64, Space> counts_;  // spilled keys; keys that are not legal (unused)
  buffer<u32, Space> fill_;
};

// Erases the keys and returns true, if that pays and there is memory for it. Spilled keys may leave buckets
// that need tidying.
template <partition_built Design, class Space>
bool erase_by_regions(Space& space, const Design& design, const typename Design::key_type* keys, u64 n,
                      const call_counters& counters) {
  using erase_type = region_erase<Design, Space>;
  if (!erase_type::pays(space, design, n)) return false;
  try {
    erase_type(space, design, n).run(keys, n, counters);
    return true;
  } catch (const out_of_memory&) {
    return false;
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
