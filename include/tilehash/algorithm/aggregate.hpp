// SPDX-License-Identifier: Apache-2.0
// Combines items of equal keys before they go to a table, for insert_or_apply where keys repeat.
//
//   items   | share 0      | share 1      | share 2  ...   a partition (partition.hpp), which combines equal
//               |   \          |   \                       keys of a share before it sends them
//   parts   | part 0       | part 1       | ...            a block combines the rest of a part in a table in
//               |              |                           its scratch
//   list    | key key key ...                              every key once, in no given order
//
// The table then meets each key once. Every item passes through memory twice, at the rate of sequential
// accesses, not of random ones. A key that repeats a million times does not queue a million atomic operations
// at one word: a share combines its copies into one.
//
// Equal keys of a share meet at a *cell* of the block's scratch that the key selects. The first item
// takes the cell. Later items of its key are combined with it; items of other keys stay as they are. A share
// therefore combines only some of its equal keys, but the more often a key repeats, the likelier it has the
// cell.
//
// A part that exceeds its capacity, or has more keys than a scratch has slots, leaves items over.
//
// Source: databases partition by hash and aggregate each part in local memory since Cieslewicz and Ross (VLDB
// 2007). Cells are ours.
#pragma once

#include <algorithm>
#include <concepts>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Maps a key to its part, and to two numbers that select its slot and its cell.
template <class Slot>
struct splitter : keys_as_they_are<Slot> {
  using key_bits = typename Slot::key_bits;
  u32 parts;
  key_bits seed;

  splitter(u64 number, u64 any) : parts(static_cast<u32>(number)), seed(static_cast<key_bits>(any)) {}
  struct location {
    u32 part, slot, cell;
  };
  TILEHASH_FN location operator()(key_bits key) const {
    u32 high, low;
    if constexpr (sizeof(key_bits) == 4) {
      high = low = mix32(key ^ seed);
    } else {
      const u64 hash = mix64(key ^ seed);
      high = static_cast<u32>(hash >> 32), low = static_cast<u32>(hash);
    }
    const u64 scaled = static_cast<u64>(high) * parts;
    return {static_cast<u32>(scaled >> 32), static_cast<u32>(scaled), low};
  }
  TILEHASH_FN u32 regions() const { return parts; }
  TILEHASH_FN u32 region_of(key_bits key) const { return (*this)(key).part; }
};

template <class Op>
inline constexpr bool adds = std::same_as<Op, op::sum> || std::same_as<Op, op::count>;

// Combines `given` with another given value, at `at` in a block's scratch, which other threads may change
// concurrently. No thread reads it until a barrier after all of them. Where any of the values may win, the one
// that is present does: copies of one key would change one word in turn. A least or greatest value seldom
// changes, so it is read first.
template <class Op, class Value, class At>
TILEHASH_FN void combine_given(At at, const Value& given, const Op& op) {
  if constexpr (std::same_as<Op, op::assign>) {
    return;
  } else if constexpr (adds<Op> && atomic_integer<Value> && sizeof(Value) == 8) {
    add_by_halves(at, static_cast<u64>(given));
  } else {
    if constexpr ((std::same_as<Op, op::minimum> || std::same_as<Op, op::maximum>)&&atomic_integer<Value>) {
      using detail::load_relaxed;
      const Value present = load_relaxed(at);
      if (op(present, given) == present) return;
    }
    combine_at(at, given, op);
  }
}

// The same with the low half of a word of 8 bytes, while other threads read the upper half.
template <class Value, class At, class Op>
TILEHASH_FN void combine_low_half(At at, u32 given, const Op& op) {
  if constexpr (std::same_as<Op, op::assign>) return;
#if defined(__CUDA_ARCH__)
  combine_given(reinterpret_cast<combinable<Op, Value>*>(at), from_bits<Value>(given), op);
#else
  for (u64 old = load_relaxed(at);;) {  // until the swap succeeds
    const u32 next =
        to_bits<u32>(Value(op(from_bits<Value>(static_cast<u32>(old)), from_bits<Value>(given))));
    const u64 seen = compare_and_swap(at, old, old >> 32 << 32 | next);
    if (seen == old) return;
    old = seen;
  }
#endif
}

// Combines equal keys of a share before the share is sent. The block's scratch has keys and values in two
// arrays, and a cell for each item.
template <class Slot, class Op>
struct combine_at_cells {
  using key_bits = typename Slot::key_bits;
  using value_bits = typename Slot::value_bits;
  using word = typename Slot::word;
  using mapped_type = typename Slot::mapped_type;
  using stored = detail::combinable<Op, mapped_type>;
  static constexpr bool meets = true, has_cells = true;
  static constexpr u32 cells_of(u32 share) { return share; }
  static constexpr u32 nobody = 0;
  static constexpr bool narrow = sizeof(key_bits) + sizeof(value_bits) <= 8;
  static constexpr u32 of_a_thread = tuning::gpu::combined_items(narrow);
  static constexpr u32 of_a_core = tuning::cpu::combined_items(narrow);
  static constexpr u32 reserved_at_once = tuning::here::combined_reserved_at_once;
  static constexpr u32 leaving_at_once = tuning::here::combined_leaving_at_once;
  static constexpr u64 entry_bytes = sizeof(key_bits) + sizeof(stored);

  Op op;
  u64* sent;  // a counter

  template <class Keys, class Values>
  struct entries {
    Keys keys;
    Values values;
    TILEHASH_FN void put(u32 i, key_bits key, value_bits v) const {
      keys[i] = key;
      values[i] = detail::from_bits<stored>(v);
    }
    TILEHASH_FN value_bits value(u32 i) const {
      const stored v = values[i];
      return detail::to_bits<value_bits>(v);
    }
    TILEHASH_FN word get(u32 i) const { return routed_item<Slot>::pack(keys[i], value(i)); }
  };
  template <u32 Share, class Block>
  TILEHASH_FN static auto entries_in(Block block) {
    const auto keys = block.template scratch<key_bits>();
    const auto values = block.template scratch<stored>(Share * sizeof(key_bits));
    return entries<decltype(keys), decltype(values)>{keys, values};
  }

  // Combines each item of this thread whose key has taken its cell with the item there. A combined item does
  // not go on.
  template <u32 Threads, u32 PerThread, u32 Words, class Block, class Entries, class Cells>
  TILEHASH_FN void meet(Block block, const splitter<Slot>& split, const Entries& in, Cells cell,
                        const key_bits (&keys)[PerThread], const value_bits (&values)[PerThread],
                        u32 (&goes)[Words]) const {
    using detail::compare_and_swap;
    constexpr u32 cells = PerThread * Threads;
    const u32 me = block.rank();
    for (u32 s = me; s < cells; s += Threads) cell[s] = nobody;
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) in.put(k * Threads + me, keys[k], values[k]);
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      if ((goes[k / 32] >> (k % 32) & 1) == 0) continue;
      const u32 own = k * Threads + me + 1;
      const u32 holder = compare_and_swap(cell + split(keys[k]).cell % cells, nobody, own);
      if (holder == nobody || key_bits(in.keys[holder - 1]) != keys[k]) continue;
      detail::combine_given(in.values + (holder - 1), detail::from_bits<mapped_type>(values[k]), op);
      goes[k / 32] &= ~(1U << (k % 32));
    }
    block.barrier();
  }
  // The combined value of the share's i-th item, if that goes on.
  template <class Entries>
  TILEHASH_FN static value_bits value_after(const Entries& in, u32 i, value_bits /*value*/) {
    return in.value(i);
  }
  TILEHASH_FN void left(u64 items) const { fetch_add(sent, items); }
};

// A block combines the items of some neighbouring parts, as many as its scratch has slots for.
template <class Slot, class Op, u32 PerThread, u32 Threads>
struct combine_parts {
  using word = typename Slot::word;
  using item = routed_item<Slot>;
  using key_bits = typename Slot::key_bits;
  using value_bits = typename Slot::value_bits;
  using mapped_type = typename Slot::mapped_type;
  using stored = detail::combinable<Op, mapped_type>;
  using sums = detail::block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 slots = PerThread * Threads;
  static constexpr u32 group = sums::group;
  static constexpr u32 max_probes = 64;
  static constexpr u32 at_once = tuning::of_block<Threads>::combined_at_once;  // items of a thread

  splitter<Slot> split;
  Op op;
  even_bins<word> parts;
  u32 neighbours;  // parts of one block, not all
  spill_list<word> list, over;

  static constexpr u64 scratch_bytes() {
    return slots * (sizeof(key_bits) + sizeof(stored)) + (sums::words + 2) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    using detail::fetch_add;
    const u32 me = block.rank();
    const auto held = block.template scratch<key_bits>();
    const auto sum = block.template scratch<stored>(slots * sizeof(key_bits));
    const auto scratch = block.template scratch<u32>(slots * (sizeof(key_bits) + sizeof(stored)));
    const auto base = scratch + sums::words;
    const u32 first = static_cast<u32>(block.index()) * neighbours;
    const u32 end = first + neighbours < split.parts ? first + neighbours : split.parts;
    key_bits none = 0;  // a key of other parts marks a free slot
    while (split(none).part >= first && split(none).part < end) ++none;

    for (u32 s = me; s < slots; s += Threads) held[s] = none;
    block.barrier();
    for (u32 part = first; part < end; ++part) {
      const u32 size = parts.size(part);
      const word* const from = parts.at(part);
      for (u32 done = 0; done < size; done += at_once * Threads)
        combine_some(block, from + done, size - done, held, sum, none);
    }
    block.barrier();

    const auto t = block.template tile<group>();  // by groups: neighbouring lanes write neighbouring words
    const u32 own = me / group * PerThread * group + t.rank();
    u32 mine = 0, all = 0;
    for (u32 k = 0; k < PerThread; ++k)
      mine += detail::count_ones(t.ballot(key_bits(held[own + k * group]) != none));
    const u32 before = t.broadcast(sums::before(block, scratch, t.rank() == 0 ? mine : 0, all), 0);
    if (me == 0) {
      const u64 at = fetch_add(list.length, static_cast<u64>(all));
      base[0] = static_cast<u32>(at), base[1] = static_cast<u32>(at >> 32);
    }
    block.barrier();
    u64 at = (static_cast<u64>(u32(base[1])) << 32 | u32(base[0])) + before;
    for (u32 k = 0; k < PerThread; ++k) {
      const key_bits key = held[own + k * group];
      const u32 taken = t.ballot(key != none);
      if (key != none) {
        const stored value = sum[own + k * group];
        list.items[at + detail::count_ones(taken & ((1U << t.rank()) - 1))] =
            item::pack(key, detail::to_bits<value_bits>(value));
      }
      at += detail::count_ones(taken);
    }
  }

 private:
  // The thread that takes a free slot for a key stores its value there; others combine theirs after a
  // barrier.
  template <class Block, class Keys, class Values>
  TILEHASH_FN void combine_some(Block block, const word* from, u32 size, Keys held, Values sum,
                                key_bits none) const {
    using detail::compare_and_swap;
    using detail::load_relaxed;
    word x[at_once];
    u32 slot[at_once];
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u32 i = k * Threads + block.rank();
      if (i < size) x[k] = from[i];
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      slot[k] = slots;
      if (k * Threads + block.rank() >= size) continue;
      const key_bits key = item::hash_of(x[k]);
      u32 s = static_cast<u32>((static_cast<u64>(split(key).slot) * slots) >> 32);
      bool seeks = true;
      for (u32 probes = 0; seeks && probes < max_probes; ++probes) {
        key_bits seen = load_relaxed(held + s);
        if (seen == none) seen = compare_and_swap(held + s, none, key);
        if (seen == none) sum[s] = detail::from_bits<stored>(item::value_of(x[k]));
        if (seen == key) slot[k] = s;
        seeks = seen != none && seen != key;
        s = s + 1 == slots ? 0 : s + 1;
      }
      if (seeks) over.add(x[k]);
    }
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      if (slot[k] != slots)
        detail::combine_given(sum + slot[k], detail::from_bits<mapped_type>(item::value_of(x[k])), op);
    }
  }
};

template <class Slot, class Space>
struct combined {
  using source_type = routed_source<keys_as_they_are<Slot>>;
  buffer<typename Slot::word, Space> list, left_over;
  u64 size = 0, left = 0;  // items of the two
  u64 illegal = 0;         // items whose key is NaN, which are on neither
  u64 without_slot = 0;    // at most so many were left over by full parts. Their keys may be on the list;
                           // the keys of other items left over are not
  bool complete = false;   // false: left_over was too small for all items left over
  bool unique = false;     // no key is on the list twice

  source_type source() const { return {{}, list.data()}; }
  source_type rest() const { return {{}, left_over.data()}; }
};

// Whether items with such slots can be combined: keys and values of at most 8 bytes each.
template <class Slot>
constexpr bool can_combine() {
  return sizeof(typename Slot::key_bits) <= 8 && Slot::value_bytes <= 8;
}

// The number of blocks that occupies the whole machine. On a CPU it is so large that no thread waits long for
// the last block.
template <class Space>
u64 blocks_at_once(const Space& space) {
  if constexpr (Space::has_lanes)
    return space.large_blocks_at_once();
  else
    return tuning::cpu::blocks_per_thread * static_cast<u64>(space.threads());
}

// Combines equal keys of the source's n items. Memory: 2.6 times the bytes of the items. Throws
// out_of_memory. Another seed gives keys other parts. More than `most_at_once` items are combined window
// by window.
template <class Slot, class Space, class Source, class Op>
combined<Slot, Space> combine(Space& space, const Source& source, u64 n, const Op& op, u64 seed = 0,
                              u64 most_at_once = ~u64(0)) {
  using word = typename Slot::word;
  using source_type = shifted_source<Source>;
  using at_cells = combine_at_cells<Slot, Op>;
  using by_shares =
      partition_in<splitter<Slot>, source_type, Space, even_bins<word>, spill_list<word>, at_cells>;
  using machine = tuning::of<Space>;
  using by_parts = combine_parts<Slot, Op, machine::combined_slots(at_cells::narrow), large_block<Space>>;
  constexpr u64 share = by_shares::share;
  constexpr u64 fill = by_parts::slots / 3 * 2;  // different keys that find their slots fast
  constexpr u64 most_parts = machine::combined_parts;
  static_assert(most_parts <= by_shares::most_regions);
  constexpr u64 most = most_parts * fill / share * share;  // items at once, whatever the caller allows
  const u64 window = std::min({n, most, most_at_once});
  u64 parts = detail::divide_up(window, fill);
  const u64 blocks = blocks_at_once(space);
  if (parts < 2 * blocks) parts = 2 * blocks < most_parts ? 2 * blocks : most_parts;
  const double mean = static_cast<double>(window) / static_cast<double>(parts);
  const u32 capacity =
      static_cast<u32>(bin_capacity(mean)) + static_cast<u32>(mean / 2);  // few keys vary more

  combined<Slot, Space> result;
  buffer<word, Space> between(space, parts * capacity);
  buffer<u32, Space> fills(space, parts);
  result.list = buffer<word, Space>(space, n);
  result.left_over = buffer<word, Space>(space, n / 16 + 1024);
  buffer<u64, Space> counters(space, 4);  // items of the list, left over, illegal, sent to parts
  space.fill(counters.data(), 4, u64(0));
  u64* const counter = counters.data();
  const splitter<Slot> split(parts, seed);
  const even_bins<word> bins{between.data(), capacity, fills.data()};
  const spill_list<word> list{result.list.data(), counter, n},
      over{result.left_over.data(), counter + 1, result.left_over.size()};
  u64 before = 0;
  for (u64 done = 0; done < n; done += window) {
    const u64 now = n - done < window ? n - done : window;
    space.fill(fills.data(), parts, u32(0));
    send_by_blocks(space, split, source_type{source, done}, now, bins, over, counter + 2,
                   at_cells{op, counter + 3});
    const auto sent = counters.to_host();
    const u64 left = sent[3];
    result.without_slot = done == 0 ? sent[1] : n;
    u64 neighbours = fill * parts / (left - before + 1);
    if (neighbours > parts / blocks) neighbours = parts / blocks;
    if (neighbours == 0) neighbours = 1;
    before = left;
    space.for_each_block(detail::divide_up(parts, neighbours), by_parts::block_size,
                         by_parts::scratch_bytes(),
                         by_parts{split, op, bins, static_cast<u32>(neighbours), list, over});
  }
  const auto counts = counters.to_host();
  result.size = counts[0];
  result.left = counts[1];
  result.illegal = counts[2];
  result.complete = result.left <= result.left_over.size();
  result.unique = n <= window;
  return result;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
