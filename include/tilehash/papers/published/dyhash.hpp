// SPDX-License-Identifier: Apache-2.0
// The inserts of DyHash as published: a lock for each bucket, taken by the leader that a warp votes for.
//
//   warp   | k1 k2 k3 ... k32 |   one insert a lane
//            vote -> k2 leads; its lane locks the bucket of k2. The warp reads the 32 keys at once:
//              k2 or a free slot: its pair goes there
//              neither: it is exchanged for a random pair, which goes on to the next subtable
//            lock not taken -> vote again, for another lane
//
// `lock_by::spin` is what the paper compares the vote with: the warp tries the same lock until it has it.
//
// Keys and values are in separate arrays. The 32 keys of a bucket are a line of 128 bytes. A new pair goes to
// a random subtable: all have the same size, so theorem 1 gives each the same share.
//
// The paper states no limit of evictions; here it is max_evictions. The locked bucket alone is searched for
// the key, so two copies that are inserted at once may both be stored.
//
// Source: Y. Li et al., Dynamic Hash Tables on GPUs, VLDB 2019, section 4.2, algorithms 1 and 2.
#pragma once

#include <type_traits>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/papers/published/table.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

enum class lock_by { vote, spin };

template <lock_by How = lock_by::vote, u32 Subtables = 3, class Hash = murmur>
class dyhash {
  static_assert(Subtables >= 2 && Subtables <= 8);

 public:
  static constexpr u32 subtables = Subtables, bucket_slots = 32, max_evictions = 256;
  static constexpr u32 width = 32;              // lanes that share a bucket, where a space has lanes
  static constexpr u64 initial_word = ~u64(0);  // free keys, free locks
  static constexpr double max_load_factor = 1;

  static u64 capacity_for(u64 pairs, double load_factor) {
    constexpr u64 step = u64(bucket_slots) * subtables;
    return detail::divide_up(detail::slots_for(pairs, load_factor, max_load_factor), step) * step;
  }
  // Keys, values, and a lock for each bucket.
  static u64 words_for(u64 capacity) { return capacity + detail::divide_up(capacity / bucket_slots, 2); }

  dyhash(u64* memory, u64 capacity, u64 seed, double /*load_factor*/)
      : keys_(reinterpret_cast<u32*>(memory)),
        values_(keys_ + capacity),
        locks_(values_ + capacity),
        buckets_(capacity / bucket_slots / subtables),
        hash_(seed) {}

  // Inserts the pairs of the tile's active lanes. All lanes of the warp call it.
  template <class Tile>
  TILEHASH_FN insert_end insert(Tile t, u32 key, u32 value, bool active) const {
    insert_end end{false, false, 0};
    u32 part = first_part(key), start = 0;
    while (t.any(active)) {
      const u32 wanting = t.ballot(active), leader = voted(wanting, start);
      const u32 k = t.broadcast(key, leader);
      const u64 b = bucket_of(t.broadcast(part, leader), k);
      const bool leads = active && t.rank() == leader;
      const bool locked = t.broadcast(u32(leads && lock(b)), leader) != 0;
      t.sync();  // what the leader has locked, all lanes may read
      const found_slots here = read(t, b, k, locked);
      if (leads && locked) {
        active = put(b, here, end, key, value);
        unlock(b);
        part = part + 1 == subtables ? 0 : part + 1;
      }
      end.waits += leads && !locked;
      if (locked || How == lock_by::vote) start = (leader + 1) % Tile::width;
    }
    return end;
  }

  // The pair of each active lane's key, or empty_word. The warp reads the buckets of one key after the other.
  template <class Tile>
  TILEHASH_FN u64 find(Tile t, u32 key, bool active) const {
    u64 result = pair_slot::empty_word;
    for (u32 turn = 0; turn < Tile::width; ++turn) {
      const u32 k = t.broadcast(key, turn);
      bool open = t.broadcast(u32(active), turn) != 0;
      for (u32 part = 0; part < subtables && t.any(open); ++part) {
        const u64 b = bucket_of(part, k);
        const u32 own = read(t, b, k, open).own;
        if (!open || own == 0) continue;
        open = false;
        if (t.rank() == turn) result = pair_slot::pack(k, values_[b * bucket_slots + detail::lowest(own)]);
      }
    }
    return result;
  }

 private:
  struct found_slots {
    u32 own, free;  // a bit for each slot
  };

  // The first lane from `start` on that has something to do, round the tile.
  TILEHASH_FN static u32 voted(u32 wanting, u32 start) {
    const u32 later = wanting >> start << start;
    return wanting == 0 ? 0 : detail::lowest(later != 0 ? later : wanting);
  }
  TILEHASH_FN u32 first_part(u32 key) const {
    return static_cast<u32>(fast_range(mix64(hash_(key) + subtables), subtables));
  }
  // A function of its own for each subtable.
  TILEHASH_FN u64 bucket_of(u32 part, u32 key) const {
    return part * buckets_ +
           fast_range(mix64(hash_(key) ^ (part + u64(1)) * 0x9e37'79b9'7f4a'7c15), buckets_);
  }

  TILEHASH_FN bool lock(u64 bucket) const {
    u32 seen = is_free;
    return detail::shared_ref<u32>(locks_[bucket])
        .compare_exchange_strong(seen, 0U, detail::acquire, detail::relaxed);
  }
  TILEHASH_FN void unlock(u64 bucket) const {
    detail::shared_ref<u32>(locks_[bucket]).exchange(is_free, detail::release);
  }

  template <class Tile>
  TILEHASH_FN found_slots read(Tile t, u64 bucket, u32 key, bool wanted) const {
    found_slots here{0, 0};
    TILEHASH_UNROLL
    for (u32 first = 0; first < bucket_slots; first += Tile::width) {
      u32 stored = 0;
      if (wanted) stored = detail::load_relaxed(keys_ + bucket * bucket_slots + first + t.rank());
      here.own |= t.ballot(wanted && stored == key) << first;
      here.free |= t.ballot(wanted && stored == pair_slot::empty_mark) << first;
    }
    return here;
  }

  // Writes the leader's pair into its locked bucket. True if another pair is now in hand: `key` and `value`.
  TILEHASH_FN bool put(u64 bucket, found_slots here, insert_end& end, u32& key, u32& value) const {
    const bool evicts = here.own == 0 && here.free == 0;
    end.known |= here.own != 0;
    end.lost = evicts && end.steps == max_evictions;
    if (end.lost) return false;
    const u32 slot = evicts ? mix32(key ^ end.steps * 0x9e3779b9U) % bucket_slots
                            : detail::lowest(here.own != 0 ? here.own : here.free);
    const u64 at = bucket * bucket_slots + slot;
    const u32 old_key = detail::load_relaxed(keys_ + at), old_value = detail::load_relaxed(values_ + at);
    detail::store_relaxed(values_ + at, value);
    detail::store_relaxed(keys_ + at, key);
    key = old_key, value = old_value;
    end.steps += evicts;
    return evicts;
  }

  static constexpr u32 is_free = ~u32(0);

  u32 *keys_, *values_, *locks_;
  u64 buckets_;
  Hash hash_;
};

static_assert(std::is_trivially_copyable_v<dyhash<>>);

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
