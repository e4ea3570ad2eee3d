// Combining the items of equal keys before they go to a table, for insert_or_apply where keys repeat.
//
//   items   | share 0      | share 1      | share 2  ...   a block sorts each by part in its scratch, and
//               |   \          |   \                       combines the equal keys that it sees
//   parts   | part 0       | part 1       | ...            a block combines all that are left of a part in a
//               |              |                           table in its scratch
//   list    | key key key ...                              every key once, in no given order
//
// The table then meets each key once. So memory carries every item twice at the rate of its bandwidth, not of
// its random accesses, and a key that comes a million times is no place where a million atomic operations
// queue: a share brings it down to one.
//
// A share's equal keys find each other at a *seat*, one of a number, chosen by the key. The first item to
// come sits down; others of its key are combined with it, those of other keys stay as they are. So a share
// does not combine all that it could, but the more often a key comes, the likelier it has the seat.
//
// A part that is larger than it should be, or has more keys than a scratch has slots for, leaves items over.
//
// Source: sharing out by hash and aggregating each part in local memory is what databases do since Cieslewicz
// and Ross (VLDB 2007); seats are ours.
// length: the two steps are one algorithm, read together.
#pragma once

#include <cmath>

#include <tilehash/algorithm/block_scan.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash::detail {

// Which part a key belongs to, and two numbers to find it a slot and a seat by.
template <class Bits>
struct splitter {
  u32 parts;

  struct place {
    u32 part, slot, seat;
  };
  TILEHASH_FN place operator()(Bits key) const {
    u32 high, low;
    if constexpr (sizeof(Bits) == 4) {
      high = low = mix32(key);
    } else {
      const u64 hash = mix64(key);
      high = static_cast<u32>(hash >> 32), low = static_cast<u32>(hash);
    }
    const u64 scaled = static_cast<u64>(high) * parts;
    return {static_cast<u32>(scaled >> 32), static_cast<u32>(scaled), low};
  }
};

// An item on its way.
template <class Slot>
struct alignas(sizeof(typename Slot::key_bits) + sizeof(typename Slot::value_bits) <= 8 ? 8 : 16) loose_item {
  typename Slot::key_bits key;
  typename Slot::value_bits value;
};

// A list that threads add to; what finds no room is only counted.
template <class Slot>
struct loose_list {
  loose_item<Slot>* items;
  u64* length;
  u64 room;

  TILEHASH_FN void add(const loose_item<Slot>& x) const {
    const u64 at = detail::fetch_add(length, u64(1));
    if (at < room) items[at] = x;
  }
};

// The parts between the two steps: part p's first fill[p] items from p * room on, `room` of them at most.
template <class Slot>
struct loose_parts {
  loose_item<Slot>* items;
  u32 room;
  u32* fill;
};

// A block takes one share of the items after the other. While one leaves, the next is on its way in.
template <class Slot, class Source, class Op, u32 PerThread, u32 Threads>
struct combine_shares {
  using key_bits = typename Slot::key_bits;
  using value_bits = typename Slot::value_bits;
  using mapped_type = typename Slot::mapped_type;
  using stored = detail::combinable<Op, mapped_type>;
  using sums = detail::block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = PerThread * Threads;
  static constexpr u32 seats = share, nobody = 0;
  static constexpr u32 most_parts = seats;  // their shifts take the seats' place

  Source source;
  u64 n;
  splitter<key_bits> split;
  Op op;
  loose_parts<Slot> parts;
  loose_list<Slot> over;
  u64* left;  // counters: items that are left, and keys that are NaN
  u64* illegal;

  static constexpr u64 scratch_bytes(u64 parts) {
    return share * (sizeof(key_bits) + sizeof(stored)) + (seats + parts + sums::words) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    using detail::compare_and_swap;
    using detail::fetch_add;
    const u32 me = block.rank();
    const auto keys = block.template scratch<key_bits>();
    const auto values = block.template scratch<stored>(share * sizeof(key_bits));
    const auto seat = block.template scratch<u32>(share * (sizeof(key_bits) + sizeof(stored)));
    const auto shifts = seat, starts = seat + seats, scratch = starts + split.parts;
    key_bits my_keys[PerThread];
    value_bits my_values[PerThread];
    u32 goes[(PerThread + 31) / 32];  // bit k: there is a k-th item, and it goes on
    const auto take = [&](u64 number) {
      for (u32& bits : goes) bits = 0;
      TILEHASH_UNROLL
      for (u32 k = 0; k < PerThread; ++k) {
        const u64 i = number * share + static_cast<u64>(k) * Threads + me;
        const item<Slot> x = i < n ? source(i) : item<Slot>{};
        my_keys[k] = x.key.bits;
        my_values[k] = x.value;
        goes[k / 32] |= u32(x.valid && x.key.legal) << (k % 32);
        if (x.valid && !x.key.legal) fetch_add(illegal, u64(1));
      }
    };
    u64 sent = 0;
    take(block.index());
    for (u64 number = block.index(); number * share < n; number += block.count()) {
      for (u32 p = me; p < split.parts; p += Threads) starts[p] = 0;
      for (u32 s = me; s < seats; s += Threads) seat[s] = nobody;
      TILEHASH_UNROLL
      for (u32 k = 0; k < PerThread; ++k) {
        keys[k * Threads + me] = my_keys[k];
        values[k * Threads + me] = detail::from_bits<stored>(my_values[k]);
      }
      block.barrier();
      TILEHASH_UNROLL
      for (u32 k = 0; k < PerThread; ++k) {
        if ((goes[k / 32] >> (k % 32) & 1) == 0) continue;
        const u32 own = k * Threads + me + 1;
        const u32 sits = compare_and_swap(seat + split(my_keys[k]).seat % seats, nobody, own);
        if (sits == nobody || key_bits(keys[sits - 1]) != my_keys[k]) continue;
        detail::combine_at(values + (sits - 1), detail::from_bits<mapped_type>(my_values[k]), op);
        goes[k / 32] &= ~(1U << (k % 32));
      }
      block.barrier();
      u32 ranks[PerThread];  // the item's number among its part's in this share
      TILEHASH_UNROLL
      for (u32 k = 0; k < PerThread; ++k) {
        if ((goes[k / 32] >> (k % 32) & 1) == 0) continue;
        const stored combined = values[k * Threads + me];
        my_values[k] = detail::to_bits<value_bits>(combined);
        ranks[k] = fetch_add(starts + split(my_keys[k]).part, u32(1));
      }
      block.barrier();
      const u32 all = reserve(block, starts, shifts, scratch);
      sent += all;
      block.barrier();
      TILEHASH_UNROLL
      for (u32 k = 0; k < PerThread; ++k) {
        if ((goes[k / 32] >> (k % 32) & 1) == 0) continue;
        const u32 at = u32(starts[split(my_keys[k]).part]) + ranks[k];
        keys[at] = my_keys[k];
        values[at] = detail::from_bits<stored>(my_values[k]);
      }
      block.barrier();
      if ((number + block.count()) * share < n) take(number + block.count());
      for (u32 i = me; i < all; i += Threads) {
        const stored value = values[i];
        const loose_item<Slot> x{keys[i], detail::to_bits<value_bits>(value)};
        const u32 part = split(x.key).part, at = u32(shifts[part]) + i;
        if (at < parts.room)
          parts.items[static_cast<u64>(part) * parts.room + at] = x;
        else
          over.add(x);
      }
      block.barrier();
    }
    if (me == 0) fetch_add(left, sent);
  }

  // Replaces each part's count by where its items begin in the share, and finds them room in the part: i-th
  // in the share is shift + i-th in the part. Gives the sum of all. A thread serves neighbours.
  template <class Block, class Counts>
  TILEHASH_FN u32 reserve(Block block, Counts starts, Counts shifts, Counts scratch) const {
    constexpr u32 at_once = 5;
    const u32 size = split.parts, each = (size + Threads - 1) / Threads;
    const u32 from = block.rank() * each < size ? block.rank() * each : size;
    const u32 to = from + each < size ? from + each : size;
    u32 mine = 0, all = 0;
    for (u32 p = from; p < to; ++p) mine += u32(starts[p]);
    u32 sum = sums::before(block, scratch, mine, all);
    for (u32 p = from; p < to; p += at_once) {
      u32 count[at_once], begin[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        count[k] = p + k < to ? u32(starts[p + k]) : 0;
        begin[k] = count[k] != 0 ? detail::fetch_add(parts.fill + p + k, count[k]) : 0;
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (p + k >= to) continue;
        starts[p + k] = sum;
        shifts[p + k] = begin[k] - sum;
        sum += count[k];
      }
    }
    return all;
  }
};

// A block serves some neighbouring parts, whose keys its scratch has slots for.
template <class Slot, class Op, u32 PerThread, u32 Threads>
struct combine_parts {
  using key_bits = typename Slot::key_bits;
  using value_bits = typename Slot::value_bits;
  using mapped_type = typename Slot::mapped_type;
  using stored = detail::combinable<Op, mapped_type>;
  using sums = detail::block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 slots = PerThread * Threads;
  static constexpr u32 group = sums::group;
  static constexpr u32 max_probes = 64;
  static constexpr u32 at_once = 8;  // items of a thread

  splitter<key_bits> split;
  Op op;
  loose_parts<Slot> parts;
  u32 neighbours;  // parts of one block, not all
  loose_list<Slot> list, over;

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
      const u32 size = parts.fill[part] < parts.room ? parts.fill[part] : parts.room;
      const loose_item<Slot>* const from = parts.items + static_cast<u64>(part) * parts.room;
      for (u32 done = 0; done < size; done += at_once * Threads)
        combine_some(block, from + done, size - done, held, sum, none);
    }
    block.barrier();

    const auto t = block.template tile<group>();  // group by group, so that neighbours write side by side
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
        list.items[at + detail::count_ones(taken & ((1U << t.rank()) - 1))] = {
            key, detail::to_bits<value_bits>(value)};
      }
      at += detail::count_ones(taken);
    }
  }

 private:
  // Who takes a free slot for a key puts its value there; the others combine theirs after a barrier.
  template <class Block, class Keys, class Values>
  TILEHASH_FN void combine_some(Block block, const loose_item<Slot>* from, u32 size, Keys held, Values sum,
                                key_bits none) const {
    using detail::compare_and_swap;
    using detail::load_relaxed;
    loose_item<Slot> x[at_once];
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
      u32 s = static_cast<u32>((static_cast<u64>(split(x[k].key).slot) * slots) >> 32);
      bool seeks = true;
      for (u32 probes = 0; seeks && probes < max_probes; ++probes) {
        key_bits seen = load_relaxed(held + s);
        if (seen == none) seen = compare_and_swap(held + s, none, x[k].key);
        if (seen == none) sum[s] = detail::from_bits<stored>(x[k].value);
        if (seen == x[k].key) slot[k] = s;
        seeks = seen != none && seen != x[k].key;
        s = s + 1 == slots ? 0 : s + 1;
      }
      if (seeks) over.add(x[k]);
    }
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      if (slot[k] != slots) detail::combine_at(sum + slot[k], detail::from_bits<mapped_type>(x[k].value), op);
    }
  }
};

// Items of a list as a source for an insert.
template <class Slot>
struct loose_source {
  const loose_item<Slot>* items;

  TILEHASH_FN item<Slot> operator()(u64 i) const {
    const loose_item<Slot> from = items[i];
    item<Slot> x;
    x.key.bits = from.key;
    x.key.legal = x.valid = true;
    x.key.reserved = Slot::is_reserved(from.key);
    x.value = from.value;
    return x;
  }
};

template <class Slot, class Space>
struct combined {
  buffer<loose_item<Slot>, Space> list, left_over;
  u64 size = 0, left = 0;  // of the two
  u64 illegal = 0;         // items whose key is NaN, which are on neither
  bool complete = false;   // false: so much was left over that it is not known
  bool unique = false;     // no key is on the list twice

  loose_source<Slot> source() const { return {list.data()}; }
  loose_source<Slot> rest() const { return {left_over.data()}; }
};

// Can items with such slots be combined? Those of keys and values of at most 8 bytes each.
template <class Slot>
constexpr bool can_combine() {
  return sizeof(typename Slot::key_bits) <= 8 && Slot::value_bytes <= 8;
}

// Blocks that keep all of the machine at work, and of a CPU's no thread waiting long for the last.
template <class Space>
u64 blocks_at_once(const Space& space) {
  if constexpr (Space::has_lanes)
    return space.large_blocks_at_once();
  else
    return 16 * static_cast<u64>(space.threads());
}

// The n items of the source, those of equal keys combined. It takes the bytes of the items 2.6 times. Throws
// out_of_memory.
template <class Slot, class Space, class Source, class Op>
combined<Slot, Space> combine(Space& space, const Source& source, u64 n, const Op& op) {
  using key_bits = typename Slot::key_bits;
  constexpr bool narrow = sizeof(loose_item<Slot>) <= 8;
  constexpr u32 threads = Space::has_lanes ? 1024 : 1,
                each = 1024 / threads;  // what fits shared memory, or L2
  using shares_type = combine_shares<Slot, shifted_source<Source>, Op, (narrow ? 16 : 8) * each, threads>;
  using parts_type = combine_parts<Slot, Op, (narrow ? 28 : 14) * each, threads>;
  constexpr u64 share = shares_type::share;
  constexpr u64 fill = parts_type::slots / 3 * 2;  // different keys that find their slots fast
  constexpr u64 most_parts = 4096;
  static_assert(most_parts <= shares_type::most_parts);
  constexpr u64 most = most_parts * fill / share * share;  // items at once
  const u64 piece = n < most ? n : most;
  u64 parts = detail::divide_up(piece, fill);
  const u64 blocks = blocks_at_once(space);
  if (parts < 2 * blocks) parts = 2 * blocks;
  const double mean = static_cast<double>(piece) / static_cast<double>(parts);
  const u32 room =
      static_cast<u32>(1.5 * mean + 8 * std::sqrt(mean)) + 32;  // few keys are shared out unevenly

  combined<Slot, Space> result;
  buffer<loose_item<Slot>, Space> between(space, parts * room);
  buffer<u32, Space> fills(space, parts);
  result.list = buffer<loose_item<Slot>, Space>(space, n);
  result.left_over = buffer<loose_item<Slot>, Space>(space, n / 16 + 1024);
  buffer<u64, Space> counters(space, 4);  // of the list, of what is left over, illegal, between the steps
  space.fill(counters.data(), 4, u64(0));
  u64* const counter = counters.data();
  const splitter<key_bits> split{static_cast<u32>(parts)};
  const loose_parts<Slot> bins{between.data(), room, fills.data()};
  const loose_list<Slot> list{result.list.data(), counter, n},
      over{result.left_over.data(), counter + 1, result.left_over.size()};
  u64 before = 0;
  for (u64 done = 0; done < n; done += piece) {
    const u64 now = n - done < piece ? n - done : piece, shares = detail::divide_up(now, share);
    space.fill(fills.data(), parts, u32(0));
    const shares_type by_share{{source, done}, now, split, op, bins, over, counter + 3, counter + 2};
    space.for_each_block(Space::has_lanes && shares > blocks ? blocks : shares, shares_type::block_size,
                         shares_type::scratch_bytes(parts), by_share);
    const u64 left = read_one(space, counter + 3);
    u64 neighbours = fill * parts / (left - before + 1);
    if (neighbours > parts / blocks) neighbours = parts / blocks;
    if (neighbours == 0) neighbours = 1;
    before = left;
    const parts_type by_part{split, op, bins, static_cast<u32>(neighbours), list, over};
    space.for_each_block(detail::divide_up(parts, neighbours), parts_type::block_size,
                         parts_type::scratch_bytes(), by_part);
  }
  const auto counts = counters.to_host();
  result.size = counts[0];
  result.left = counts[1];
  result.illegal = counts[2];
  result.complete = result.left <= result.left_over.size();
  result.unique = n <= piece;
  return result;
}

}  // namespace tilehash::detail
