// When and how tables are filled by regions: the launches around what builds one in a block's memory
// (Design::region_build: designs/tiled/build.hpp, designs/horton/build.hpp).
//
//   an empty table            bins are the regions' own memory     partition, build
//   one that holds items      bins stand beside the table          partition, build
//   items in bins already     one for each region                  build
//   an empty one with more regions than runs are long for:
//
//   items --partition--> | slice 0 | slice 1 | ...     in the table's memory
//                             |
//                             +--partition--> | bin | bin | ... beside it --build--> the slice's regions
//
// What is left over comes back as a source of items to insert one by one.
#pragma once

#include <algorithm>
#include <cmath>

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// What was inserted by regions, and what was not.
template <class Design, class Space>
struct region_filled {
  bool lists_left = false;  // false: too uneven, what is left is not known
  u64 inserted = 0;
  u64 illegal = 0;
  u64 left = 0;  // items to insert one by one, from rest()
  buffer<typename Design::word, Space> spilled;
  Design design;

  routed_source<Design> rest() const { return {design, spilled.data()}; }
};

// Is partitioning worth it for n items? It streams the whole table, when it holds items in both directions,
// so not for few: a twelfth of the capacity, or where single inserts would be slow because the table gets
// full, fewer (docs/designs/tiled.md). And a block's scratch must hold a region, and a partition's
// counters: where there are more regions than it can count, an empty table is filled slice by slice. (A CPU
// can count those of any table.)
template <class Space, class Design>
bool regions_pay(const Space& space, const Design& design, u64 n, u64 held) {
  if constexpr (filling_itself<Design>) {
    return held == 0 && n >= least_to_partition && design.bulk_build().pays(space, n);
  } else {
    const double full = static_cast<double>(held + n) / static_cast<double>(design.capacity());
    const u64 share = held == 0 ? 4 : full > 0.93 ? 20 : full > 0.85 ? 17 : 12;
    const u64 most = most_regions<typename Design::slot_type>(space);
    return n >= least_to_partition && n >= design.capacity() / share &&
           (held == 0 || Design::template region_build<>::merges_too) &&
           (design.regions() <= most || (partitions_in_steps<Space> && held == 0 && most != 0)) &&
           design.region_slots() <= Design::template region_build<>::most_slots &&
           Design::template region_build<>::scratch_bytes(design.region_buckets()) <= space.largest_scratch();
  }
}

// ---- slices: so many neighbouring regions that a block can count them ----

// To the slices.
template <class Design>
struct region_slices {
  using slot_type = typename Design::slot_type;
  using key_bits = typename slot_type::key_bits;
  Design design;
  u32 each;  // regions of a slice

  TILEHASH_FN u32 regions() const { return (design.regions() - 1) / each + 1; }
  TILEHASH_FN key_bits hash(key_bits k) const { return design.hash(k); }
  TILEHASH_FN u32 region_of(key_bits h) const { return design.region_of(h) / each; }
};
// From a slice to its regions. What comes is hashed already.
template <class Design>
struct region_slice : keys_as_they_are<typename Design::slot_type> {
  using key_bits = typename Design::key_bits;
  Design design;
  u32 first, count;

  region_slice(const Design& d, u32 first_region, u32 regions)
      : design(d), first(first_region), count(regions) {}
  TILEHASH_FN u32 regions() const { return count; }
  TILEHASH_FN u32 region_of(key_bits h) const { return design.region_of(h) - first; }
};

// Fills a table's regions with the items of sources.
template <class Design, class Space>
class region_fill {
  using word = typename Design::word;
  using slot_type = typename Design::slot_type;
  using bins_type = even_bins<word>;

 public:
  region_fill(Space& space, const Design& design, u64 n, bool merges)
      : space_(space),
        design_(design),
        merges_(merges),
        spill_capacity_(n / 32 + 1024),
        spilled_(space, spill_capacity_),
        counters_(space, 3) {
    space.fill(counters_.data(), 3, u64(0));
  }

  // All regions at once. Their bins are the table's own memory, or stand beside it.
  template <class Source>
  void fill_all(const Source& source, u64 n) {
    const bins_type bins = merges_ ? bins_beside(n, design_.regions())
                                   : bins_of(design_.slots(), design_.region_slots(), design_.regions());
    partition(design_, source, n, bins);
    build(bins, 0, design_.regions());
  }
  // The items stand in bins already, one for each region and none larger than it.
  template <class Bins>
  void fill_from(const Bins& bins) {
    build(bins, 0, design_.regions());
  }
  // Into an empty table, slice by slice: the slices' bins are the table's memory, those of a slice's regions
  // stand beside it.
  template <class Source>
  void fill_slices(const Source& source, u64 n) {
    const u32 regions = design_.regions();
    const u64 each = std::min<u64>({best_regions / 2, divide_up(regions, 4),  // not larger, for memory's sake
                                    most_regions<slot_type>(space_)});
    const region_slices<Design> slices{design_, static_cast<u32>(each)};
    const u32 last = slices.regions() - 1, in_last = regions - last * slices.each;
    const uneven_bins<word> outer{
        bins_of(design_.slots(), slices.each * design_.region_slots(), slices.regions()), last,
        in_last * design_.region_slots()};
    partition(slices, source, n, outer);
    const auto came = fill_.to_host();
    for (u32 s = 0; s <= last; ++s) {
      const u32 first = s * slices.each, count = s == last ? in_last : slices.each;
      const u64 its = came[s] < outer.room_of(s) ? came[s] : outer.room_of(s);
      const bins_type bins = bins_beside(its, count);
      partition(region_slice<Design>(design_, first, count),
                routed_source<keys_as_they_are<slot_type>>{{}, outer.at(s)}, its, bins);
      build(bins, first, count);
    }
  }

  // Into an empty table, as its design does it.
  template <class Source>
  void fill_by_design(const Source& source, u64 n) {
    design_.bulk_build().run(space_, source, n, spill(), counters_.data() + 1, counters_.data() + 2);
  }

  region_filled<Design, Space> result() {
    const auto counts = counters_.to_host();
    region_filled<Design, Space> r;
    r.design = design_;
    r.left = counts[0];
    r.illegal = counts[1];
    r.inserted = counts[2];
    r.lists_left = r.left <= spill_capacity_;
    r.spilled = std::move(spilled_);
    return r;
  }

 private:
  bins_type bins_of(word* entries, u32 room, u32 bins) {
    fill_ = buffer<u32, Space>(space_, bins);
    space_.fill(fill_.data(), bins, u32(0));
    return {entries, room, fill_.data()};
  }
  bins_type bins_beside(u64 n, u32 bins) {
    const double mean = static_cast<double>(n) / bins;
    const double room = mean + 8 * std::sqrt(mean) + 32;  // the number that comes varies by a root
    const u32 its = room < ~u32(0) ? static_cast<u32>(room) : ~u32(0);
    beside_ = {};
    beside_ = buffer<word, Space>(space_, static_cast<u64>(its) * bins);
    return bins_of(beside_.data(), its, bins);
  }
  spill_list<word> spill() const { return {spilled_.data(), counters_.data(), spill_capacity_}; }

  template <class Route, class Source, class Bins>
  void partition(const Route& route, const Source& source, u64 n, const Bins& bins) {
    send_by_blocks(space_, route, source, n, bins, spill(), counters_.data() + 1);
  }
  template <class Bins>
  void build(const Bins& bins, u32 first, u32 count) {
    using build_type = typename Design::template region_build<Bins>;
    space_.for_each_block(count, build_type::block_size, build_type::scratch_bytes(design_.region_buckets()),
                          build_type{design_, bins, first, merges_, spill(), counters_.data() + 2});
  }

  Space& space_;
  Design design_;
  bool merges_;
  u64 spill_capacity_;
  buffer<word, Space> spilled_, beside_;
  buffer<u64, Space> counters_;
  buffer<u32, Space> fill_;
};

// Inserts the n items of the source. A table that it does not merge with may have anything in its slots;
// beside that it takes a thirty-second of the items' bytes, and a slice's where there are slices; a merge
// their bytes once more.
template <class Design, class Space, class Source>
region_filled<Design, Space> fill_regions(Space& space, const Design& design, const Source& source, u64 n,
                                          bool merges) {
  region_fill<Design, Space> fill(space, design, n, merges);
  if constexpr (filling_itself<Design>) {
    fill.fill_by_design(source, n);
  } else {
    bool in_slices = false;
    if constexpr (partitions_in_steps<Space>) {
      const u64 most = most_regions<typename Design::slot_type>(space);
      in_slices = !merges && design.regions() > (most < best_regions ? most : best_regions);
      if (in_slices) fill.fill_slices(source, n);
    }
    if (!in_slices) fill.fill_all(source, n);
  }
  return fill.result();
}

}  // namespace tilehash::inline TILEHASH_ABI::detail
