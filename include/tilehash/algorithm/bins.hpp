// SPDX-License-Identifier: Apache-2.0
// Bins: the memory to which a partition (algorithm/partition.hpp) writes the items of each region, the format
// of these items, and the list of items that exceed a bin's capacity.
#pragma once

#include <numeric>
#include <vector>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// An item during a partition: a word like a slot's that holds the whole hash.
template <class Slot>
struct routed_item {
  using word = typename Slot::word;
  TILEHASH_FN static word pack(typename Slot::key_bits hash, typename Slot::value_bits v) {
    if constexpr (Slot::is_set)
      return hash;
    else
      return static_cast<word>(hash) << Slot::value_shift | v;
  }
  TILEHASH_FN static typename Slot::key_bits hash_of(word e) {
    return static_cast<typename Slot::key_bits>(e >> Slot::value_shift);
  }
  TILEHASH_FN static typename Slot::value_bits value_of(word e) { return Slot::value_of(e); }
  TILEHASH_FN static word routed_as(word e) { return e; }  // (others: algorithm/ordered_bins.hpp)
};

// The hash of a route whose words carry the key itself.
template <class Slot>
struct keys_as_they_are {
  using slot_type = Slot;
  using key_bits = typename Slot::key_bits;
  TILEHASH_FN static key_bits hash(key_bits k) { return k; }
  TILEHASH_FN static key_bits unhash(key_bits k) { return k; }
};

// Routed items as the source of a next step.
template <class Route>
struct routed_source {
  using slot_type = typename Route::slot_type;
  Route route;
  const typename slot_type::word* items;

  TILEHASH_FN detail::item<slot_type> operator()(u64 i) const {
    const auto e = items[i];
    detail::item<slot_type> x;
    x.key.bits = route.unhash(routed_item<slot_type>::hash_of(e));
    x.key.legal = x.valid = true;
    x.key.reserved = slot_type::is_reserved(x.key.bits);
    x.value = routed_item<slot_type>::value_of(e);
    return x;
  }
};

// Bins of one size, one after the other. `fill` counts all items sent to a bin, also those that exceed its
// capacity.
template <class Word>
struct even_bins {
  Word* entries;
  u32 capacity;
  u32* fill;

  TILEHASH_FN Word* at(u32 region) const { return entries + static_cast<u64>(region) * capacity; }
  TILEHASH_FN u32 capacity_of(u32 /*region*/) const { return capacity; }
  TILEHASH_FN u32 size(u32 region) const { return fill[region] < capacity ? fill[region] : capacity; }
  TILEHASH_FN static const Word& written(const Word& e) { return e; }
};
// ... of which the last may be smaller; or, from grow_bins(), with capacity for all items sent.
template <class Word>
struct uneven_bins : even_bins<Word> {
  u32 last, last_capacity;
  const u64* starts = nullptr;  // from grow_bins(): where bins begin; null: one after the other

  TILEHASH_FN Word* at(u32 region) const {
    return starts != nullptr ? this->entries + starts[region] : even_bins<Word>::at(region);
  }
  TILEHASH_FN u32 capacity_of(u32 region) const {
    return starts != nullptr ? ~u32(0) : region == last ? last_capacity : this->capacity;
  }
  TILEHASH_FN u32 size(u32 region) const {
    const u32 came = this->fill[region], most = capacity_of(region);
    return came < most ? came : most;
  }
};

// Bins that preserve the order of their items (algorithm/ordered_bins.hpp). of_block(b) gives the position
// and the format of block b's entries.
template <class Bins>
concept in_order = requires(const Bins& b) { b.of_block(u32(0)); };

// ... for which the shares of a block are consecutive. (Other bins have an empty type in its place: nvcc
// reads an argument of over 128 bytes through a pointer. The registers for that made a partition of arrays
// take a sixth longer.)
struct shares_in_turn {
  u64 shares;  // of a block
};
struct no_shares_in_turn {};

// A list to which threads append. An item that exceeds its capacity is only counted.
template <class Word>
struct spill_list {
  Word* items;
  u64* length;
  u64 capacity;

  TILEHASH_FN void add(const Word& e) const {
    const u64 at = fetch_add(length, u64(1));
    if (at < capacity) items[at] = e;
  }
};
struct no_spill {  // `fill` counts the items
  template <class Word>
  TILEHASH_FN void add(const Word& /*entry*/) const {}
};

// Allocates bins for all items sent, in `entries` and `starts`, if some bin was too small. Returns false if
// all were large enough; otherwise the caller must send the items again.
template <class Space, class Word>
bool grow_bins(Space& space, uneven_bins<Word>& bins, const std::vector<u32>& came,
               buffer<Word, Space>& entries, buffer<u64, Space>& starts) {
  bool overflow = false;
  for (u32 r = 0; r < came.size(); ++r) overflow |= came[r] > bins.capacity_of(r);
  if (!overflow) return false;
  std::vector<u64> sums(came.size());
  std::exclusive_scan(came.begin(), came.end(), sums.begin(), u64(0));
  starts = buffer<u64, Space>(space, sums);
  entries = {};
  entries = buffer<Word, Space>(space, sums.back() + came.back());
  bins.entries = entries.data();
  bins.starts = starts.data();
  return true;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
