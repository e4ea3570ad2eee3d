// SPDX-License-Identifier: Apache-2.0
// Shards: the owner of a key, among several tables.
//
//   key -> owner hash -> shard (12 bits) -> rank = shard * ranks >> 12
//
// The owner hash is fixed: files, reports and other programs may rely on it, and it has no seed. It must not
// depend on the hash of a table, because all keys of a rank then had hashes of one range. It ends with a
// multiplication that the tables' default hash does not have, and tables draw their seeds.
#pragma once

#include <tilehash/core/hash.hpp>
#include <tilehash/core/key.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

struct owner_hash {
  static constexpr u64 seed = 0x5348'4152'4453'0001;  // fixed for life

  // (Three multiplications of 32 bits: a GPU's routes hash each key twice.)
  TILEHASH_FN constexpr u64 operator()(u32 key) const noexcept {
    u32 h = (key ^ static_cast<u32>(seed)) * 0x9e3779b1U;
    h = (h ^ (h >> 15)) * 0x85ebca77U;
    h = (h ^ (h >> 13)) * 0xc2b2ae3dU;
    return static_cast<u64>(h) << 32;
  }
  TILEHASH_FN constexpr u64 operator()(u64 key) const noexcept { return rehash(mix64(key ^ seed)); }
  TILEHASH_FN constexpr u64 operator()(u128 key) const noexcept {
    return rehash(mix64(static_cast<u64>(key) ^ mix64(static_cast<u64>(key >> 64) ^ seed)));
  }
};
inline constexpr u32 shard_bits = 12;

}  // namespace detail

namespace several {

/// The number of shards, which is the largest number of ranks.
inline constexpr u32 shards = 1U << detail::shard_bits;

/// Returns the shard of a key, below `shards`. Keys that compare equal have one shard. O(1).
template <key_like Key>
TILEHASH_FN u32 shard_of(const Key& key) {
  return static_cast<u32>(detail::hash_key(detail::owner_hash(), key) >> (64 - detail::shard_bits));
}
/// Returns the rank that owns a shard, among `ranks` ranks (1 to `shards`). O(1).
TILEHASH_FN constexpr u32 rank_of(u32 shard, u32 ranks) {
  return shard * ranks >> detail::shard_bits;  // (of 24 bits)
}
/// Returns the first shard of a rank. The rank's last shard is before the first one of rank + 1. O(1).
TILEHASH_FN constexpr u32 first_shard_of(u32 rank, u32 ranks) {
  return static_cast<u32>(((static_cast<u64>(rank) << detail::shard_bits) + ranks - 1) / ranks);
}

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
