// A route by a bijective hash (partition.hpp): its bits from the top down choose the region, and what is left
// of them below the point, a place in the region.
//
//   hash(key)   [ top 32 bits | rest ]         top * regions  =  [ region . within ]
#pragma once

#include <type_traits>

#include <tilehash/core/hash.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

template <class Slot>
class hash_route {
 public:
  using slot_type = Slot;
  using key_bits = typename Slot::key_bits;
  static constexpr u32 hash_width = 8 * sizeof(key_bits);  // 32 or 64
  static_assert(hash_width + Slot::value_shift <= 8 * sizeof(typename Slot::word),
                "a word holds the whole hash");

  hash_route() = default;
  TILEHASH_FN hash_route(u32 regions, u64 seed)
      : regions_(regions), seed_(static_cast<key_bits>(mix64(seed))) {}

  TILEHASH_FN u32 regions() const { return regions_; }
  TILEHASH_FN key_bits hash(key_bits key) const {
    if constexpr (sizeof(key_bits) == 4)
      return mix32(key ^ seed_);
    else
      return mix64(key ^ seed_);
  }
  TILEHASH_FN key_bits unhash(key_bits h) const {
    if constexpr (sizeof(key_bits) == 4)
      return unmix32(h) ^ seed_;
    else
      return unmix64(h) ^ seed_;
  }
  TILEHASH_FN static u32 high(key_bits h) { return static_cast<u32>(h >> (hash_width - 32)); }
  TILEHASH_FN u64 scaled(key_bits h) const { return static_cast<u64>(high(h)) * regions_; }
  TILEHASH_FN u32 region_of(key_bits h) const { return static_cast<u32>(scaled(h) >> 32); }
  TILEHASH_FN u32 within(key_bits h) const { return static_cast<u32>(scaled(h)); }

  // Does every key go where it goes by the other, which may have other values?
  template <class Other>
  bool agrees_with(const hash_route<Other>& other) const {
    if constexpr (std::is_same_v<key_bits, typename Other::key_bits>)
      return hash(0) == other.hash(0) && regions_ == other.regions();
    else
      return false;
  }

 private:
  u32 regions_ = 1;
  key_bits seed_ = 0;
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
