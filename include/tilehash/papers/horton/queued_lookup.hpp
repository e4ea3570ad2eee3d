// SPDX-License-Identifier: Apache-2.0
// Lookups of a Horton table with work queues in shared memory (section 5.2). The library's own lookup
// (kernel/find.hpp) reads a second bucket at once, and only the lanes whose key needs one have work.
//
//   32 keys  -> primary buckets -> found, or absent            -> values
//                               '-> a remap entry names a bucket -> the warp's queue
//   32 items of the queue -> secondary buckets                 -> values
//
// Source: A. Breslow et al., Horton Tables, USENIX ATC 2016. The paper has queues for more steps, such as the
// computation of a tag, and gives no code or sizes. Rates: docs/measured/papers/breslow.md.
#pragma once

#include <tilehash/core/error.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/horton.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

// A block's body. Each warp takes `rounds` times 32 keys.
template <class Design>
struct look_up_by_queues {
  using slot_type = typename Design::slot_type;
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using stored_key = typename Design::stored_key;
  static_assert(!slot_type::reserves_keys && !slot_type::is_set);
  static constexpr u32 block_size = 256, at_once = 32, width = Design::preferred_width;
  static constexpr u32 queues = block_size / at_once, resident_blocks = 4;
  static constexpr u32 capacity = 2 * at_once;  // of a queue: at most 31 wait when 32 more come
  static constexpr u64 scratch_bytes =
      u64(queues) * capacity * (sizeof(u64) + sizeof(stored_key) + sizeof(u32));

  Design design;
  const key_type* keys;
  u64 n;
  mapped_type* values;
  mapped_type fallback;  // of absent keys
  u32 rounds;

  u64 blocks() const { return detail::divide_up(n, u64(rounds) * block_size); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto tile = block.template tile<width>();
    const auto wide = block.template tile<at_once>();
    const queue<Block> waiting(block);
    u32 held = 0;
    for (u32 round = 0; round < rounds; ++round) {
      const u64 i = (block.index() * rounds + round) * block_size + block.rank();
      const auto mine = i < n ? detail::query<slot_type>(keys[i]) : detail::query<slot_type>();
      auto location = design.locate(mine.bits);
      const auto result = examine_primary(tile, design.where(location), design.stored(location, mine.bits));
      const bool goes_on = i < n && result.what == lookup_state::go_on;
      if (i < n && !goes_on) values[i] = value_of(result);
      const u32 going_on = wide.ballot(goes_on);
      if (goes_on) {
        design.advance(location, result);
        const u32 at = held + detail::count_ones(going_on & ((u32(1) << wide.rank()) - 1));
        waiting.put(at, i, design.where(location), design.stored(location, mine.bits));
      }
      held += detail::count_ones(going_on);
      wide.sync();
      if (held < at_once) continue;
      held -= at_once;
      read_waiting(tile, waiting, held, at_once);
      wide.sync();
    }
    if (held != 0) read_waiting(tile, waiting, 0, held);
  }

 private:
  template <class Block>
  struct queue {
    decltype(std::declval<Block>().template scratch<u64>()) items;
    decltype(std::declval<Block>().template scratch<stored_key>()) stored;
    decltype(std::declval<Block>().template scratch<u32>()) buckets;
    u32 me;

    TILEHASH_FN explicit queue(Block block)
        : items(block.template scratch<u64>() + start(block)),
          stored(block.template scratch<stored_key>(u64(queues) * capacity * sizeof(u64)) + start(block)),
          buckets(block.template scratch<u32>(u64(queues) * capacity * (sizeof(u64) + sizeof(stored_key))) +
                  start(block)),
          me(block.rank() % at_once) {}
    TILEHASH_FN static u32 start(Block block) { return block.rank() / at_once * capacity; }
    TILEHASH_FN void put(u32 at, u64 item, u32 bucket, stored_key key) const {
      items[at] = item;
      stored[at] = key;
      buckets[at] = bucket;
    }
  };

  template <class Answer>
  TILEHASH_FN mapped_type value_of(const Answer& a) const {
    return a.found() ? detail::from_bits<mapped_type>(a.value) : fallback;
  }

  // Each lane's own bucket: all of a tile are requested before the first is examined.
  template <class Tile>
  TILEHASH_FN auto examine_primary(Tile t, u32 bucket, stored_key stored) const {
    using bucket_type = typename Design::template bucket_type<Tile>;
    bucket_type read[width];
    typename Design::answer mine{};
    TILEHASH_UNROLL
    for (u32 j = 0; j < width; ++j) read[j] = bucket_type::read(t, design.bucket_at(t.broadcast(bucket, j)));
    TILEHASH_UNROLL
    for (u32 j = 0; j < width; ++j) {
      const auto a = design.examine(t, read[j], t.broadcast(stored, j));
      if (t.rank() == j) mine = a;
    }
    return mine;
  }

  // `count` items of the queue, from `first` on, one for each lane.
  template <class Tile, class Queue>
  TILEHASH_FN void read_waiting(Tile t, const Queue& waiting, u32 first, u32 count) const {
    using bucket_type = typename Design::template bucket_type<Tile>;
    const bool has = waiting.me < count;
    const u32 at = first + (has ? waiting.me : 0);
    const u32 bucket = waiting.buckets[at];
    const stored_key stored = waiting.stored[at];
    bucket_type read[width];
    TILEHASH_UNROLL
    for (u32 j = 0; j < width; ++j) {
      const bool active = t.broadcast(u32(has), j) != 0;
      read[j] = bucket_type::read(t, design.bucket_at(t.broadcast(bucket, j)), active);
    }
    TILEHASH_UNROLL
    for (u32 j = 0; j < width; ++j) {
      const auto a = read[j].look_up(t, t.broadcast(stored, j));
      if (has && t.rank() == j) values[waiting.items[at]] = value_of(a);
    }
  }
};

/// Looks up n keys of a Horton table with work queues: values[i] is the value of keys[i], or `fallback`.
///
/// Faster than the table's own find_or() while the table is in the cache, slower beyond it. Complexity: O(n). Temporary memory: none.
/// Synchronizes: no. Concurrency: with const verbs. Throws invalid_argument: `rounds` is 0, or the space cannot read a pointer.
/// \param keys, values n elements of the space's memory.
/// \param rounds how often a warp takes 32 keys: more rounds fill its queue better, and leave fewer warps.
template <class Space, class Table>
void find_by_queues(Space& space, const Table& table, const typename Table::key_type* keys, u64 n,
                    typename Table::mapped_type* values, typename Table::mapped_type fallback,
                    u32 rounds = 4) {
  detail::require(rounds != 0, "find_by_queues: 0 rounds read no key; pass 1 or more");
  space.check_pointer(keys, n, "find_by_queues: the keys");
  space.check_pointer(values, n, "find_by_queues: the values");
  const auto design = table.view().design;
  using body = look_up_by_queues<std::remove_const_t<decltype(design)>>;
  const body work{design, keys, n, values, fallback, rounds};
  space.for_each_block(work.blocks(), body::block_size, body::scratch_bytes, work);
}

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
