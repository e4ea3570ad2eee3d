// Keys that more than one item has, found again by what a table's build dropped: of each such key all items
// but one.
//
//   dropped  | k p k |  --> filter | .1..1.. |  a bit for each of their keys, of 16 and more
//   items    | k a b k p c k ... |  --> | 0 3 4 6 |  the numbers of those whose bit is set
//
// The numbers are those of all items of contested keys, and of one in sixteen of the others, so whoever asks
// which item of a key came first has few to compare. The keys are read once, in order, and a bit of each.
#pragma once

#include <tilehash/algorithm/block_scan.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/space/buffer.hpp>

#include <initializer_list>
#include <span>

namespace tilehash::inline TILEHASH_ABI::detail {

// The bins of regions whose build also tells which items it dropped, for their keys had others.
template <class Word>
struct telling_bins : even_bins<Word> {
  spill_list<Word> dropped;
};

// A bit for each key, of a power of two.
template <class Slot>
struct key_filter {
  using key_bits = typename Slot::key_bits;
  u32* words;
  u32 shift;

  TILEHASH_FN u64 bit_of(key_bits key) const { return mix64(static_cast<u64>(key)) >> shift; }
  TILEHASH_FN void add(key_bits key) const {
    const u64 b = bit_of(key);
    set_bits(words + b / 32, u32(1) << (b % 32));
  }
  TILEHASH_FN bool has(key_bits key) const {
    const u64 b = bit_of(key);
    return (words[b / 32] >> (b % 32) & 1) != 0;
  }
};

template <class Design>
struct add_dropped {
  using entry = routed_item<typename Design::slot_type>;
  Design design;  // of the hash that the words were made with
  const typename Design::word* dropped;
  key_filter<typename Design::slot_type> filter;

  TILEHASH_FN void operator()(u64 i) const { filter.add(design.unhash(entry::hash_of(dropped[i]))); }
};

// A block takes a share of the keys and finds its numbers room with one atomic operation.
template <class Slot, u32 Threads>
struct select_contested {
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads, at_once = 8, of_a_thread = 32, share = of_a_thread * Threads;
  static constexpr u64 scratch_bytes = (sums::words + 2) * sizeof(u32);

  const typename Slot::key_type* keys;
  u64 n;
  key_filter<Slot> filter;
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
          const query<Slot> key = i < n ? query<Slot>(keys[i]) : query<Slot>();
          mine |= u32(key.legal && filter.has(key.bits)) << k;
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
        if (at < numbers.room)
          numbers.items[at] = static_cast<u32>(first + static_cast<u64>(lowest(mine)) * Threads + me);
      }
      block.barrier();
    }
  }
};

// The numbers of n items, fewer than 2^32, whose keys are contested, and of some others; in no given order.
template <class Space>
struct contested_items {
  buffer<u32, Space> numbers;
  u64 size = 0;
};
// `dropped` are lists of words that a build by this design left. O(n). Memory: two to four bytes a dropped
// item, and four for each that is found, or for four a dropped one and n / 16. Throws out_of_memory. Waits.
template <class Design, class Space>
contested_items<Space> find_contested(Space& space, const Design& design,
                                      const typename Design::slot_type::key_type* keys, u64 n,
                                      std::initializer_list<std::span<const typename Design::word>> dropped) {
  using slot_type = typename Design::slot_type;
  using work = select_contested<slot_type, large_block<Space>>;
  u64 wanted = 0;
  for (const auto& list : dropped) wanted += list.size();
  u32 log2 = 10;
  while ((u64(1) << log2) < 16 * wanted && log2 < 40) ++log2;
  buffer<u32, Space> words(space, (u64(1) << log2) / 32);
  space.fill(words.data(), words.size(), u32(0));
  const key_filter<slot_type> filter{words.data(), 64 - log2};
  for (const auto& list : dropped)
    space.for_each(list.size(), add_dropped<Design>{design, list.data(), filter});
  buffer<u64, Space> length(space, 1);
  contested_items<Space> found;
  for (u64 room = 4 * wanted + n / 16 + 1024;;) {  // again once, with room for all
    room = room < n ? room : n;
    found.numbers = buffer<u32, Space>(space, room);
    space.fill(length.data(), 1, u64(0));
    const u64 blocks = divide_up(n, work::share);
    space.for_each_block(blocks, work::block_size, work::scratch_bytes,
                         work{keys, n, filter, spill_list<u32>{found.numbers.data(), length.data(), room}});
    found.size = read_one(space, length.data());
    if (found.size <= room) return found;
    room = found.size;
  }
}

}  // namespace tilehash::inline TILEHASH_ABI::detail
