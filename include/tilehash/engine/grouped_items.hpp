// Many items, sorted by groups of a table's regions before they are put in, so that the lines they change are
// in the GPU's cache meanwhile: each line of the table then comes from memory once and goes back once.
//
//   items   | c a f b e d ... |   --partition-->   | a b . | c d . | e f . | ...     a bin for each group
//                                                     put in one after the other, as they stand
//
// Memory: the items' bytes once more. Where that is not to be had, or keys are so uneven that bins overflow,
// the items are put in as they come.
#pragma once

#include <bit>
#include <cmath>

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/apart_slot.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// Pairs of a word, given as arrays, on a machine whose threads are so many that they share a cache's lines.
template <class Design, class Space, class Source>
inline constexpr bool can_group = [] {
  using slot_type = typename Design::slot_type;
  if constexpr (Space::has_lanes && std::same_as<Source, array_source<slot_type>>)
    return slot_type::key_bytes + slot_type::value_bytes <= 8 && std::endian::native == std::endian::little;
  else
    return false;
}();

inline constexpr u32 most_groups = 256;  // more than the cache asks for do not help

// Where the table is larger than the cache, and so many items come that two or more of them share a line.
template <class Space, class Design>
bool grouping_pays(const Space& space, const Design& design, u64 n, u64 bytes) {
  return bytes > space.cache_bytes() && n >= design.capacity() / 8 && n >= least_to_partition &&
         design.region_bits() >= 1;
}

// To the groups: the low bits of the region's number.
template <class Design, class Pair>
struct group_route : keys_as_they_are<Pair> {
  Design design;
  u32 mask;

  group_route(const Design& d, u32 groups) : design(d), mask(groups - 1) {}
  TILEHASH_FN u32 regions() const { return mask + 1; }
  TILEHASH_FN u32 region_of(typename Pair::key_bits k) const {
    return design.region_of(Design::slot_type::encode(Pair::decode(k)), mask);
  }
};

// Items by their places in bins. Their values stand in the low bytes of the words.
template <class Design, class Pair>
struct binned_source {
  using slot_type = typename Design::slot_type;
  even_bins<typename Pair::word> bins;

  TILEHASH_FN item<slot_type> operator()(u64 i) const {
    const u32 bin = static_cast<u32>(i / bins.room), at = static_cast<u32>(i % bins.room);
    item<slot_type> x;
    if (at >= bins.size(bin)) return x;
    const auto* const entry = bins.entries + i;
    x.key.bits = slot_type::encode(Pair::decode(routed_item<Pair>::hash_of(*entry)));
    x.key.legal = x.valid = true;
    if constexpr (!slot_type::is_set)
      x.value = reinterpret_cast<const typename slot_type::value_element*>(entry);
    return x;
  }
};

template <class Design, class Space>
class grouped_items {
  using pair = slot<typename Design::key_type, typename Design::mapped_type>;
  using word = typename pair::word;

 public:
  bool complete = false;  // every item is in a bin, in the rest, or illegal
  u64 left = 0, illegal = 0;

  // Waits.
  template <class Source>
  grouped_items(Space& space, const Design& design, const Source& source, u64 n) {
    const u32 bits = design.region_bits();
    const u32 groups = bits >= 8 ? most_groups : u32(1) << bits;
    const double mean = static_cast<double>(n) / groups;
    const double room = mean + 8 * std::sqrt(mean) + 32;
    if (room >= static_cast<double>(~u32(0))) return;
    const u64 spill_room = n / 32 + 1024;
    try {
      bins_.room = static_cast<u32>(room);
      entries_ = buffer<word, Space>(space, static_cast<u64>(bins_.room) * groups);
      fill_ = buffer<u32, Space>(space, groups);
      spilled_ = buffer<word, Space>(space, spill_room);
      counters_ = buffer<u64, Space>(space, 2);
    } catch (const out_of_memory&) {
      return;
    }
    bins_.entries = entries_.data();
    bins_.fill = fill_.data();
    space.fill(fill_.data(), groups, u32(0));
    space.fill(counters_.data(), 2, u64(0));
    const array_source<pair> items{source.keys, source.values};
    send_by_blocks(space, group_route<Design, pair>(design, groups), items, n, bins_,
                   spill_list<word>{spilled_.data(), counters_.data(), spill_room}, counters_.data() + 1);
    const auto counts = counters_.to_host();
    left = counts[0];
    illegal = counts[1];
    complete = left <= spill_room;
  }
  u64 places() const { return entries_.size(); }
  binned_source<Design, pair> source() const { return {bins_}; }
  // Those that no bin had room for, in one of their own.
  binned_source<Design, pair> rest() const {
    return {{spilled_.data(), static_cast<u32>(left), reinterpret_cast<u32*>(counters_.data())}};
  }

 private:
  even_bins<word> bins_{};
  buffer<word, Space> entries_, spilled_;
  buffer<u32, Space> fill_;
  buffer<u64, Space> counters_;
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
