// Bins: where a partition (algorithm/partition.hpp) writes the items of each region, how it packs them, and
// where it puts those that find a bin full.
#pragma once

#include <numeric>
#include <vector>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// An item on its way: a word like a slot's, with the whole hash in it.
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

// What a route has for a hash whose words carry the key itself.
template <class Slot>
struct keys_as_they_are {
  using slot_type = Slot;
  using key_bits = typename Slot::key_bits;
  TILEHASH_FN static key_bits hash(key_bits k) { return k; }
  TILEHASH_FN static key_bits unhash(key_bits k) { return k; }
};

// Items that were routed as a source for what comes next.
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

// Bins of one size, side by side. `fill` tells how many items came, whether or not there was room.
template <class Word>
struct even_bins {
  Word* entries;
  u32 room;
  u32* fill;

  TILEHASH_FN Word* at(u32 region) const { return entries + static_cast<u64>(region) * room; }
  TILEHASH_FN u32 room_of(u32 /*region*/) const { return room; }
  TILEHASH_FN u32 size(u32 region) const { return fill[region] < room ? fill[region] : room; }
  TILEHASH_FN static const Word& written(const Word& e) { return e; }
};
// ... of which the last may be smaller; or with room for all that came, from grow_bins().
template <class Word>
struct uneven_bins : even_bins<Word> {
  u32 last, last_room;
  const u64* starts = nullptr;  // where bins begin that have room for all; null: side by side

  TILEHASH_FN Word* at(u32 region) const {
    return starts != nullptr ? this->entries + starts[region] : even_bins<Word>::at(region);
  }
  TILEHASH_FN u32 room_of(u32 region) const {
    return starts != nullptr ? ~u32(0) : region == last ? last_room : this->room;
  }
  TILEHASH_FN u32 size(u32 region) const {
    const u32 came = this->fill[region], most = room_of(region);
    return came < most ? came : most;
  }
};

// Bins that keep the order in which their items came (algorithm/ordered_bins.hpp): of_block(b) says where
// block b's entries go, and how they are written.
template <class Bins>
concept in_order = requires(const Bins& b) { b.of_block(u32(0)); };

// ... for which a block's shares follow each other. (Others have nothing of it: nvcc reads an argument of
// over 128 bytes through a pointer, and a partition of what stands in arrays took a sixth longer by the
// registers that cost.)
struct stretches {
  u64 shares;  // of a block
};
struct no_stretches {};

// A list that threads add to; what finds no room is only counted.
template <class Word>
struct spill_list {
  Word* items;
  u64* length;
  u64 room;

  TILEHASH_FN void add(const Word& e) const {
    const u64 at = fetch_add(length, u64(1));
    if (at < room) items[at] = e;
  }
};
struct no_spill {  // fill tells
  template <class Word>
  TILEHASH_FN void add(const Word& /*entry*/) const {}
};

// Makes room for what came, in `entries` and `starts`, where some bin had too little. False if all had
// enough; else the items are to be sent once more.
template <class Space, class Word>
bool grow_bins(Space& space, uneven_bins<Word>& bins, const std::vector<u32>& came,
               buffer<Word, Space>& entries, buffer<u64, Space>& starts) {
  bool overflow = false;
  for (u32 r = 0; r < came.size(); ++r) overflow |= came[r] > bins.room_of(r);
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
