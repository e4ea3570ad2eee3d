// SPDX-License-Identifier: Apache-2.0
// Parts of a fill by regions (engine/region_fill.hpp): its counts, the routes of items to slices and regions,
// and the items of a call as the bin of a table's only region.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/item.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

inline constexpr u32 counts_of_a_fill = 3;

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
  TILEHASH_FN u32 size(u32 /*region*/) const { return n; }
  TILEHASH_FN word operator[](u32 i) const { return entry(source(i)); }
  // Fetches an element. False: it is no item with a legal key.
  TILEHASH_FN bool get(u32 i, word& e) const {
    const item<slot_type> x = source(i);
    e = entry(x);
    return x.valid && x.key.legal;
  }
  template <class Use>
  TILEHASH_FN void for_each_item(u32 me, u32 all, const Use& use) const {
    fetch_items(items{source}, n, me, all, [&](u32 i, const item<slot_type>& x) {
      if (x.valid && x.key.legal) use(i, entry(x));
      if (x.valid && !x.key.legal) fetch_add(illegal, u64(1));
    });
  }

 private:
  struct items {
    Source source;
    TILEHASH_FN item<slot_type> operator[](u32 i) const { return source(i); }
  };
  TILEHASH_FN word entry(const item<slot_type>& x) const {
    return routed_item<slot_type>::pack(design.hash(x.key.bits), x.value);
  }
};

// Writes the counters to the host, and clears what is in the memory of a table.
struct taken_counts {
  u64* counters;
  u64* host;  // null: only clears
  u32* bin_numbers;
  u32 bins;
  bool clears;

  TILEHASH_FN void operator()(u64 i) const {
    if (i < bins) bin_numbers[i] = 0;
    if (i >= counts_of_a_fill) return;
    if (host != nullptr) host[i] = counters[i];
    if (clears) counters[i] = 0;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
