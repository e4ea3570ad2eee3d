// SPDX-License-Identifier: Apache-2.0
// Fills tables by regions (when: engine/region_choice.hpp): the launches around the kernels that build one in
// a block's memory (Design::region_build: designs/tiled/build.hpp, designs/horton/build.hpp), or merge few
// items in place (Design::region_merge: designs/tiled/merge.hpp).
//
//   an empty table            bins are the regions' own memory     partition, build
//   ... of one region         the items are its bin                build
//   one that holds items      bins are outside the table           partition, build; or merge (few items)
//   items in bins already     one for each region                  build
//   one with so many regions that runs would be too short:
//
//   items --partition--> | slice 0 | slice 1 | ...     in an empty table's memory, or outside
//                             |
//                             +--partition--> | bin | bin | ... outside --build--> the slice's regions
//
// The result has the items left over, as a source of items to insert one by one.
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <vector>

#include <tilehash/algorithm/contested.hpp>
#include <tilehash/algorithm/ordered_bins.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/engine/region_items.hpp>
#include <tilehash/kernel/left_over.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The counts of items inserted by regions, and the items that were not inserted.
template <class Design, class Space>
struct region_filled {
  bool lists_left = false;  // false: too uneven, the items left over are not known
  u64 inserted = 0;
  u64 illegal = 0;
  u64 left = 0;  // items to insert one by one, from rest()
  buffer<typename Design::word, Space> memory;
  const typename Design::word* spilled = nullptr;  // in `memory`
  Design design;

  routed_source<Design> rest() const { return {design, spilled}; }
};

// Adds a build's items left over to a filter: there may be other items of their keys.
template <class Design>
struct add_left {
  const typename Design::word* left;
  hash_filter filter;

  TILEHASH_FN void operator()(u64 i) const {
    filter.add(static_cast<u64>(routed_item<typename Design::slot_type>::hash_of(left[i])));
  }
};

// A block's build of a region; one that replaces values, if the design has it.
template <class Design, class Bins, bool Assigns>
struct region_build_of {
  using type = typename Design::template region_build<Bins>;
};
template <class Design, class Bins>
struct region_build_of<Design, Bins, true> {
  using type = typename Design::template region_build<Bins, true>;
};

// The partition of few items to few regions.
template <class Route, class Source, class Bins, class Spill>
struct few_partition : partition<Route, Source, tuning::gpu::few_partition_items,
                                 tuning::gpu::few_partition_block, Bins, Spill> {
  static constexpr u32 resident_blocks = tuning::gpu::large_block / tuning::gpu::few_partition_block;
};

// Fills a table's regions with the items of sources. Any item of equal keys is kept; or the first, if no item
// of the key is left over and the table was empty.
// Assigns, for a table that holds items: the values of present keys are replaced.
template <class Design, class Space, bool KeepsFirst = false, bool Assigns = false>
class region_fill {
  using word = typename Design::word;
  using slot_type = typename Design::slot_type;
  using bins_type = even_bins<word>;
  using region_bins = std::conditional_t<KeepsFirst, ordered_bins<slot_type>, bins_type>;

 public:
  // `calls`, if any: memory of the table for the counters of few regions. No kernel clears it first, because the last
  // one leaves it zero.
  // `held`, if not 0: as many items as the table has at most.
  region_fill(Space& space, const Design& design, u64 n, bool merges, const call_memory* calls = nullptr,
              u64 held = 0)
      : space_(space),
        design_(design),
        merges_(merges),
        in_place_(Assigns ? !assigns_whole_regions(space, design, n)
                          : merges && merges_in_place(space, design, n)),
        few_(!Assigns && in_place_ && held != 0 && merges_few(design, n, held)),
        in_call_(Space::has_lanes && !KeepsFirst && calls != nullptr &&
                 regions_of(design) <= call_memory::bins),
        spill_capacity_(n / 32 + 1024),
        header_(in_call_ ? 0 : header_words(design)),
        memory_(space, header_ + spill_capacity_),
        counters_(in_call_ ? calls->region_counts() : reinterpret_cast<u64*>(memory_.data())),
        fill_(in_call_ ? calls->bin_numbers() : reinterpret_cast<u32*>(counters_ + counters_used)),
        spilled_(memory_.data() + header_) {
    if (!in_call_) space.fill(reinterpret_cast<char*>(counters_), header_ * sizeof(word), char(0));
  }
  // For the only region of an empty table, in the memory of a call.
  region_fill(Space& space, const Design& design, const call_memory& calls)
      : space_(space),
        design_(design),
        merges_(false),
        in_place_(false),
        in_call_(true),
        spill_capacity_(call_memory::few_items / 8 / sizeof(word)),
        header_(0),
        counters_(calls.region_counts()),
        fill_(calls.bin_numbers()),
        spilled_(reinterpret_cast<word*>(calls.few_bits())) {}

  // The only region of an empty table, in one step.
  template <class Source>
  void fill_one(const Source& source, u64 n) {
    const u32 threads = tuning::gpu::build_threads(static_cast<u32>(n));
    build(source_as_bin<Design, Source>{design_, source, static_cast<u32>(n), counters() + 1}, 0, 1, threads);
  }
  // The body of its block.
  template <class Source>
  auto build_of_one(const Source& source, u64 n) const {
    using bin = source_as_bin<Design, Source>;
    return typename Design::template region_build<bin>{
        design_,       bin{design_, source, static_cast<u32>(n), counters() + 1}, 0, false, spill(),
        counters() + 2};
  }
  // All regions: by the design's own build, slice by slice, or at once. In the last case their bins are the
  // table's own memory, or outside it.
  template <class Source>
  void fill_all(const Source& source, u64 n) {
    if constexpr (requires { design_.bulk_build(); }) {
      design_.bulk_build().run(space_, source, n, spill(), counters() + 1, counters() + 2);
    } else {
      if (fills_in_slices<Design, Space, KeepsFirst>(space_, design_, n, merges_))
        return fill_slices(source, n);
      const region_bins bins =
          for_regions(merges_ ? bins_apart(n, design_.regions())
                              : bins_of(design_.slots(), design_.region_slots(), design_.regions()));
      partition(design_, source, n, bins);
      put_in(bins, 0, design_.regions());
    }
  }
  // The same, if there are few regions and no build of the design's own: the partition, by small blocks, and returns the
  // body of a block that builds a region.
  template <class Source>
  auto partition_all(const Source& source, u64 n) {
    const bins_type bins = bins_of(design_.slots(), design_.region_slots(), design_.regions());
    using work = few_partition<Design, Source, bins_type, spill_list<word>>;
    const u64 at_once = work::resident_blocks * space_.large_blocks_at_once(), each = work::block_size,
              taken = std::min<u64>(work::share, divide_up(divide_up(n, at_once), each) * each);
    space_.for_each_block(
        divide_up(n, taken), work::block_size, work::scratch_bytes(design_.regions()),
        work{{design_, source, n, bins, spill(), counters() + 1, {}, {}, static_cast<u32>(taken)}});
    return
        typename Design::template region_build<bins_type>{design_, bins, 0, false, spill(), counters() + 2};
  }
  // For items in bins already, one for each region and none larger than it.
  template <class Bins>
  void fill_from(const Bins& bins) {
    build(bins, 0, design_.regions());
  }
  // Slice by slice. The slices' bins are the memory of an empty table, or outside it; the bins of a slice's
  // regions are always outside. All memory is taken before a region changes.
  template <class Source>
  void fill_slices(const Source& source, u64 n) {
    const u32 regions = design_.regions();
    const u64 each =
        std::min<u64>({best_regions<Space> / 2, divide_up(regions, 4),  // not larger, for memory's sake
                       most_counted<slot_type, KeepsFirst>(space_)});
    const region_slices<Design> slices{design_, static_cast<u32>(each)};
    const u32 last = slices.regions() - 1, in_last = regions - last * slices.each;
    const auto count_of = [&](u32 s) { return s == last ? in_last : slices.each; };
    u32 capacity = slices.each * design_.region_slots(), last_capacity = in_last * design_.region_slots();
    std::vector<u64> came(slices.regions());
    const auto send_on = [&](const auto& items_of, const auto& size_of) {
      u64 most = 0;
      for (u32 s = 0; s <= last; ++s)
        most = std::max<u64>(most, u64(capacity_apart(came[s], count_of(s))) * count_of(s));
      apart_ = buffer<word, Space>(space_, most);
      for (u32 s = 0; s <= last; ++s) {
        const u32 first = s * slices.each, count = count_of(s);
        const region_bins bins = for_regions(bins_apart(came[s], count));
        partition(region_slice<Design>(design_, first, count), items_of(s), size_of(s), bins);
        put_in(bins, first, count);
      }
    };
    if constexpr (KeepsFirst) {
      const u32 blocks = static_cast<u32>(space_.large_blocks_at_once());
      const buffer<u32, Space> parts(space_, static_cast<u64>(slices.regions()) * blocks);
      space_.fill(parts.data(), parts.size(), u32(0));
      const bins_of_parts<word> outer{design_.slots(), capacity, last, last_capacity, blocks, parts.data()};
      partition(slices, source, n, outer);
      const auto fill = parts.to_host();
      std::vector<u32> most(slices.regions());
      for (u64 i = 0; i < fill.size(); ++i) {
        const u32 s = static_cast<u32>(i % slices.regions()), its = std::min(fill[i], outer.part_of(s));
        came[s] += its;
        most[s] = std::max(most[s], its);
      }
      const auto items_of = [&](u32 s) { return parts_source<slot_type>{outer, s, most[s]}; };
      send_on(items_of, [&](u32 s) { return items_of(s).size(); });
    } else {
      buffer<word, Space> slices_apart;
      if (merges_) {
        capacity = last_capacity = most_in_a_bin(n * slices.each / regions + 1, 1);
        slices_apart = buffer<word, Space>(space_, static_cast<u64>(capacity) * slices.regions());
      }
      const uneven_bins<word> outer{
          bins_of(merges_ ? slices_apart.data() : design_.slots(), capacity, slices.regions()), last,
          last_capacity};
      partition(slices, source, n, outer);
      std::vector<u32> fill(slices.regions());
      space_.copy_to_host(fill.data(), this->fill(), fill.size() * sizeof(u32));
      for (u32 s = 0; s <= last; ++s) came[s] = std::min(fill[s], outer.capacity_of(s));
      const auto items_of = [&](u32 s) {
        return routed_source<keys_as_they_are<slot_type>>{{}, outer.at(s)};
      };
      send_on(items_of, [&](u32 s) { return came[s]; });
    }
  }

  region_filled<Design, Space> result() {
    u64 counts[counters_used];
    apart_ = buffer<word, Space>();  // while the kernels run
    take_counts(counts);
    region_filled<Design, Space> r;
    r.design = design_;
    r.left = counts[0];
    r.illegal = counts[1];
    r.inserted = counts[2];
    r.lists_left = r.left <= spill_capacity_;
    r.memory = std::move(memory_);
    r.spilled = spilled_;
    return r;
  }
  // The same for kernels. The memory must stay until they are started.
  left_counts<word> counts() const {
    return {counters(), spilled_, spill_capacity_, in_call_ ? fill() : nullptr,
            in_call_ ? regions_of(design_) : 0};
  }

 private:
  // At the front of the memory, unless they are in that of the table: the counters, and the fill of each bin.
  static constexpr u32 counters_used = counts_of_a_fill;
  static u32 regions_of(const Design& design) {
    if constexpr (requires { design.regions(); })
      return design.regions();
    else
      return 0;
  }
  static u64 header_words(const Design& design) {
    return divide_up(counters_used * sizeof(u64) + u64(regions_of(design)) * sizeof(u32), sizeof(word));
  }
  u64* counters() const { return counters_; }
  u32* fill() const { return fill_; }
  // Synchronizes with the host. A kernel that writes to host memory takes less time than a copy.
  void take_counts(u64* counts) {
    u64* const host = host_words_of(space_);
    if (host == nullptr) space_.copy_to_host(counts, counters(), counters_used * sizeof(u64));
    if constexpr (Space::has_lanes) {
      const u32 bins = in_call_ ? regions_of(design_) : 0;
      if (host != nullptr || in_call_)
        space_.for_each(std::max(counters_used, bins),
                        taken_counts{counters(), host, fill(), bins, in_call_});
    }
    if (host == nullptr) return;
    space_.synchronize();
    std::copy_n(host, counters_used, counts);
  }
  bins_type bins_of(word* entries, u32 capacity, u32 bins) {
    if (used_) space_.fill(fill(), bins, u32(0));
    used_ = true;
    return {entries, capacity, fill()};
  }
  u32 capacity_apart(u64 n, u32 bins) const {
    const u32 most = most_in_a_bin(n, bins);
    return KeepsFirst ? std::max(most, design_.region_slots()) : most;  // copies are uneven
  }
  bins_type bins_apart(u64 n, u32 bins) {
    const u32 its = capacity_apart(n, bins);
    const u64 words = static_cast<u64>(its) * bins;
    if (apart_.size() < words) apart_ = buffer<word, Space>(space_, words);
    return bins_of(apart_.data(), its, bins);
  }
  region_bins for_regions(const bins_type& bins) const {
    if constexpr (KeepsFirst)
      return {bins, region_bins::block_bits_for(design_.regions())};
    else
      return bins;
  }
  spill_list<word> spill() const { return {spilled_, counters(), spill_capacity_}; }

  template <class Route, class Source, class Bins>
  void partition(const Route& route, const Source& source, u64 n, const Bins& bins) {
    send_by_blocks(space_, route, source, n, bins, spill(), counters() + 1,
                   before_partition<slot_type, Space, KeepsFirst>());
  }
  void put_in(const region_bins& bins, u32 first, u32 count) {
    if (in_place_) return merge(bins, first, count);
    build(bins, first, count);
  }
  void merge(const bins_type& bins, u32 first, u32 count) {
    if constexpr (Space::has_lanes && !Assigns && can_merge_few<Design>) {
      if (few_) {
        using few = typename Design::region_merge_few;
        return space_.for_each_block(count, few::block_size, few::scratch_bytes(design_.region_buckets()),
                                     few{design_, bins, first, spill(), counters() + 2});
      }
    }
    if constexpr (requires { typename Design::template region_merge<>; }) {
      using merge_type = typename Design::template region_merge<even_bins<word>, Assigns>;
      space_.for_each_block(count, merge_type::block_size,
                            merge_type::scratch_bytes(design_.region_buckets()),
                            merge_type{design_, bins, first, spill(), counters() + 2});
    }
  }
  template <class Bins>
  void build(const Bins& bins, u32 first, u32 count, u32 most_threads = ~u32(0)) {
    using build_type = typename region_build_of<Design, Bins, Assigns && std::same_as<Bins, bins_type>>::type;
    space_.for_each_block(count, std::min(build_type::block_size, most_threads),
                          build_type::scratch_bytes(design_.region_buckets()),
                          build_type{design_, bins, first, merges_, spill(), counters() + 2});
  }

  Space& space_;
  Design design_;
  bool merges_, in_place_, few_ = false;  // few_: a merge reads the buckets of its items alone
  bool in_call_;                          // the counters and the bins' numbers are in the memory of the table
  u64 spill_capacity_, header_;           // words
  buffer<word, Space> memory_, apart_;
  u64* counters_;      // of remaining, illegal and new items
  u32* fill_;          // of each bin
  word* spilled_;      // the list of items left over
  bool used_ = false;  // the bins' numbers are not zero
};

// The same for the only region of an empty table, where one_region_pays().
template <class Design, class Space, class Source>
region_filled<Design, Space> fill_region(Space& space, const Design& design, const Source& source, u64 n) {
  region_fill<Design, Space> fill(space, design, n, false);
  fill.fill_one(source, n);
  return fill.result();
}

// Inserts the n items of the source. Unless it merges, the table's slots may have any content. Temporary
// memory: a thirty-second of the items' bytes, and those of a slice if there are slices; a merge takes all of
// the items' bytes, too.
// KeepsFirst, for an empty table: keeps the first of equal keys, if no item of the key is left over.
template <bool KeepsFirst = false, class Design, class Space, class Source>
region_filled<Design, Space> fill_regions(Space& space, const Design& design, const Source& source, u64 n,
                                          bool merges) {
  region_fill<Design, Space, KeepsFirst> fill(space, design, n, merges);
  fill.fill_all(source, n);
  return fill.result();
}

// Assigns the values of n items to a table that holds some, and inserts those with new keys. Returns nothing
// where that does not pay.
template <class Design, class Space, class Source>
std::optional<region_filled<Design, Space>> assign_by_regions(Space& space, const Design& design,
                                                              const Source& source, u64 n,
                                                              const call_memory& calls) {
  if constexpr (assigns_by_regions<Design, Space>()) {
    if (assigning_pays(space, design, n)) {
      region_fill<Design, Space, false, true> fill(space, design, n, true, &calls);
      fill.fill_all(source, n);
      return fill.result();
    }
  }
  return std::nullopt;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
