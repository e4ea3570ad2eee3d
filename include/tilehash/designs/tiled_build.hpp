// The bulk build of `tiled`: partition the items by region, then build each region in block-local memory.
//
//   items --partition--> | bin 0 | bin 1 | ... a region's bin is its own memory in the table
//                           | ^     | ^
//                         block 0  block 1 ... each reads its bin, builds the region in its scratch and
//                                              writes it back
//
// A random write to memory costs a whole line read and written back; partitioned items are written in runs
// that the cache gathers, and the table is written once, in order. So a build runs at several times the rate
// of single inserts, on a GPU (shared memory) and on a CPU (a block is one thread, its scratch lies in its
// cache).
//
// A region has a slot for each of its items, so the table's own memory holds the partitioned items and the
// build needs next to none beside it. What does not fit (many equal keys) and what finds no place in its
// region goes to `left`, and the caller inserts that one by one. If even `left` overflows, the build says so
// and the caller inserts everything one by one.
//
// Building a region, with a barrier between the steps:
//   1  count every item into its first bucket; the first to come take its slots, the others go on a list
//   2  remove equal keys within each bucket
//   3  listed items: into their first or second bucket where there is room, or out if their key is there
//   4  still homeless: change places with a key that moves to its other bucket, and so on
//   5  remove what step 4 made double; 6 write the region out, with the overflow filter's bits
// length: partition and build are one algorithm of six steps, read together.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/buffer.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/remainder_slot.hpp>
#include <tilehash/core/result.hpp>

namespace tilehash::detail {

// An item on its way: a word like a slot's, with the whole hash in it.
template <class Slot>
struct tiled_entry {
  using word = typename Slot::word;
  TILEHASH_FN static word pack(typename Slot::tag hash, typename Slot::value_bits v) {
    if constexpr (Slot::is_set)
      return hash;
    else
      return static_cast<word>(hash) << Slot::value_shift | v;
  }
  TILEHASH_FN static typename Slot::tag hash_of(word e) {
    return static_cast<typename Slot::tag>(e >> Slot::value_shift);
  }
  TILEHASH_FN static typename Slot::value_bits value_of(word e) { return Slot::value_of(e); }
};

// What the build does not place, for the caller to insert.
template <class Design>
struct tiled_spill {
  using word = typename Design::word;
  word* left;
  u64* count;
  u64 capacity;

  TILEHASH_FN void add(word e) const {
    const u64 at = fetch_add(count, u64(1));
    if (at < capacity) left[at] = e;
  }
};

// The spilled items as a source for a bulk insert.
template <class Design>
struct tiled_spill_source {
  Design design;
  const typename Design::word* left;

  TILEHASH_FN auto operator()(u64 i) const {
    using entry = tiled_entry<typename Design::slot_type>;
    bulk::item<typename Design::slot_type> x;
    x.key.tag = design.unhash(entry::hash_of(left[i]));
    x.key.legal = x.valid = true;
    x.value = entry::value_of(left[i]);
    return x;
  }
};

// A block takes a share of the items and sorts it by region in its scratch, so that the items of a region
// leave for its bin side by side: a run of neighbours costs the memory little more than one item.
template <class Design, class Source, u32 PerThread, u32 Threads>
struct tiled_partition {
  using slot_type = typename Design::slot_type;
  using tag = typename slot_type::tag;
  using value_bits = typename slot_type::value_bits;
  using word = typename slot_type::word;
  using entry = tiled_entry<slot_type>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = PerThread * Threads;  // items of one block
  static constexpr u32 group = Threads < 32 ? Threads : 32, groups = Threads / group;
  static constexpr u32 nowhere = ~u32(0);

  Design design;
  Source source;
  u64 n;
  u32* fill;  // per region: items sent to its bin
  tiled_spill<Design> spill;
  u64* illegal;

  // Scratch: the share's entries; for each region where its entries begin, and how far its bin is from there;
  // the threads' and the groups' sums.
  static constexpr u64 scratch_bytes(u64 regions) {
    return share * sizeof(word) + (2 * regions + u64(groups) * (group + 2)) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 regions = design.regions(), me = block.rank();
    const auto sorted = block.template scratch<word>();
    const auto starts = block.template scratch<u32>(share * sizeof(word));
    const auto shifts = starts + regions;
    for (u32 r = me; r < regions; r += Threads) starts[r] = 0;
    const u64 begin = block.index() * share + me;
    tag hashes[PerThread];
    value_bits values[PerThread];
    u32 ranks[PerThread];  // the item's number within its region's share of this block
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      const u64 i = begin + static_cast<u64>(k) * Threads;
      const bulk::item<slot_type> x = i < n ? source(i) : bulk::item<slot_type>{};
      hashes[k] = design.hash(x.key.tag);
      values[k] = x.value;
      ranks[k] = x.key.legal ? 0 : nowhere;
      if (x.valid && !x.key.legal) fetch_add(illegal, u64(1));
    }
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      if (ranks[k] != nowhere) ranks[k] = fetch_add(starts + design.region_of(hashes[k]), u32(1));
    }
    block.barrier();
    const u32 all = reserve(block, starts, shifts, regions);
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < PerThread; ++k) {
      if (ranks[k] == nowhere) continue;
      sorted[u32(starts[design.region_of(hashes[k])]) + ranks[k]] = entry::pack(hashes[k], values[k]);
    }
    block.barrier();
    for (u32 i = me; i < all; i += Threads) {
      const word e = sorted[i];
      const u32 region = design.region_of(entry::hash_of(e)), at = u32(shifts[region]) + i;
      if (at < design.region_slots())
        design.region_at(region)[at] = e;
      else
        spill.add(e);
    }
  }

  // Replaces each region's count by where its entries begin among the block's, finds them room in the
  // region's bin, and gives how many entries there are in all. A thread serves neighbouring regions.
  template <class Block, class Counts>
  TILEHASH_FN u32 reserve(Block block, Counts starts, Counts shifts, u32 regions) const {
    const u32 me = block.rank(), each = (regions + Threads - 1) / Threads;
    const u32 from = me * each < regions ? me * each : regions;
    const u32 to = from + each < regions ? from + each : regions;
    u32 mine = 0;
    for (u32 r = from; r < to; ++r) mine += u32(starts[r]);
    u32 all = 0, start = before(block, shifts + regions, mine, all);
    constexpr u32 at_once = 4;  // requests of a thread that are under way together
    for (u32 r = from; r < to; r += at_once) {
      u32 count[at_once], base[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        count[k] = r + k < to ? u32(starts[r + k]) : 0;
        base[k] = count[k] != 0 ? fetch_add(fill + r + k, count[k]) : 0;
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (r + k >= to) continue;
        starts[r + k] = start;
        shifts[r + k] = base[k] - start;
        start += count[k];
      }
    }
    return all;
  }

  // The sum of what the threads before this one bring, and of what all bring.
  template <class Block, class Sums>
  TILEHASH_FN static u32 before(Block block, Sums sums, u32 mine, u32& all) {
    const u32 me = block.rank(), my_group = me / group;
    const auto totals = sums + groups * (group + 1);  // + 1 keeps the groups' sums in different banks
    sums[my_group * (group + 1) + me % group] = mine;
    block.barrier();
    if (me < groups) {
      u32 sum = 0;
      for (u32 i = 0; i < group; ++i) {
        const u32 one = sums[me * (group + 1) + i];
        sums[me * (group + 1) + i] = sum;
        sum += one;
      }
      totals[me] = sum;
    }
    block.barrier();
    u32 sum = sums[my_group * (group + 1) + me % group];
    for (u32 g = 0; g < groups; ++g) {
      if (g < my_group) sum += u32(totals[g]);
      all += u32(totals[g]);
    }
    return sum;
  }
};

template <class Design>
struct tiled_build {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using needle = typename slot_type::needle;
  using entry = tiled_entry<slot_type>;
  using place = typename Design::place;
  static constexpr u32 block_size = 1024;
  static constexpr u32 slots = Design::bucket_slots;
  static constexpr u32 max_walk = 128;
  static constexpr u32 settled = ~u32(0);

  Design design;
  const u32* fill;
  tiled_spill<Design> spill;
  u64* inserted;

  // Scratch: the region's words, then per bucket a count and the filter bits, then the list and two counters.
  TILEHASH_FN static constexpr u64 list_room(u64 buckets) { return buckets * slots * 3 / 16; }
  static constexpr u64 scratch_bytes(u64 buckets) {
    return buckets * (sizeof(word) * slots + 2 * sizeof(u32)) + (list_room(buckets) + 2) * sizeof(u32);
  }

  template <class Words>
  TILEHASH_FN static word swap_in(Words at, word content) {
    for (word old = load_relaxed(at);;) {
      const word seen = compare_and_swap(at, old, content);
      if (seen == old) return old;
      old = seen;
    }
  }
  // A bucket of the scratch, read without waiting for one word before asking for the next. Threads begin with
  // different slots, which keeps the reads of a warp in different banks.
  struct view {
    word words[slots];  // from slot `turn` on, round
    u32 turn;
    template <class Words>
    TILEHASH_FN view(Words bucket, u32 from) : turn(from % slots) {
      TILEHASH_UNROLL
      for (u32 k = 0; k < slots; ++k) words[k] = load_relaxed(bucket + (k + turn) % slots);
    }
    TILEHASH_FN u32 match(needle wanted) const {  // bit s: slot s
      u32 mask = 0;
      TILEHASH_UNROLL
      for (u32 k = 0; k < slots; ++k) mask |= u32(slot_type::needle_in(words[k]) == wanted) << k;
      return rotate_right<slots>(mask, (slots - turn) % slots);
    }
  };
  // Puts a word into the first free slot of a bucket: inserted, present, or refused when it is full.
  template <class Words>
  TILEHASH_FN static outcome put(Words words, u32 number, word content) {
    const auto bucket = words + number * slots;
    for (;;) {  // again when another took the slot: at most once for each slot
      const view b(bucket, number);
      const u32 free = b.match(slot_type::empty_tag);
      if (b.match(slot_type::needle_in(content)) != 0) return outcome::present;
      if (free == 0) return outcome::refused;
      if (slot_type::is_free(compare_and_swap(bucket + lowest(free), word(0), content)))
        return outcome::inserted;
    }
  }
  // Removes equal keys from a bucket and closes the gaps, so that put() meets a key before a free slot.
  template <class Words, class Count>
  TILEHASH_FN static void remove_twins(Words bucket, Count count, u32 turn) {
    const view b(bucket, turn);
    needle seen[slots];
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k)  // no two free slots alike: an even needle is no key's
      seen[k] =
          slot_type::is_free(b.words[k]) ? static_cast<needle>(2 * k) : slot_type::needle_in(b.words[k]);
    bool twins = false;
    TILEHASH_UNROLL
    for (u32 s = 1; s < slots; ++s) {
      TILEHASH_UNROLL
      for (u32 r = 0; r < s; ++r) twins |= seen[r] == seen[s];
    }
    if (!twins) return;
    u32 kept = 0;
    for (u32 s = 0; s < slots; ++s) {
      const word w = bucket[s];
      bool twin = slot_type::is_free(w);
      for (u32 r = 0; r < kept; ++r) twin |= slot_type::needle_in(bucket[r]) == slot_type::needle_in(w);
      if (!twin) bucket[kept++] = w;
    }
    for (u32 s = kept; s < slots; ++s) bucket[s] = word(0);
    *count = kept;
  }

  // The slot of a full bucket whose key had best move: one whose other bucket has room, else any.
  template <class Words, class Counts>
  TILEHASH_FN u32 victim(Words words, Counts counts, u32 bucket, u32 dice) const {
    const view b(words + bucket * slots, dice);
    u32 room = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < slots; ++k)
      room |= u32(load_relaxed(counts + design.mirror(bucket, slot_type::needle_in(b.words[k]))) < slots)
              << k;
    return (b.turn + (room != 0 ? lowest(room) : 0)) % slots;
  }

  template <class Filters>
  TILEHASH_FN static void set_filter(Filters at, u32 bit) {
    for (u32 old = load_relaxed(at); (old >> bit & 1) == 0;) {
      const u32 seen = compare_and_swap(at, old, old | 1U << bit);
      if (seen == old) return;
      old = seen;
    }
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 region = static_cast<u32>(block.index()), buckets = design.region_buckets();
    const auto words = block.template scratch<word>();
    const auto counts = block.template scratch<u32>(static_cast<u64>(buckets) * slots * sizeof(word));
    const auto filters = counts + buckets;
    const auto list = filters + buckets;
    const u32 room = static_cast<u32>(list_room(buckets));
    const auto listed = list + room, occupied = list + (room + 1);
    word* const home = design.region_at(region);  // its bin, and at last its buckets
    const u32 n = fill[region] < design.region_slots() ? fill[region] : design.region_slots();
    const u32 me = block.rank(), all = block.size();

    for (u32 i = me; i < buckets * slots; i += all) words[i] = word(0);
    for (u32 i = me; i < 2 * buckets; i += all) counts[i] = 0;
    if (me == 0) listed[0] = 0, occupied[0] = 0;
    block.barrier();

    constexpr u32 at_once = 4;
    for (u32 first = me; first < n; first += at_once * all) {  // 1
      word e[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all < n) e[k] = home[first + k * all];
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        const u32 i = first + k * all;
        if (i >= n) continue;
        const place p = design.place_of(entry::hash_of(e[k]));
        const u32 s = fetch_add(counts + p.bucket, u32(1));
        if (s < slots) {
          words[p.bucket * slots + s] = slot_type::make(p.needle, entry::value_of(e[k]));
        } else {
          const u32 at = fetch_add(listed, u32(1));
          if (at < room)
            list[at] = i;
          else
            spill.add(e[k]);
        }
      }
    }
    block.barrier();

    for (u32 b = me; b < buckets; b += all) remove_twins(words + b * slots, counts + b, b);  // 2
    block.barrier();

    const u32 waiting = listed[0] < room ? u32(listed[0]) : room;
    for (u32 q = me; q < waiting; q += all) {  // 3
      const word e = home[list[q]];
      place p = design.place_of(entry::hash_of(e));
      const u32 first = p.bucket;
      outcome o = put(words, first, slot_type::make(p.needle, entry::value_of(e)));
      if (o == outcome::refused) {
        set_filter(filters + first, design.filter_index(p.needle));
        design.advance(p);
        o = put(words, p.bucket, slot_type::make(p.needle, entry::value_of(e)));
      }
      if (o == outcome::inserted) fetch_add(counts + p.bucket, u32(1));
      if (o != outcome::refused) list[q] = settled;
    }
    block.barrier();

    for (u32 q = me; q < waiting; q += all) {  // 4
      if (list[q] == settled) continue;
      const word e = home[list[q]];
      place p = design.place_of(entry::hash_of(e));
      design.advance(p);
      word homeless = slot_type::make(p.needle, entry::value_of(e));
      u32 to = p.bucket;
      u64 dice = mix64(static_cast<u64>(entry::hash_of(e)));
      bool done = false;
      for (u32 step = 0; step < max_walk && !done; ++step) {
        if (load_relaxed(counts + to) < slots && put(words, to, homeless) != outcome::refused) {
          fetch_add(counts + to, u32(1));
          done = true;
          break;
        }
        dice = mix64(dice + step);
        const word out =
            swap_in(words + (to * slots + victim(words, counts, to, static_cast<u32>(dice >> 32))), homeless);
        done = slot_type::is_free(out);
        const needle n_out = slot_type::needle_in(out);
        if (!done && !slot_type::is_second(n_out)) set_filter(filters + to, design.filter_index(n_out));
        if (done) break;
        to = design.mirror(to, n_out);
        homeless = slot_type::make(n_out ^ 2, slot_type::value_of(out));
      }
      if (!done) {
        spill.add(entry::pack(design.hash_in(region, to, slot_type::needle_in(homeless)),
                              slot_type::value_of(homeless)));
      }
    }
    block.barrier();

    for (u32 q = me; q < waiting; q += all) {  // 5
      if (list[q] == settled) continue;
      place p = design.place_of(entry::hash_of(home[list[q]]));
      bool seen = false;
      for (u32 half = 0; half < 2; ++half, design.advance(p)) {
        const auto bucket = words + p.bucket * slots;
        for (u32 twins = view(bucket, p.bucket).match(p.needle); twins != 0; twins &= twins - 1) {
          const u32 s = lowest(twins);
          if (seen) compare_and_swap(bucket + s, load_relaxed(bucket + s), word(0));
          seen = true;
        }
      }
    }
    block.barrier();

    u32 mine = 0;
    for (u32 i = me; i < buckets * slots; i += all) {  // 6
      word w = words[i];
      mine += !slot_type::is_free(w);
      const u32 s = i % slots;
      if (s * slot_type::filter_bits < Design::filter_size) {
        const u32 bits =
            filters[i / slots] >> (s * slot_type::filter_bits) & ((1U << slot_type::filter_bits) - 1);
        w |= static_cast<word>(bits) << slot_type::filter_shift;
      }
      home[i] = w;
    }
    if (mine != 0) fetch_add(occupied, mine);
    block.barrier();
    if (me == 0) fetch_add(inserted, static_cast<u64>(u32(occupied[0])));
  }
};

// What a partitioned build leaves behind.
template <class Design, class Space>
struct tiled_built {
  bool done = false;  // false: the items are too uneven; the table's slots are not defined
  u64 inserted = 0;
  u64 illegal = 0;
  u64 left = 0;  // items to insert one by one, from rest()
  buffer<typename Design::word, Space> spilled;
  Design design;

  tiled_spill_source<Design> rest() const { return {design, spilled.data()}; }
};

// A GPU's thread keeps its items in registers; a CPU's block is one thread, and its share a cacheful.
template <class Design, class Source, class Space>
using tiled_partition_in =
    tiled_partition<Design, Source, Space::has_lanes ? 16 : 16384, Space::has_lanes ? 1024 : 1>;

// Is partitioning worth it for n items into an empty table? It streams the whole table, so not for few items;
// and a block's scratch must hold a region, and a partition's counters for all regions.
template <class Space, class Design>
bool tiled_partition_pays(const Space& space, const Design& design, u64 n) {
  using source = bulk::array_source<typename Design::slot_type>;
  return n >= (u64(1) << 15) && n >= design.capacity() / 4 &&
         tiled_partition_in<Design, source, Space>::scratch_bytes(design.regions()) <=
             space.largest_scratch() &&
         tiled_build<Design>::scratch_bytes(design.region_buckets()) <= space.largest_scratch();
}

// Fills a table's slots, whatever stands in them, with the n items of the source. Beside the table it takes a
// thirty-second of the items' bytes.
template <class Design, class Space, class Source>
tiled_built<Design, Space> build_tiled(Space& space, const Design& design, const Source& source, u64 n) {
  const u32 regions = design.regions();
  tiled_built<Design, Space> result;
  result.design = design;
  const u64 spill_capacity = n / 32 + 1024;
  result.spilled = buffer<typename Design::word, Space>(space, spill_capacity);
  buffer<u32, Space> fill(space, regions);
  buffer<u64, Space> counters(space, 3);
  space.fill(fill.data(), regions, u32(0));
  space.fill(counters.data(), 3, u64(0));
  const tiled_spill<Design> spill{result.spilled.data(), counters.data(), spill_capacity};
  using partition_type = tiled_partition_in<Design, Source, Space>;
  const partition_type partition{design, source, n, fill.data(), spill, counters.data() + 1};
  space.for_each_block(divide_up(n, partition.share), partition.block_size, partition.scratch_bytes(regions),
                       partition);
  const tiled_build<Design> build{design, fill.data(), spill, counters.data() + 2};
  space.for_each_block(regions, build.block_size, build.scratch_bytes(design.region_buckets()), build);
  const auto counts = counters.to_host();
  result.left = counts[0];
  result.illegal = counts[1];
  result.inserted = counts[2];
  result.done = result.left <= spill_capacity;
  return result;
}

}  // namespace tilehash::detail
