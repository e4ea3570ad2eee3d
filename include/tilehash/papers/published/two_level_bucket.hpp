// SPDX-License-Identifier: Apache-2.0
// The published two-level table's kernels, and the parameters of its lookups: what two_level.hpp describes.
// (compute-sanitizer's racecheck reports the writes of a round: which of them remains does not matter.)
#pragma once

#include <type_traits>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/papers/published/table.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

enum class tables { equal, exact };
enum class repeats { never, allowed };

// How a build went.
struct two_level_counts {
  static constexpr u32 most_rounds = 25;

  bool complete = false;
  u32 partitions = 0;                // functions of the buckets that were tried
  u64 buckets = 0, restarts = 0;     // restarts: seeds that failed, in all buckets
  u64 rounds[most_rounds + 1] = {};  // buckets by the rounds of the seed that succeeded

  double mean_rounds() const {
    double sum = 0;
    for (u32 r = 1; r <= most_rounds; ++r) sum += double(r) * double(rounds[r]);
    return sum / double(buckets);
  }
  u32 longest() const {
    u32 r = most_rounds;
    while (r > 0 && rounds[r] == 0) --r;
    return r;
  }
};

// The parameters of a lookup.
template <tables Tables>
struct two_level_view {
  static constexpr u32 prime = 1900813, capacity = 512, subtables = 3, subtable_slots = 192, max_seeds = 16;
  static constexpr u32 filled_percent = 80;  // of a bucket's capacity, on average

  const u64* slots;
  const u32 *seeds, *starts, *counts;  // of the buckets; starts and counts are of their pairs
  u32 buckets, a, b;

  TILEHASH_FN u32 bucket_of(u32 key) const { return (a * key + b) % prime % buckets; }
  // Slot of the key in subtable `i` that has `size` slots, from a seed of 16 bits.
  TILEHASH_FN static u32 slot_of(u32 i, u32 key, u32 seed, u32 size) {
    constexpr u32 xors[] = {0xffff, 0xcba9, 0x7531, 0xbeef, 0xd9f1, 0x337a};
    const u32 x = i == 0 ? xors[0] : i == 1 ? xors[2] : xors[4];
    const u32 y = i == 0 ? xors[1] : i == 1 ? xors[3] : xors[5];
    const u32 h = ((seed ^ x) * key + (seed ^ y)) % prime;
    return Tables == tables::equal ? h % subtable_slots : h % size;
  }
  // The slots of a subtable of a bucket with so many pairs.
  TILEHASH_FN static u32 slots_for(u32 pairs) {
    if constexpr (Tables == tables::equal) return subtable_slots;
    return pairs == 0 ? 1 : (pairs * 3 + 7) / 8;
  }
  // The first slot of a bucket. Exact subtables have at most 3/8 of their pairs, and one, in slots.
  TILEHASH_FN static u64 begin_of(u32 bucket, u32 start) {
    if constexpr (Tables == tables::equal) return u64(bucket) * (subtables * subtable_slots);
    return start + start / 8 + u64(bucket) * (subtables + 1);
  }
  static u64 slots_of(u64 pairs, u32 buckets) {
    if constexpr (Tables == tables::equal) return u64(buckets) * (subtables * subtable_slots);
    return pairs + pairs / 8 + u64(buckets) * (subtables + 1) + subtables;
  }

  TILEHASH_FN u64 find(u32 key) const {
    const u32 bucket = bucket_of(key), seed = seeds[bucket];
    u32 start = 0, size = subtable_slots;
    if constexpr (Tables == tables::exact) start = starts[bucket], size = slots_for(counts[bucket]);
    const u64 begin = begin_of(bucket, start);
    for (u32 i = 0; i < subtables; ++i) {
      const u64 word = slots[begin + i * size + slot_of(i, key, seed, size)];
      if (pair_slot::key_of(word) == key) return word;
    }
    return pair_slot::empty_word;
  }
};

// Phase 1: the bucket of each pair, and its number in there.
template <tables Tables>
struct count_pairs {
  two_level_view<Tables> view;
  const u32* keys;
  u32 *counts, *offsets, *most;
  TILEHASH_FN void operator()(u64 i) const {
    const u32 at = detail::fetch_add(counts + view.bucket_of(keys[i]), 1U);
    offsets[i] = at;
    if (at >= view.capacity) detail::store_relaxed(most, 1U);
  }
};
template <tables Tables>
struct scatter_pairs {
  two_level_view<Tables> view;
  const u32 *keys, *values, *starts, *offsets;
  u64* shuffled;
  TILEHASH_FN void operator()(u64 i) const {
    const u32 value = values == nullptr ? 1 : values[i];
    shuffled[starts[view.bucket_of(keys[i])] + offsets[i]] = pair_slot::pack(keys[i], value);
  }
};

// Phase 2: a block builds one bucket.
template <tables Tables, repeats Repeats>
struct build_bucket {
  template <class T, class Offset>
  using scratch_array = detail::scratch_array<T, Offset>;
  template <class T, class Block>
  using scratch_in = detail::scratch_in<T, Block>;
  using view_type = two_level_view<Tables>;
  static constexpr u32 block_size = view_type::capacity, nowhere = 0,
                       most_rounds = two_level_counts::most_rounds;
  static constexpr u32 in_scratch =
      Repeats == repeats::never ? view_type::capacity : 0;  // pairs of the bucket
  // Counts: buckets by rounds, seeds that failed, buckets that failed under all seeds.
  static constexpr u32 restarts = most_rounds + 1, hopeless = restarts + 1, all_counts = hopeless + 1;

  view_type view;
  const u64* shuffled;
  u64* slots;
  u32* seeds;
  u64* counts;
  u64 dice;         // of the seeds
  u32* all_states;  // of all pairs, where keys repeat

  template <class Offset = u32>
  struct layout {
    scratch_array<u32, Offset> subtables;  // the keys in their slots
    scratch_array<u32, Offset> mine;       // the key of each pair
    scratch_array<u32, Offset> states;     // of each pair: its three slots, a byte each, and its subtable
    scratch_array<u32, Offset> unbuilt;    // for a round, in turn: is a key in hand after it?

    TILEHASH_FN constexpr layout()
        : subtables(view_type::subtables * view_type::subtable_slots),
          mine(subtables, in_scratch),
          states(mine, in_scratch),
          unbuilt(states, 2) {}
    TILEHASH_FN constexpr Offset bytes() const { return unbuilt.end(); }
  };
  static constexpr u64 scratch_bytes() { return layout<u64>().bytes(); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    block_of<Block> work(*this, block);
    u32 tried = 0, rounds = 0;
    for (; tried < view_type::max_seeds; ++tried) {
      work.begin(seed_of(static_cast<u32>(block.index()), tried));
      block.barrier();
      rounds = work.place(block);
      if (rounds <= most_rounds) break;
      block.barrier();
    }
    const bool built = tried < view_type::max_seeds;
    work.write(seed_of(static_cast<u32>(block.index()), tried), built);
    if (block.rank() != 0) return;
    detail::fetch_add(counts + (built ? rounds : hopeless), u64(1));
    detail::fetch_add(counts + restarts, u64(tried));
  }

 private:
  // 16 random bits.
  TILEHASH_FN u32 seed_of(u32 bucket, u32 tried) const {
    return static_cast<u32>(mix64(dice + (u64(tried) << 32 | bucket)) & 0xffff);
  }

  // One thread's view of a block.
  template <class Block>
  struct block_of {
    const build_bucket& build;
    u32 me, all, bucket, size, n;
    const u64* pairs;
    scratch_in<u32, Block> subtables, mine, unbuilt;
    std::conditional_t<Repeats == repeats::never, scratch_in<u32, Block>, u32*> states;

    TILEHASH_FN block_of(const build_bucket& of, const Block& b)
        : build(of),
          me(b.rank()),
          all(b.size()),
          bucket(static_cast<u32>(b.index())),
          size(view_type::slots_for(of.view.counts[bucket])),
          n(of.view.counts[bucket]),
          pairs(of.shuffled + of.view.starts[bucket]),
          subtables(layout<>().subtables.in(b)),
          mine(layout<>().mine.in(b)),
          unbuilt(layout<>().unbuilt.in(b)),
          states(states_in(b)) {}

    // Clears the subtables and computes the slots of all keys.
    TILEHASH_FN void begin(u32 seed) {
      for (u32 i = me; i < view_type::subtables * size; i += all) subtables[i] = pair_slot::empty_mark;
      for (u32 i = me; i < n; i += all) {
        const u32 key = pair_slot::key_of(pairs[i]);
        u32 state = nowhere << 24;
        for (u32 k = 0; k < view_type::subtables; ++k)
          state |= view_type::slot_of(k, key, seed, size) << (8 * k);
        if constexpr (Repeats == repeats::never) mine[i] = key;
        states[i] = state;
      }
      for (u32 i = me; i < 2; i += all) unbuilt[i] = 0;
    }
    // The rounds that it took; more than most_rounds if a key is in hand after those.
    TILEHASH_FN u32 place(const Block& block) {
      using detail::load_relaxed;
      using detail::store_relaxed;
      for (u32 round = 1; round <= most_rounds; ++round) {
        for (u32 to = 1; to <= view_type::subtables; ++to) {
          for (u32 i = me; i < n; i += all) {
            const u32 state = states[i], key = key_of(i);
            if (!is_in_hand(state, key, to - 1)) continue;
            store_relaxed(subtables + slot(state, to), key);
            states[i] = in_subtable(state, to);
          }
          block.barrier();
        }
        for (u32 i = me; i < n; i += all) {
          const u32 state = states[i], key = key_of(i);
          if (!is_in_hand(state, key, view_type::subtables)) continue;
          states[i] = in_subtable(state, nowhere);
          store_relaxed(unbuilt + round % 2, 1U);
        }
        if (me == 0) store_relaxed(unbuilt + (round + 1) % 2, 0U);
        block.barrier();
        if (load_relaxed(unbuilt + round % 2) == 0) return round;
      }
      return most_rounds + 1;
    }
    // Writes the bucket with its values. A bucket that is not built stays empty.
    TILEHASH_FN void write(u32 seed, bool built) {
      u64* const out = build.slots + view_type::begin_of(bucket, build.view.starts[bucket]);
      for (u32 i = me; i < n && built; i += all) {
        const u32 state = states[i];
        detail::store_relaxed(out + slot(state, state >> 24), pairs[i]);
      }
      if (me == 0) build.seeds[bucket] = seed;
    }

   private:
    TILEHASH_FN auto states_in(const Block& b) const {
      if constexpr (Repeats == repeats::never)
        return layout<>().states.in(b);
      else
        return build.all_states + build.view.starts[bucket];
    }
    TILEHASH_FN u32 key_of(u32 i) const {
      if constexpr (Repeats == repeats::never)
        return mine[i];
      else
        return pair_slot::key_of(pairs[i]);
    }
    TILEHASH_FN static u32 in_subtable(u32 state, u32 subtable) {
      return (state & 0xff'ffff) | subtable << 24;
    }
    // In the scratch and in the bucket; subtables count from 1 on.
    TILEHASH_FN u32 slot(u32 state, u32 subtable) const {
      return (subtable - 1) * size + (state >> (8 * (subtable - 1)) & 0xff);
    }
    // Should the key be in this subtable, and is not? A key that should be nowhere is in hand.
    TILEHASH_FN bool is_in_hand(u32 state, u32 key, u32 subtable) const {
      using detail::load_relaxed;
      if (state >> 24 != subtable) return false;
      return subtable == nowhere || load_relaxed(subtables + slot(state, subtable)) != key;
    }
  };
};

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
