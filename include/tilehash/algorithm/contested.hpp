// SPDX-License-Identifier: Apache-2.0
// Finds all items of a call whose keys are contested. A key is contested if a table's build left an item of
// it over, since other items of the same key may precede that one.
//
//   left     | k p |  --> filter | .1..1.. |  a bit for each of their keys
//   items    | k a b k p c k ... |  --> | 0 3 4 6 |  the numbers of those whose bit is set
//
// The numbers include all items of these keys and few others. A caller that seeks the first item of a key
// therefore compares few. Each key is read once, in order, and one bit of the filter for it.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// One bit for each key, selected by its hash. The number of bits is a power of two.
struct hash_filter {
  u32* words;
  u32 shift;

  TILEHASH_FN u64 bit_of(u64 hash) const { return mix64(hash) >> shift; }
  TILEHASH_FN void add(u64 hash) const {
    const u64 b = bit_of(hash);
    set_bits(words + b / 32, u32(1) << (b % 32));
  }
  TILEHASH_FN bool has(u64 hash) const {
    const u64 b = bit_of(hash);
    return (words[b / 32] >> (b % 32) & 1) != 0;
  }
};

// A block takes a share of the keys and reserves space for its numbers with one atomic operation.
template <class Route, u32 Threads>
struct select_contested {
  using slot_type = typename Route::slot_type;
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads, at_once = tuning::of_block<Threads>::contested_at_once;
  static constexpr u32 of_a_thread = 32, share = of_a_thread * Threads;  // a bit for each
  static constexpr u64 scratch_bytes = (sums::words + 2) * sizeof(u32);

  Route route;
  const typename slot_type::key_type* keys;
  u64 n;
  hash_filter filter;
  spill_list<u32> numbers;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto scratch = block.template scratch<u32>();
    const auto base = scratch + sums::words;
    const u32 me = block.rank();
    for (u64 first = block.index() * share; first < n; first += block.count() * share) {
      u32 mine = 0;  // bit k: of the thread's k-th key
      for (u32 some = 0; some < of_a_thread; some += at_once) {
        TILEHASH_UNROLL
        for (u32 k = some; k < some + at_once; ++k) {
          const u64 i = first + static_cast<u64>(k) * Threads + me;
          const query<slot_type> key = i < n ? query<slot_type>(keys[i]) : query<slot_type>();
          mine |= u32(key.legal && filter.has(static_cast<u64>(route.hash(key.bits)))) << k;
        }
      }
      u32 all = 0;
      const u32 before = sums::before(block, scratch, count_ones(mine), all);
      if (me == 0) {
        const u64 at = fetch_add(numbers.length, static_cast<u64>(all));
        base[0] = static_cast<u32>(at), base[1] = static_cast<u32>(at >> 32);
      }
      block.barrier();
      u64 at = (static_cast<u64>(u32(base[1])) << 32 | u32(base[0])) + before;
      for (; mine != 0; mine &= mine - 1, ++at) {
        if (at < numbers.capacity)
          numbers.items[at] = static_cast<u32>(first + static_cast<u64>(lowest(mine)) * Threads + me);
      }
      block.barrier();
    }
  }
};

// A filter of one to two bits for each of n items. If one item in thirty was left over, one in thirty of the
// others passes it. Throws out_of_memory.
template <class Space>
class contested_keys {
 public:
  contested_keys(Space& space, u64 n) : log2_(bit_width(n + 1023)), words_(space, (u64(1) << log2_) / 32) {
    space.fill(words_.data(), words_.size(), u32(0));
  }
  hash_filter filter() const { return {words_.data(), 64 - log2_}; }

 private:
  u32 log2_;
  buffer<u32, Space> words_;
};

// The numbers of all contested items among n < 2^32 items, and of some others, in no given order.
template <class Space>
struct contested_items {
  buffer<u32, Space> numbers;
  u64 size = 0;
};
// Finds them by the filter of about `left` items that were left over. O(n). Memory: four bytes for each item
// found, or for 4 * left + n / 16 items. Throws out_of_memory. Synchronizes with the host.
template <class Route, class Space>
contested_items<Space> find_contested(Space& space, const Route& route,
                                      const typename Route::slot_type::key_type* keys, u64 n,
                                      const hash_filter& filter, u64 left) {
  using work = select_contested<Route, large_block<Space>>;
  buffer<u64, Space> length(space, 1);
  contested_items<Space> found;
  for (u64 capacity = 4 * left + n / 16 + 1024;;) {  // retries once, with capacity for all
    capacity = capacity < n ? capacity : n;
    found.numbers = buffer<u32, Space>(space, capacity);
    space.fill(length.data(), 1, u64(0));
    space.for_each_block(
        divide_up(n, work::share), work::block_size, work::scratch_bytes,
        work{route, keys, n, filter, spill_list<u32>{found.numbers.data(), length.data(), capacity}});
    found.size = read_one(space, length.data());
    if (found.size <= capacity) return found;
    capacity = found.size;
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
