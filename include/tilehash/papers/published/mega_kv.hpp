// SPDX-License-Identifier: Apache-2.0
// Mega-KV as Li et al. measure it: two buckets a key, exchanges without locks, and a pair that is dropped.
//
//   k ---> | a b c d e f g h |  full         k takes the slot of d,
//          | i j l m n o p q |  full         d takes a slot of its other bucket, and the pair that it
//                                            evicts there is dropped if its other bucket is full, too
//
// An insert reads one bucket: the key's first, or the other bucket of an evicted pair. It writes its pair to
// a free slot by an atomic exchange, or to a random slot if none is free, and goes on with the pair that was
// there. After max_evictions exchanges of pairs it drops the one in hand.
//
// Li et al. replaced Mega-KV's synchronization of a block by atomicExch (section 6.1). They state neither the
// slots of a bucket nor the evictions before a pair is dropped. With 8 slots and 2 evictions 0.32, 0.67,
// 1.31, 2.33 and 3.86 % of random pairs are lost at loads of 0.75, 0.8, 0.85, 0.9 and 0.95. Their Table 7 has
// 0.42, 0.79, 1.4, 2.4 and 3.9 %.
//
// A key that is inserted twice may be stored twice: its copies may meet while one is in hand.
//
// Source: K. Zhang et al., Mega-KV, VLDB 2015; Y. Li et al., Dynamic Hash Tables on GPUs, section 6.1.
#pragma once

#include <type_traits>

#include <tilehash/core/hash.hpp>
#include <tilehash/papers/published/table.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

template <u32 BucketSlots = 8, u32 MaxEvictions = 2, class Hash = murmur>
class mega_kv {
 public:
  static constexpr u32 bucket_slots = BucketSlots, max_evictions = MaxEvictions;
  static constexpr double max_load_factor = 1;

  static u64 capacity_for(u64 pairs, double load_factor) {
    const u64 buckets =
        detail::divide_up(detail::slots_for(pairs, load_factor, max_load_factor), bucket_slots);
    return (buckets < 2 ? 2 : buckets) * bucket_slots;
  }
  static u64 words_for(u64 capacity) { return capacity; }

  mega_kv(u64* memory, u64 capacity, u64 seed, double /*load_factor*/)
      : slots_(memory), buckets_(capacity / bucket_slots), hash_(seed) {}

  TILEHASH_FN insert_end insert(u32 key, u32 value) const {
    u64 word = pair_slot::pack(key, value);
    location p = locate(key);
    u64 bucket = p.first;
    for (u32 evicted = 0;; ++evicted) {
      const content here = read(bucket, key);
      const bool full = here.own == bucket_slots && here.free == bucket_slots;
      if (full && evicted == max_evictions) return {true, false, evicted};
      const u32 at = full                      ? mix32(key ^ evicted * 0x9e3779b9U) % bucket_slots
                     : here.own < bucket_slots ? here.own
                                               : here.free;
      word = detail::exchange(slots_ + bucket * bucket_slots + at, word);
      if (word == pair_slot::empty_word) return {false, false, evicted};
      if (pair_slot::key_of(word) == key) return {false, true, evicted};
      if (evicted == max_evictions) return {true, false, evicted};  // another insert took the slot meanwhile
      key = pair_slot::key_of(word);
      p = locate(key);
      bucket = bucket == p.first ? p.second : p.first;
    }
  }

  TILEHASH_FN u64 find(u32 key) const {
    const location p = locate(key);
    u32 own = read(p.first, key).own;
    if (own < bucket_slots) return slots_[p.first * bucket_slots + own];
    own = read(p.second, key).own;
    return own < bucket_slots ? slots_[p.second * bucket_slots + own] : pair_slot::empty_word;
  }

 private:
  struct location {
    u64 first, second;  // never equal
  };
  struct content {
    u32 own, free;  // slots of the key and without one; bucket_slots: none
  };

  TILEHASH_FN location locate(u32 key) const {
    const u64 h = hash_(key), first = fast_range(h, buckets_), second = fast_range(rehash(h), buckets_ - 1);
    return {first, second < first ? second : second + 1};
  }
  TILEHASH_FN content read(u64 bucket, u32 key) const {
    content here{bucket_slots, bucket_slots};
    TILEHASH_UNROLL
    for (u32 i = bucket_slots; i-- > 0;) {
      const u64 word = detail::load_relaxed(slots_ + bucket * bucket_slots + i);
      if (word == pair_slot::empty_word) here.free = i;
      if (pair_slot::key_of(word) == key) here.own = i;
    }
    return here;
  }

  u64* slots_;
  u64 buckets_;
  Hash hash_;
};

static_assert(std::is_trivially_copyable_v<mega_kv<>>);

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
