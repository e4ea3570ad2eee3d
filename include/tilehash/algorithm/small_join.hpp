// SPDX-License-Identifier: Apache-2.0
// The first steps of a join of few rows on a GPU: groups the right rows by key in memory, and finds the matches of
// the left rows. Few rows stay in a GPU's cache, so their random accesses are fast, and each step not taken saves
// more time than the step works. So there is no partition, no sort and no scan.
//
//   set      |   | b |   | a | c |      of the right keys' hashes
//   groups   | . | 1 | . | 3 | 2 |      the number of each key's rows, and where these begin among
//   values   | 9 | 3 1 2 | 5 4 |        the right rows' numbers
//
//   count_keys     every right row finds or claims its key's slot, and gets its number in the group
//   place_groups   every group gets its begin
//   place_rows     every right row goes to its place
//   find_matches   every left row finds its group; a block reserves the output for its left rows
//
// Blocks reserve output in the order in which they come, and then store their left rows' matches in that
// order. These are the segments of the output, as algorithm/segments.hpp has them.
#pragma once

#include <algorithm>
#include <span>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/algorithm/write_matches.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/join_options.hpp>
#include <tilehash/core/quotient_slot.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A set of hashes with a group of rows for each. The hash 0, which marks free slots, has the slot behind the
// others.
template <class Slot>
struct small_groups {
  using key_type = typename Slot::key_type;
  using key_bits = typename Slot::key_bits;
  static constexpr u32 none = ~u32(0);

  hash_route<Slot> way;  // of one region
  u32 slots;             // without the one for the hash 0
  key_bits* set;
  u64* groups;  // the begin in the upper half, and the number of rows

  TILEHASH_FN u32 slot_of(key_bits hash) const {
    return hashed_buckets<Slot>::scale(hash_route<Slot>::high(hash), slots);
  }
  TILEHASH_FN u32 next(u32 slot) const { return slot + 1 == slots ? 0 : slot + 1; }
  // Finds the slot of a key, or takes a free one: at least half of the slots stay free.
  TILEHASH_FN u32 claim(const key_type& key) const {
    const query<Slot> q(key);
    if (!q.legal) return none;
    const key_bits hash = way.hash(q.bits);
    if (hash == 0) return slots;
    u32 slot = slot_of(hash);
    for (u32 steps = 0; steps < slots; ++steps) {
      key_bits met = load_relaxed(set + slot);
      if (met == 0) met = compare_and_swap(set + slot, key_bits(0), hash);
      if (met == 0 || met == hash) return slot;
      slot = next(slot);
    }
    return none;
  }
  // Returns the group of a key, or 0.
  TILEHASH_FN u64 find(const key_type& key) const {
    const query<Slot> q(key);
    if (!q.legal) return 0;
    const key_bits hash = way.hash(q.bits);
    if (hash == 0) return groups[slots];
    u32 slot = slot_of(hash);
    for (u32 steps = 0; steps < slots; ++steps) {
      const key_bits met = set[slot];
      if (met == hash) return groups[slot];
      if (met == 0) return 0;
      slot = next(slot);
    }
    return 0;
  }
};

// Gives each right row its slot, and its number in its group. Lanes with equal slots count together: a frequent
// key's rows would wait for each other.
template <class Slot>
struct count_keys {
  static constexpr u32 group = 32, rounds = 4;  // slots of a group of lanes that are counted together
  small_groups<Slot> to;
  const typename Slot::key_type* keys;
  u64 n;
  u32 *slots, *numbers;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<group>();
    const u64 i = lane.index();
    const u32 slot = i < n ? to.claim(keys[i]) : small_groups<Slot>::none;
    const bool counts = slot != small_groups<Slot>::none;
    u32 together = u32(1) << t.rank(), alone = t.ballot(counts);
    for (u32 r = 0; r < rounds; ++r) {
      const u32 its = t.broadcast(slot, alone != 0 ? lowest(alone) : 0);
      const u32 same = t.ballot(counts && slot == its);
      if (counts && slot == its) together = same;
      alone &= ~same;
    }
    const u32 first = lowest(together);
    u64 before = 0;
    if (counts && t.rank() == first)
      before = fetch_add(to.groups + slot, static_cast<u64>(count_ones(together)));
    const u32 number = t.from_left(static_cast<u32>(before), (t.rank() + group - first) % group);
    if (i >= n) return;
    slots[i] = slot;
    numbers[i] = number + count_ones(together & ((u32(1) << t.rank()) - 1));
  }
};

// Gives each group its begin.
template <u32 Threads>
struct place_groups {
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads, each = 4;  // slots of a thread
  static constexpr u64 scratch_bytes = (sums::words + 1) * sizeof(u32);
  u64* groups;
  u64 slots;
  u64* placed;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto words = block.template scratch<u32>();
    const u64 first = block.index() * each * Threads + block.rank();
    u32 counts[each], mine = 0, all = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) {
      const u64 at = first + u64(k) * Threads;
      counts[k] = at < slots ? static_cast<u32>(groups[at]) : 0;
      mine += counts[k];
    }
    u32 begin = sums::before(block, words, mine, all);
    if (block.rank() == 0) words[sums::words] = static_cast<u32>(fetch_add(placed, static_cast<u64>(all)));
    block.barrier();
    begin += u32(words[sums::words]);
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) {
      if (counts[k] != 0) groups[first + u64(k) * Threads] = static_cast<u64>(begin) << 32 | counts[k];
      begin += counts[k];
    }
  }
};

struct place_rows {
  const u64* groups;
  const u32 *slots, *numbers;
  u32* values;
  TILEHASH_FN void operator()(u64 i) const {
    if (slots[i] != ~u32(0))
      values[static_cast<u32>(groups[slots[i]] >> 32) + numbers[i]] = static_cast<u32>(i);
  }
};

// Finds the matches of left rows and stores them where the block's turn is: a block's turns and rows are counted
// in one word.
template <class Slot, u32 Threads>
struct find_matches {
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads, turn_shift = 44;
  static constexpr u64 scratch_bytes = 2 * sizeof(u64) + sums::words * sizeof(u32);
  small_groups<Slot> in;
  const typename Slot::key_type* keys;
  u64 n;
  join_kind kind;
  u64* next;  // the number of blocks, from bit turn_shift on, and of rows
  u64* offsets;
  u32 *begins, *numbers;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto words = block.template scratch<u64>();
    const u32 me = block.rank();
    const u64 i = block.index() * Threads + me;
    const u64 group = i < n ? in.find(keys[i]) : 0;
    const u32 rows = i < n ? static_cast<u32>(joined_rows(kind, static_cast<u32>(group))) : 0;
    u32 all = 0;
    const u32 before = sums::before(block, block.template scratch<u32>(2 * sizeof(u64)), rows, all);
    if (me == 0) words[0] = fetch_add(next, u64(1) << turn_shift | all);
    block.barrier();
    const u64 turn = words[0] >> turn_shift, base = words[0] & ((u64(1) << turn_shift) - 1);
    const u64 at = turn * Threads + me;
    offsets[at] = base + before;
    begins[at] = static_cast<u32>(group) != 0 ? static_cast<u32>(group >> 32) : no_match;
    numbers[at] = static_cast<u32>(i);
    if (turn + 1 == block.count() && me == Threads - 1) offsets[at + 1] = base + all;
  }
};

// The matches of the left rows: segments of the output.
template <class Key, class Space>
class small_join {
  using slot = remainder_slot<Key, u32>;
  using group_set = small_groups<slot>;
  static constexpr u32 threads = tuning::gpu::small_join_block;
  using matching = find_matches<slot, threads>;

 public:
  // Are so few rows joined in this way?
  static bool takes(u64 lefts, u64 rights) {
    return Space::has_lanes && std::max(lefts, rights) <= tuning::gpu::small_join_rows && lefts != 0;
  }
  // Synchronizes with the host. Throws out_of_memory.
  void count(Space& space, std::span<const Key> left, std::span<const Key> right, join_kind kind, u64 seed) {
    using placing = place_groups<threads>;
    const u64 rights = right.size(), slots = 2 * rights + 32, blocks = divide_up(left.size(), u64(threads));
    segments_ = blocks * threads;
    // One array has all: a call to allocate one more takes as long as a kernel. First what is cleared, which is
    // the groups, two counters and the set.
    const u64 set_words = divide_up(slots * sizeof(typename slot::key_bits), sizeof(u64));
    const u64 cleared = slots + 3 + set_words, halves = 2 * segments_ + 3 * rights;
    memory_ = buffer<u64, Space>(space, cleared + segments_ + 1 + divide_up(halves, u64(2)));
    u64* const groups = memory_.data();
    u64 *const placed = groups + slots + 1, *const next = placed + 1;
    const group_set set{hash_route<slot>(1, seed), static_cast<u32>(slots),
                        reinterpret_cast<typename slot::key_bits*>(next + 1), groups};
    u64* const offsets = groups + cleared;
    u32* const begins = reinterpret_cast<u32*>(offsets + segments_ + 1);
    u32 *const numbers = begins + segments_, *const values = numbers + segments_;
    u32 *const slots_of_rows = values + rights, *const numbers_of_rows = slots_of_rows + rights;
    matched_ = {offsets, segments_, begins, numbers, rights != 0 ? values : nullptr};

    space.fill(groups, cleared, u64(0));
    space.for_each_lane(rights, count_keys<slot>{set, right.data(), rights, slots_of_rows, numbers_of_rows});
    space.for_each_block(divide_up(slots + 1, u64(placing::each) * threads), threads, placing::scratch_bytes,
                         placing{groups, slots + 1, placed});
    space.for_each(rights, place_rows{groups, slots_of_rows, numbers_of_rows, values});
    space.for_each_block(blocks, threads, matching::scratch_bytes,
                         matching{set, left.data(), left.size(), kind, next, offsets, begins, numbers});
    size_ = read_one(space, next) & ((u64(1) << matching::turn_shift) - 1);
  }
  u64 size() const { return size_; }
  const match_segments& matched() const { return matched_; }

 private:
  u64 segments_ = 0, size_ = 0;
  buffer<u64, Space> memory_;
  match_segments matched_ = {};
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
