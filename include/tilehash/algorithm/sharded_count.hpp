// SPDX-License-Identifier: Apache-2.0
// A bounded count that all lanes and threads change concurrently: the number of a table's slots that are
// taken. It is split into shards, so that a GPU's lanes do not all queue at one word. Each shard has its part
// of the bound. A caller continues with the next shard if one is full, and so finds the last free slot of
// all.
//
//   | shard 0: taken, a word of the caller's, ... | shard 1 | ...      128 bytes a shard, zeros at first
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

class sharded_count {
 public:
  static constexpr u32 max_shards = tuning::table::count_shards;
  static constexpr u32 slots_per_shard = tuning::table::slots_per_shard, shard_words = 32;
  // A power of two.
  TILEHASH_FN static constexpr u32 shards_for(u64 capacity) {
    u32 n = 1;
    while (n < max_shards && u64(2 * n) * slots_per_shard <= capacity) n *= 2;
    return n;
  }
  static constexpr u64 words(u64 capacity) { return shard_words * u64(shards_for(capacity)); }

  sharded_count() = default;
  TILEHASH_FN sharded_count(u32* memory, u64 bound, u32 shards)
      : memory_(memory), bound_(bound), shards_(shards) {}

  // Takes a slot; false: all are taken.
  TILEHASH_FN bool acquire(u32 bucket) const {
    for (u32 i = 0; i < shards_; ++i) {
      const u32 which = (bucket + i) & (shards_ - 1);
      u32* const taken = shard(which);
      const int most = static_cast<int>(part(bound_, which));
      if (static_cast<int>(load_relaxed(taken)) >= most) continue;
      if (static_cast<int>(fetch_add(taken, 1U)) < most) return true;
      fetch_add(taken, ~0U);
    }
    return false;
  }
  // Gives a slot back; its shard may differ from that of acquire().
  TILEHASH_FN void release(u32 bucket) const { fetch_add(shard_of(bucket), ~0U); }
  // For a table that was filled at once: the i-th shard begins with its part of `taken`.
  TILEHASH_FN void begin_with(u32 i, u64 taken) const {
    if (i < shards_) *shard(i) = static_cast<u32>(part(taken, i));
  }
  TILEHASH_FN u32* shard_of(u32 bucket) const { return shard(bucket & (shards_ - 1)); }

 private:
  TILEHASH_FN u64 part(u64 all, u32 which) const { return all / shards_ + u64(which < all % shards_); }
  TILEHASH_FN u32* shard(u32 which) const { return memory_ + u64(which) * shard_words; }

  u32* memory_ = nullptr;
  u64 bound_ = 0;
  u32 shards_ = 1;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
