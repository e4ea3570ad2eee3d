// Bringing items of equal keys together: how often keys come, where runs begin in a sorted list, and the
// items' numbers within their groups where the groups are known.
#pragma once

#include <cmath>

#include <tilehash/bulk.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/block_sums.hpp>
#include <tilehash/core/buffer.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash::bulk {

// ---- samples --------------------------------------------------------------------------------------------
// How many of `size` random keys are different. One block finds out, with a set in its scratch. (Two keys
// whose hashes agree in 31 bits count as one.)
template <class Key, u32 Threads>
struct count_different {
  static constexpr u32 block_size = Threads;
  static constexpr u32 most = 8192, slots_log2 = 14, slots = 1U << slots_log2;
  static constexpr u64 scratch_bytes = slots * sizeof(u32);
  static constexpr u32 group = detail::block_sums<Threads>::group;

  const Key* keys;
  u64 n;
  u32 size;  // `most` or less
  u64* different;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    using detail::compare_and_swap;
    const auto set = block.template scratch<u32>();
    const auto t = block.template tile<group>();
    for (u32 s = block.rank(); s < slots; s += Threads) set[s] = 0;
    block.barrier();
    u32 mine = 0;
    for (u32 first = 0; first < size; first += Threads) {
      const u32 i = first + block.rank();
      bool goes_on = i < size;
      const u64 hash = goes_on ? detail::hash_key(murmur(), keys[reduce(mix64(i), n)]) : 0;
      const u32 mark = static_cast<u32>(hash) | 1;
      u32 slot = static_cast<u32>(hash >> (64 - slots_log2));
      while (t.any(goes_on)) {  // once round at most: half of the slots stay free
        if (!goes_on) continue;
        const u32 met = compare_and_swap(set + slot, u32(0), mark);
        mine += met == 0;
        goes_on = met != 0 && met != mark;
        slot = (slot + 1) % slots;
      }
    }
    if (mine != 0) detail::fetch_add(different, static_cast<u64>(mine));
  }
};

// A sample of n keys, and how many of it were different.
struct key_sample {
  u64 n = 0, size = 0, different = 0;

  // Are they more uneven than if each came so many times? That is then Poisson's number in the sample. A key
  // that comes very often counts much, as it does where a place for each of many keys must have one size.
  bool more_uneven_than(double copies) const {
    const double times = copies * static_cast<double>(size) / static_cast<double>(n);
    return static_cast<double>(different) * times < static_cast<double>(size) * -std::expm1(-times);
  }
};
// (Of a GPU whose blocks have too little scratch for it, it says that all are one key.)
template <class Space, class Key>
key_sample sample_keys(Space& space, const Key* keys, u64 n) {
  using work = count_different<Key, Space::has_lanes ? 1024 : 1>;
  if (work::scratch_bytes > space.largest_scratch()) return {n, n, 1};
  buffer<u64, Space> different(space, 1);
  space.fill(different.data(), 1, u64(0));
  const u32 size = static_cast<u32>(n < work::most ? n : work::most);
  space.for_each_block(1, work::block_size, work::scratch_bytes, work{keys, n, size, different.data()});
  return {n, size, read_one(space, different.data())};
}

// ---- runs -----------------------------------------------------------------------------------------------
//   sorted    | 4 4 4 7 | 7 7 19 | 19 20 |       a block serves a share
//   counts    | 2       | 1      | 1     |       the runs that begin in it; summed, the number of the first
//   keys      | 4 7 19 20 |
//   starts    | 0 3 6 8 |
//
// One pass counts and one, after the scan, writes: both read the list once, neighbours side by side.
template <class Word, class Key, class Offset, u32 Threads, u32 PerThread>
struct find_runs {
  using sums = detail::block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = Threads * PerThread;
  static constexpr u32 group = sums::group;
  static constexpr u64 scratch_bytes = sums::words * sizeof(u32);

  const Word* sorted;
  u64 n;
  Offset* counts;
  Key* keys;  // null in the pass that counts
  Offset* starts;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto scratch = block.template scratch<u32>();
    const auto t = block.template tile<group>();
    const u32 me = block.rank();
    const u64 first = block.index() * share + me / group * group * PerThread + t.rank();
    u32 begins[PerThread], mine = 0, all = 0;  // a bit for each lane of the group
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u64 i = first + static_cast<u64>(k) * group;
      begins[k] = t.ballot(i < n && (i == 0 || sorted[i] != sorted[i - 1]));
      mine += detail::count_ones(begins[k]);
    }
    const u32 before = t.broadcast(sums::before(block, scratch, t.rank() == 0 ? mine : 0, all), 0);
    if (keys == nullptr) {
      if (me == 0) counts[block.index()] = static_cast<Offset>(all);
      return;
    }
    u64 run = counts[block.index()] + before;
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u64 i = first + static_cast<u64>(k) * group;
      if ((begins[k] >> t.rank() & 1) != 0) {
        const u64 r = run + detail::count_ones(begins[k] & ((1U << t.rank()) - 1));
        keys[r] = detail::from_bits<Key>(sorted[i]);
        starts[r] = static_cast<Offset>(i);
      }
      run += detail::count_ones(begins[k]);
    }
  }
};

template <class Space, class Word, class Key, class Offset>
using find_runs_in = find_runs<Word, Key, Offset, Space::has_lanes ? 256 : 1, Space::has_lanes ? 16 : 4096>;

// ---- ranks ----------------------------------------------------------------------------------------------
// ranks[i] becomes item i's number among those of its group, ids[i], and counts[id] how many the group has.
//
// A key that comes a million times must not be a place where a million atomic operations queue. So the items
// of a block's share first number themselves in its scratch, at a seat that the id chooses and the first to
// come takes for its group; a seat then asks for all its items at once. Who finds the seat taken by another
// group asks alone.
template <class Offset, u32 Threads, u32 PerThread>
struct rank_in_groups {
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = Threads * PerThread;
  static constexpr u32 seats = share, none = ~0U;  // none: items of no group, which get no rank
  static constexpr u64 scratch_bytes = seats * (sizeof(Offset) + sizeof(u32));

  const u32* ids;
  u64 n;
  Offset *counts, *ranks;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    using detail::compare_and_swap;
    using detail::fetch_add;
    const auto seated = block.template scratch<Offset>();  // how many; then the rank of the first
    const auto taken_by = block.template scratch<u32>(seats * sizeof(Offset));
    const u32 me = block.rank();
    const u64 first = block.index() * share + me;
    u32 my_ids[PerThread], sits[(PerThread + 31) / 32];  // bit k: the k-th item has a seat
    Offset my_ranks[PerThread];
    for (u32& bits : sits) bits = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u64 i = first + static_cast<u64>(k) * Threads;
      my_ids[k] = i < n ? ids[i] : none;
      if (my_ids[k] != none) prefetch_to_write(counts + my_ids[k]);
    }
    for (u32 s = me; s < seats; s += Threads) {
      seated[s] = Offset(0);
      taken_by[s] = none;
    }
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      if (my_ids[k] == none) continue;
      const u32 seat = my_ids[k] % seats, by = compare_and_swap(taken_by + seat, none, my_ids[k]);
      if (by == none || by == my_ids[k]) {
        my_ranks[k] = fetch_add(seated + seat, Offset(1));
        sits[k / 32] |= 1U << k % 32;
      } else {
        my_ranks[k] = fetch_add(counts + my_ids[k], Offset(1));
      }
    }
    block.barrier();
    for (u32 s = me; s < seats; s += Threads) {
      const Offset many = seated[s];
      const u32 id = taken_by[s];
      if (many != 0) seated[s] = fetch_add(counts + id, many);
    }
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      if (my_ids[k] == none) continue;
      Offset rank = my_ranks[k];
      if ((sits[k / 32] >> k % 32 & 1) != 0) rank += Offset(seated[my_ids[k] % seats]);
      ranks[first + static_cast<u64>(k) * Threads] = rank;
    }
  }
};

template <class Space, class Offset>
void rank(Space& space, const u32* ids, u64 n, Offset* counts, Offset* ranks) {
  using work = rank_in_groups<Offset, Space::has_lanes ? 512 : 1, Space::has_lanes ? 8 : 16384>;
  space.for_each_block((n + work::share - 1) / work::share, work::block_size, work::scratch_bytes,
                       work{ids, n, counts, ranks});
}

// to[starts[ids[i]] + ranks[i]] = from[i], for items that have a group.
template <class Value, class Offset>
struct scatter_to_groups {
  const u32* ids;
  u32 none;
  const Offset *ranks, *starts;
  const Value* from;
  Value* to;
  u64 n;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    if (i < n && ids[i] != none) to[starts[ids[i]] + ranks[i]] = from[i];
  }
  void operator()(u64 first, u64 last) const {
    constexpr u64 ahead = 256;
    u64 places[ahead];
    for (; first < last; first += ahead) {
      const u64 size = last - first < ahead ? last - first : ahead;
      for (u64 k = 0; k < size; ++k) {
        if (ids[first + k] != none) prefetch(starts + ids[first + k]);
      }
      for (u64 k = 0; k < size; ++k) {
        if (ids[first + k] == none) continue;
        places[k] = static_cast<u64>(starts[ids[first + k]]) + ranks[first + k];
        prefetch_to_write(to + places[k]);
      }
      for (u64 k = 0; k < size; ++k) {
        if (ids[first + k] != none) to[places[k]] = from[first + k];
      }
    }
  }
};

template <class Space, class Value, class Offset>
void scatter(Space& space, const scatter_to_groups<Value, Offset>& work) {
  if constexpr (Space::has_lanes)
    space.for_each_lane(work.n, work);
  else
    space.for_each_chunk(work.n, work);
}

}  // namespace tilehash::bulk
