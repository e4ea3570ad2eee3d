// SPDX-License-Identifier: Apache-2.0
// A builder of rows (designs/rows.hpp) in two steps: it sorts the items by bins of neighbouring rows, and
// then builds the rows from the items in that order.
//
//   items      d a c e b f        rows 3 0 2 3 0 3
//   bins     | a b | c d e f |    of two rows each: 0 and 1, 2 and 3
//   build      bin after bin, so that its counters, and then its entries, stay in the cache
//
// A block takes a share of the items, counts those of each bin in its scratch, reserves slots in the bins and
// writes the items there. A block of many threads sorts its share first, so that neighbouring threads write
// the items of a bin at once. Memory takes a full line whole, but must read a line that is written in parts.
// A core's cache gathers those parts, so a core writes the items in the order of the source.
//
// It pays if counters and entries do not fit the cache. A build in the order of the items then misses the
// cache with every item, once to count it and twice to store it.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/rows.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A key in a bin: one store and one load, as in a row.
template <class Key>
using binned_key = row_entry<Key, void>;

// A share of the items, and their bins. NaN keys are left out.
template <class Rows, class Key, u32 Threads>
struct share_of_bins {
  using offset = typename Rows::offset;
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = tuning::of_block<Threads>::binned_share;

  Rows rows;
  const Key* keys;
  u64 n;
  u32 shift, bins;  // a bin has 2^shift rows
  offset* next;     // of each bin, the position of its next item

  TILEHASH_FN u32 bin_of(const Key& key) const { return static_cast<u32>(rows.locate(key).row >> shift); }
  TILEHASH_FN u64 first_of(u64 number) const { return number * share; }
  TILEHASH_FN u64 last_of(u64 number) const {
    const u64 last = (number + 1) * share;
    return last < n ? last : n;
  }
  // Counts a block's share in `counts`, words of its scratch.
  template <class Block, class Counts>
  TILEHASH_FN void count(Block block, Counts counts) const {
    const u32 me = block.rank();
    for (u32 b = me; b < bins; b += Threads) counts[b] = 0;
    block.barrier();
    const u64 last = last_of(block.index());
    for (u64 i = first_of(block.index()) + me; i < last; i += Threads) {
      if (is_legal(keys[i])) fetch_add(counts + bin_of(keys[i]), offset(1));
    }
    block.barrier();
  }
};

template <class Rows, class Key, u32 Threads>
struct count_bins : share_of_bins<Rows, Key, Threads> {
  using offset = typename Rows::offset;
  static constexpr u64 scratch_bytes(u32 bins) { return bins * sizeof(offset); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto here = block.template scratch<offset>();
    this->count(block, here);
    for (u32 b = block.rank(); b < this->bins; b += Threads) {
      if (here[b] != 0) fetch_add(this->next + b, offset(here[b]));
    }
  }
};

template <class Rows, class Key, class MappedPointer, u32 Threads>
struct fill_bins : share_of_bins<Rows, Key, Threads> {
  using shares = share_of_bins<Rows, Key, Threads>;
  using offset = typename Rows::offset;
  using mapped =  // a set has none
      std::conditional_t<Rows::is_set, char, std::remove_const_t<std::remove_pointer_t<MappedPointer>>>;
  using shares::share;
  static constexpr bool in_order = Threads > 1;
  static constexpr u32 of_each = share / Threads, at_once = tuning::of_block<Threads>::binned_at_once;
  static constexpr u32 rank_bits = 14, none = ~u32(0);
  static_assert(share <= 1U << rank_bits);

  MappedPointer values;
  binned_key<Key>* keys_out;
  mapped* values_out;

  // Scratch: for each bin, the distance to its items in the share, or the position of its next one. If
  // in_order, also the begin of each bin's items in the share, the share's items in order, and the block's
  // sums.
  static constexpr u64 scratch_bytes(u32 bins) {
    constexpr u64 sums = block_sums<Threads>::words * sizeof(u32);
    return bins * sizeof(offset) + (in_order ? bins * sizeof(u32) + share * sizeof(u16) + sums : 0);
  }
  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    if constexpr (in_order)
      put_in_order(block);
    else
      put_as_they_come(block);
  }

 private:
  TILEHASH_FN void put(u64 at, const Key& key, u64 i) const {
    keys_out[at] = {key};
    if constexpr (!Rows::is_set) values_out[at] = values[i];
  }
  template <class Block>
  TILEHASH_FN void put_as_they_come(Block block) const {
    const auto here = block.template scratch<offset>();
    const u32 me = block.rank();
    this->count(block, here);
    for (u32 b = me; b < this->bins; b += Threads) {
      const offset came = here[b];
      if (came != 0) here[b] = fetch_add(this->next + b, came);
    }
    block.barrier();
    const u64 last = this->last_of(block.index());
    for (u64 i = this->first_of(block.index()) + me; i < last; i += Threads) {
      const Key& key = this->keys[i];
      if (is_legal(key)) put(fetch_add(here + this->bin_of(key), offset(1)), key, i);
    }
  }
  // A share's keys in the order of their bins, with their numbers.
  struct numbered_key {
    u64 number;
    Key key;
  };
  template <class Order>
  struct ordered_share {
    const Key* keys;
    u64 first;  // of the share
    Order order;
    TILEHASH_FN numbered_key operator[](u32 i) const {
      const u64 number = first + u16(order[i]);
      return {number, keys[number]};
    }
  };
  template <class Block>
  TILEHASH_FN void put_in_order(Block block) const {
    const u32 me = block.rank(), bins = this->bins;
    const u64 first = this->first_of(block.index()), last = this->last_of(block.index());
    const u64 starts_at = bins * sizeof(offset), order_at = starts_at + bins * sizeof(u32);
    const auto shifts = block.template scratch<offset>();
    const auto starts = block.template scratch<u32>(starts_at);
    const auto order = block.template scratch<u16>(order_at);
    const auto sums = block.template scratch<u32>(order_at + share * sizeof(u16));
    for (u32 b = me; b < bins; b += Threads) starts[b] = 0;
    block.barrier();
    // The bin of each of this thread's items, and its rank among the share's items of that bin.
    u32 positions[of_each];
    TILEHASH_UNROLL
    for (u32 k = 0; k < of_each; ++k) {
      const u64 i = first + u64(k) * Threads + me;
      positions[k] = none;
      if (i >= last || !is_legal(this->keys[i])) continue;
      const u32 bin = this->bin_of(this->keys[i]);
      positions[k] = bin << rank_bits | fetch_add(starts + bin, u32(1));
    }
    block.barrier();
    const u32 all = reserve_runs<Threads, at_once>(block, starts, shifts, sums, bins, this->next);
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < of_each; ++k) {
      if (positions[k] == none) continue;
      const u32 rank = positions[k] & ((1U << rank_bits) - 1);
      order[u32(starts[positions[k] >> rank_bits]) + rank] = static_cast<u16>(k * Threads + me);
    }
    block.barrier();
    const ordered_share<decltype(order)> ordered{this->keys, first, order};
    fetch_items<at_once>(ordered, all, me, Threads, [&](u32 i, const numbered_key& x) {
      put(static_cast<offset>(shifts[this->bin_of(x.key)] + i), x.key, x.number);
    });
  }
};

// Items in the order of their bins.
template <class Space, class Rows, class Key, class MappedPointer>
struct items_in_bins {
  using shares = share_of_bins<Rows, Key, large_block<Space>>;
  using counting = count_bins<Rows, Key, large_block<Space>>;
  using filling = fill_bins<Rows, Key, MappedPointer, large_block<Space>>;
  using offset = typename Rows::offset;
  static_assert(sizeof(binned_key<Key>) == sizeof(Key));
  u32 shift, bins;
  buffer<char, Space> memory;  // the keys
  buffer<typename filling::mapped, Space> values;
  buffer<offset, Space> ends;  // of each bin, and of all

  // Bins of 2^shift rows each. O(items + bins). Temporary memory: the items' bytes. Does not synchronize.
  items_in_bins(Space& space, const Rows& rows, const Key* from, MappedPointer from_values, u64 n,
                u32 bin_shift)
      : shift(bin_shift),
        bins(static_cast<u32>((rows.capacity() - 1) >> shift) + 1),
        memory(space, n * sizeof(Key)),
        values(space, Rows::is_set ? 0 : n),
        ends(space, bins + 1) {
    const segments<offset> order{ends.data(), bins};
    const shares all{rows, from, n, shift, bins, ends.data()};
    const u64 blocks = divide_up(n, shares::share);
    order.start_counting(space);
    space.for_each_block(blocks, shares::block_size, counting::scratch_bytes(bins), counting{all});
    order.end_counting(space);
    space.for_each_block(blocks, shares::block_size, filling::scratch_bytes(bins),
                         filling{all, from_values, keys(), values.data()});
  }
  // The number of items. Synchronizes if a key may be NaN.
  u64 size(Space& space) const {
    return has_nan<Key> ? u64(read_one(space, ends.data() + bins)) : memory.bytes() / sizeof(Key);
  }
  binned_key<Key>* keys() const { return reinterpret_cast<binned_key<Key>*>(memory.data()); }
  const Key* bare_keys() const { return reinterpret_cast<const Key*>(memory.data()); }
  MappedPointer mapped() const { return MappedPointer(values.data()); }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace builders {

// `Then` builds the rows from the items in their new order, or in the given one if they fit the cache.
// Temporary memory: the items' bytes and that of `Then`.
template <class Then>
struct binned {
  static constexpr const char* name = "hash_graph_v2";
  static constexpr double max_load_factor = Then::max_load_factor;

  // Rows of a bin, as a power of two: their memory takes half the cache, and a block can count the bins.
  template <class Space, class Rows>
  static u32 shift_for(const Space& space, const Rows& rows, u64 n) {
    const double row = sizeof(typename Rows::offset) + static_cast<double>(n) /
                                                           static_cast<double>(rows.capacity()) *
                                                           sizeof(typename Rows::entry);
    u32 shift = 0;
    while (static_cast<double>(u64(2) << shift) * row <=
               static_cast<double>(space.cache_bytes()) / detail::tuning::of<Space>::cache_share ||
           (rows.capacity() - 1) >> shift >= detail::tuning::of<Space>::binned_bins)
      ++shift;
    return shift;
  }

  // O(items + rows).
  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    const u32 shift = shift_for(space, rows, n);
    if ((rows.capacity() - 1) >> shift == 0) return Then::build(space, rows, keys, values, n);
    const detail::items_in_bins<Space, Rows, Key, MappedPointer> in(space, rows, keys, values, n, shift);
    return Then::build(space, rows, in.bare_keys(), in.mapped(), in.size(space));
  }
};

}  // namespace builders
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
