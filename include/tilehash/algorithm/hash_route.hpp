// SPDX-License-Identifier: Apache-2.0
// A route by a bijective hash (partition.hpp). The top bits of the hash select the region; the fraction below
// them selects a position in the region. Also the buckets of such regions: a bucket implies all bits of its
// keys' hashes but a remainder.
//
//   hash(key)   [ top 32 bits | rest ]         top * regions  =  [ region . within ]
//               [ rest | remainder ]           within * buckets of a region  =  [ bucket . ]
#pragma once

#include <type_traits>

#include <tilehash/core/hash.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

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
  TILEHASH_FN void set_regions(u32 regions) { regions_ = regions; }  // of the same hash
  // The hashes that go to a region, by their top 32 bits: the first and the last.
  TILEHASH_FN u32 first_of(u64 region) const {
    return static_cast<u32>(((region << 32) + regions_ - 1) / regions_);
  }
  TILEHASH_FN u32 last_of(u64 region) const {
    return region + 1 == regions_ ? ~u32(0) : first_of(region + 1) - 1;
  }
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

  // Whether both routes send each key to the same region. The other may have other values.
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

// Regions of equal size, whole buckets each; at least Slot::min_buckets in all.
template <class Slot>
class hashed_buckets {
 public:
  using key_bits = typename Slot::key_bits;
  using route_type = hash_route<Slot>;

  hashed_buckets() = default;
  // `buckets` in all, at most `largest` of them in a region.
  TILEHASH_FN hashed_buckets(u64 buckets, u64 largest, u64 seed)
      : route_(static_cast<u32>((buckets + largest - 1) / largest), seed),
        region_buckets_(static_cast<u32>(buckets / route_.regions())) {}
  // `buckets`, or a few more, so that they are whole regions.
  TILEHASH_FN static u64 whole_regions(u64 buckets, u64 largest) {
    if (buckets < Slot::min_buckets) buckets = Slot::min_buckets;
    const u64 regions = (buckets + largest - 1) / largest;
    return regions * ((buckets + regions - 1) / regions);
  }

  TILEHASH_FN const route_type& route() const { return route_; }
  TILEHASH_FN u32 regions() const { return route_.regions(); }
  TILEHASH_FN u32 region_buckets() const { return region_buckets_; }
  TILEHASH_FN u64 buckets() const { return static_cast<u64>(regions()) * region_buckets_; }
  TILEHASH_FN key_bits hash(key_bits key) const { return route_.hash(key); }
  TILEHASH_FN key_bits unhash(key_bits h) const { return route_.unhash(h); }
  TILEHASH_FN u32 region_of(key_bits h) const { return route_.region_of(h); }

  struct position {
    u32 base;    // the region's first bucket
    u32 bucket;  // within the region
  };
  TILEHASH_FN position position_of(key_bits h) const {
    const u64 scaled = route_.scaled(h);
    const u32 region = static_cast<u32>(scaled >> 32), within = static_cast<u32>(scaled);
    return {region * region_buckets_, scale(within, region_buckets_)};
  }
  // The same for callers that need base + bucket = floor(high * regions * region_buckets / 2^32). On a CPU one product
  // gives that; the compiler drops the rest.
  TILEHASH_FN position position_in_table(key_bits h) const {
    if constexpr (on_gpu) return position_of(h);
    const u32 base = region_of(h) * region_buckets_;
    return {base, scale(route_type::high(h), static_cast<u32>(buckets())) - base};
  }
  // The hash of a bucket and a remainder: the inverse of position_of().
  TILEHASH_FN key_bits hash_of(u32 region, u32 bucket, key_bits remainder) const {
    // The least hash of this bucket; the result is the first from there on that ends in the remainder.
    const u64 within = ((static_cast<u64>(bucket) << 32) + region_buckets_ - 1) / region_buckets_;
    const u64 least = ((static_cast<u64>(region) << 32) + within + regions() - 1) / regions();
    const key_bits low = static_cast<key_bits>(static_cast<key_bits>(least) << (Slot::key_width - 32));
    return low + ((remainder - low) & Slot::remainder_mask);
  }
  // hash_of() for many keys of one region: divides by multiplying.
  class hashes_in {
   public:
    hashes_in() = default;
    TILEHASH_FN hashes_in(const hashed_buckets& of, u32 region)
        : regions_(of.regions()),
          buckets_(of.region_buckets_),
          by_regions_(~u64(0) / regions_ + 1),
          by_buckets_(~u64(0) / buckets_ + 1),
          first_((static_cast<u64>(region) << 32) / regions_),
          rest_(static_cast<u32>((static_cast<u64>(region) << 32) % regions_)) {}
    TILEHASH_FN key_bits operator()(u32 bucket, key_bits remainder) const {
      const u64 within = over((static_cast<u64>(bucket) << 32) + buckets_ - 1, buckets_, by_buckets_);
      const u64 least = first_ + over(rest_ + within + regions_ - 1, regions_, by_regions_);
      const key_bits low = static_cast<key_bits>(static_cast<key_bits>(least) << (Slot::key_width - 32));
      return low + ((remainder - low) & Slot::remainder_mask);
    }

   private:
    // n / by, for n * by < 2^64. (`inverse` is 2^64 / by, rounded up, and 0 for 1.)
    TILEHASH_FN static u64 over(u64 n, u32 by, u64 inverse) { return by == 1 ? n : mul_high(n, inverse); }

    u32 regions_ = 1, buckets_ = 1;
    u64 by_regions_ = 0, by_buckets_ = 0, first_ = 0;
    u32 rest_ = 0;
  };

  TILEHASH_FN void set_regions(u32 regions) { route_.set_regions(regions); }  // of the same size
  // The partner of bucket b in its region, of which b is the partner: b and it add up to `sum`, cyclically.
  TILEHASH_FN u32 mirrored(u32 sum, u32 b) const {
    if constexpr (on_gpu) return sum >= b ? sum - b : sum - b + region_buckets_;
    return sum - b + (region_buckets_ & (0U - u32(sum < b)));  // no branch: a CPU could not predict it
  }
  // Scales 32 bits to [0, n).
  TILEHASH_FN static u32 scale(u32 x, u32 n) { return static_cast<u32>((static_cast<u64>(x) * n) >> 32); }

 private:
  route_type route_;
  u32 region_buckets_ = 1;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
