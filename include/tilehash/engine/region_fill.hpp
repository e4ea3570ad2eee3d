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

// ---- slices: so many neighbouring regions that a block can count them ----

// The route of items to the slices.
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
// The route from a slice to its regions. Its keys are hashed already.
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

// The bin of a table's only region: the items of the call (Bins: designs/tiled/build.hpp).
template <class Design, class Source>
struct source_as_bin {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  static constexpr bool are_items = true;

  Design design;
  Source source;
  u32 n;
  u64* illegal;

  TILEHASH_FN const source_as_bin& at(u32 /*region*/) const { return *this; }
  TILEHASH_FN word operator[](u32 i) const { return entry(source(i)); }
  template <class Use>
  TILEHASH_FN void for_each_item(u32 me, u32 all, const Use& use) const {
    for (u32 i = me; i < n; i += all) {
      const auto x = source(i);
      if (x.valid && x.key.legal) use(i, entry(x));
      if (x.valid && !x.key.legal) fetch_add(illegal, u64(1));
    }
  }

 private:
  TILEHASH_FN word entry(const item<slot_type>& x) const {
    return routed_item<slot_type>::pack(design.hash(x.key.bits), x.value);
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
  region_fill(Space& space, const Design& design, u64 n, bool merges)
      : space_(space),
        design_(design),
        merges_(merges),
        in_place_(Assigns ? !assigns_whole_regions(space, design, n)
                          : merges && merges_in_place(space, design, n)),
        spill_capacity_(n / 32 + 1024),
        header_(header_words(design)),
        memory_(space, header_ + spill_capacity_),
        at_(memory_.data()) {
    space.fill(reinterpret_cast<char*>(at_), header_ * sizeof(word), char(0));
  }
  // For the only region of an empty table, in the memory of a call.
  region_fill(Space& space, const Design& design, const call_memory& calls)
      : space_(space),
        design_(design),
        merges_(false),
        in_place_(false),
        spill_capacity_(call_memory::region_bytes / sizeof(word) - header_words(design)),
        header_(header_words(design)),
        at_(reinterpret_cast<word*>(calls.region_counts())) {}

  // The only region of an empty table, in one step.
  template <class Source>
  void fill_one(const Source& source, u64 n) {
    const u32 threads = tuning::gpu::build_threads(static_cast<u32>(n));
    build(source_as_bin<Design, Source>{design_, source, static_cast<u32>(n), counters() + 1}, 0, 1, threads);
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
    space_.copy_to_host(counts, counters(), sizeof counts);
    region_filled<Design, Space> r;
    r.design = design_;
    r.left = counts[0];
    r.illegal = counts[1];
    r.inserted = counts[2];
    r.lists_left = r.left <= spill_capacity_;
    r.memory = std::move(memory_);
    r.spilled = r.memory.data() + header_;
    return r;
  }
  // The same for kernels. The memory must stay until they are started.
  left_counts<word> counts() const { return {counters(), at_ + header_, spill_capacity_}; }

 private:
  // At the front of the memory: counters of remaining, illegal and new items; the fill of each bin.
  static constexpr u32 counters_used = 3;
  static u64 header_words(const Design& design) {
    u64 bins = 0;
    if constexpr (requires { design.regions(); }) bins = design.regions();
    return divide_up(counters_used * sizeof(u64) + bins * sizeof(u32), sizeof(word));
  }
  u64* counters() const { return reinterpret_cast<u64*>(at_); }
  u32* fill() const { return reinterpret_cast<u32*>(counters() + counters_used); }
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
  spill_list<word> spill() const { return {at_ + header_, counters(), spill_capacity_}; }

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
  bool merges_, in_place_;
  u64 spill_capacity_, header_;  // words
  buffer<word, Space> memory_, apart_;
  word* at_;           // the counters, and the list of items left over
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
                                                              const Source& source, u64 n) {
  if constexpr (assigns_by_regions<Design, Space>()) {
    if (assigning_pays(space, design, n)) {
      region_fill<Design, Space, false, true> fill(space, design, n, true);
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
