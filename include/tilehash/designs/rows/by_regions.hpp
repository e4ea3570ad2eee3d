// SPDX-License-Identifier: Apache-2.0
// A builder of rows (designs/rows.hpp): sorts the items by two digits of the row's number, most significant
// first.
//
//   items    --partition-->  | bin 0 | bin 1 | ...     one for each region: 2^k neighbouring rows
//                               |       |
//                            block 0  block 1 ...      each counts its rows' items, adds the counts up to
//                                                      offsets, and puts the items in order, all in its
//                                                      scratch; then it writes them out
//
// Each item is written to memory twice, in runs. A radix sort writes it four times. Counting and scattering
// access memory in random order in both steps.
//
// A block takes neighbouring regions, one after the other. It fetches the items of the next region while it
// writes one, and adds up the number of entries before its first region itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/quotient_slot.hpp>
#include <tilehash/designs/rows.hpp>
#include <tilehash/designs/rows/block_rows.hpp>
#include <tilehash/space/algorithms.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Keys are partitioned unhashed, with their values.
template <class Rows>
struct row_route : keys_as_they_are<remainder_slot<typename Rows::key_type, typename Rows::mapped_type>> {
  using slot_type = remainder_slot<typename Rows::key_type, typename Rows::mapped_type>;
  using key_bits = typename slot_type::key_bits;
  using word = typename slot_type::word;

  Rows rows;
  u32 shift = 0;  // log2 of the rows of a region

  explicit row_route(const Rows& all) : rows(all) {}
  TILEHASH_FN u32 regions() const { return static_cast<u32>((rows.capacity() - 1) >> shift) + 1; }
  TILEHASH_FN auto location_of(key_bits k) const { return rows.locate(slot_type::decode(k)); }
  TILEHASH_FN u32 region_of(key_bits k) const { return static_cast<u32>(location_of(k).row >> shift); }
};

template <class Rows, u32 Threads>
struct rows_build {
  static constexpr bool launches_early = false;  // (space/cuda_kernels.cuh) it took 9 % longer
  using route = row_route<Rows>;
  using slot_type = typename route::slot_type;
  using word = typename route::word;
  using item = routed_item<slot_type>;
  using entry = typename Rows::entry;
  using offset = typename Rows::offset;
  static constexpr u32 block_size = Threads;
  static constexpr u32 max_shift = 14;
  template <class Words>
  using rows_here = block_rows<Rows, Threads, Words>;

  route way;
  uneven_bins<word> bins;
  u32 capacity;  // items of a region that fit the scratch; a larger region is written unsorted
  u64* refused;  // regions that overflowed their bins and are not built

  // The most items that fit the scratch. Registers hold each one's row and rank, and the words of the first
  // batch, which the block fetches while it writes the region before.
  static constexpr bool keeps_words = sizeof(word) <= 8;  // (registers do not suffice for longer ones)
  using machine = tuning::of_block<Threads>;
  static constexpr u32 at_once = machine::rows_at_once(sizeof(word));
  static constexpr u32 batches = machine::rows_items / at_once / Threads, kept = keeps_words ? at_once : 1;
  using item_positions = placed_items<word, Threads, batches, at_once, max_shift>;
  static constexpr u32 most_items = item_positions::most;
  static_assert(most_items <= rows_here<u32*>::begin_mask);
  static_assert(u64(most_items) << max_shift <= u64(1) << 32);

  // Scratch: the items in order; the rows.
  static constexpr u64 scratch_bytes(u32 shift, u32 capacity) {
    return capacity * sizeof(word) + rows_here<u32*>::scratch_bytes(1U << shift);
  }

  // A block has neighbouring regions, so it adds up the items of all regions before them only once.
  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), last = first_region(block.index() + 1, block.count());
    u32 region = first_region(block.index(), block.count()), came = 0, before;
    for (u32 r = me; r < region; r += Threads) came += bins.fill[r];
    block_sums<Threads>::before(block, block.template scratch<u32>(), came, before);
    block.barrier();
    word first_words[kept];
    const auto begin_with = [&](u32 r) {
      if (r >= last) return;
      came = bins.fill[r];
      if constexpr (keeps_words) take(bins.at(r), 0, bins.size(r), me, first_words);
    };
    begin_with(region);
    while (region < last) {
      const u32 n = came;
      build(block, region, n, before, first_words, [&] { begin_with(region + 1); });
      before += n;
      ++region;
      block.barrier();
    }
  }

 private:
  TILEHASH_FN u32 first_region(u64 block, u64 blocks) const {
    return static_cast<u32>(way.regions() * block / blocks);
  }
  // This thread's items of a batch, by the batch's number, if the bin has n.
  TILEHASH_FN static void take(const word* bin, u32 number, u32 n, u32 me, word* words) {
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u32 i = (number * at_once + k) * Threads + me;
      words[k] = i < n ? bin[i] : word(0);
    }
  }
  // Builds a region of n items, whose entries begin at `first`. Calls leaving() before it writes the region.
  template <class Block, class Leaving>
  TILEHASH_FN void build(Block block, u32 region, u32 n, u32 first, const word (&first_words)[kept],
                         Leaving leaving) const {
    const u32 me = block.rank(), size = 1U << way.shift;
    const u64 first_row = static_cast<u64>(region) << way.shift;
    const u64 left = way.rows.capacity() - first_row;
    const u32 rows = left < size ? static_cast<u32>(left) : size;
    if (n > bins.capacity_of(region)) {
      if (me == 0) fetch_add(refused, u64(1));
      leaving();
      return;
    }
    const bool fits = n <= capacity;
    const word* const bin = bins.at(region);
    const auto sorted = block.template scratch<word>();
    const auto words = block.template scratch<u32>(capacity * sizeof(word));
    const rows_here<decltype(words)> here{words, size, me};
    const auto next = [&](u32 row) { return words + here.padded(row); };

    here.clear();
    block.barrier();
    const auto words_of = [&](u32 number, word* w) {
      if (keeps_words && number == 0) {
        TILEHASH_UNROLL
        for (u32 k = 0; k < kept; ++k) w[k] = first_words[k];
      } else {
        take(bin, number, n, me, w);
      }
    };
    item_positions positions;
    if (fits) {
      positions.count(here, n, words_of, [&](word w) { return row_of(w); });
    } else {
      for_each_item(bin, n, me, [&](word, u32 row) { fetch_add(next(row), u32(1)); });
    }
    block.barrier();
    here.add_up(block, fits ? here.begin_mask : ~u32(0));
    block.barrier();
    entry* const out = way.rows.entries() + first;
    if (me == 0 && left <= size) way.rows.offsets()[way.rows.capacity()] = static_cast<offset>(first) + n;
    if (!fits) {  // each row then ends at the position of its next item
      for_each_item(bin, n, me, [&](word w, u32 row) { out[fetch_add(next(row), u32(1))] = entry_of(w); });
      block.barrier();
      for (u32 r = me; r < rows; r += Threads) {
        const u32 begin = r == 0 ? 0 : u32(*next(r - 1)), items = *next(r) - begin;
        way.rows.put_row(first_row + r, first + begin, items,
                         way.rows.filter_of(items, [&](u64 i) { return out[begin + i].key; }));
      }
      leaving();
      return;
    }
    positions.place(here, n, words_of, [&](word w, u32 at) { sorted[at] = w; });
    here.put(way.rows, first_row, rows, first, n);
    leaving();
    block.barrier();
    for (u32 i = me; i < n; i += Threads) out[i] = entry_of(sorted[i]);
  }
  TILEHASH_FN row_here row_of(word w) const {
    const auto at = way.location_of(item::hash_of(w));
    return {static_cast<u32>(at.row) & ((1U << way.shift) - 1), at.filter};
  }
  // use(word, row in the region) for this thread's items of a bin.
  template <class Use>
  TILEHASH_FN void for_each_item(const word* bin, u32 n, u32 me, Use use) const {
    for (u32 i = me; i < n; i += Threads) use(bin[i], row_of(bin[i]).row);
  }
  TILEHASH_FN static entry entry_of(word w) {
    entry e;
    e.key = slot_type::decode(item::hash_of(w));
    if constexpr (!slot_type::is_set) e.value = from_bits<typename slot_type::mapped_type>(item::value_of(w));
    return e;
  }
};

// True if remainder_slot can pack the items.
template <class Rows>
inline constexpr bool rows_have_words =
    packed_bytes<typename Rows::key_type> <= 8 && bytes_of<typename Rows::mapped_type> <= 8;

// The regions of a build, and a block's memory for each. Chosen for n items; pays() is true if the build is
// worth it.
template <class Rows, class Space>
struct region_layout {
  using route_type = row_route<Rows>;
  using build_type = rows_build<Rows, large_block<Space>>;
  static constexpr u64 most_items = tuning::of<Space>::rows_region;  // of a region, on average

  route_type route;
  double load;  // items a row
  u64 scratch;  // of a block, at most

  // The largest regions that a block can hold. Two smaller ones could run concurrently and hide each other's
  // latency, but the partition's runs would be half as long, which costs a GPU more.
  region_layout(const Space& space, const Rows& rows, u64 n)
      : route(rows),
        load(static_cast<double>(n) / static_cast<double>(rows.capacity())),
        scratch(space.largest_scratch()) {
    const u64 wanted = least_regions(space);
    while (route.shift < build_type::max_shift && mean_of(route.shift + 1) <= most_items &&
           capacity_of(route.shift + 1) <= build_type::most_items && scratch_of(route.shift + 1) <= scratch &&
           (rows.capacity() >> (route.shift + 1)) >= wanted)
      ++route.shift;
  }
  // (Smaller regions do not reduce the items of one row.)
  bool pays(const Space& space) const {
    if (capacity_of(route.shift) > build_type::most_items || scratch_of(route.shift) > scratch) return false;
    return route.regions() <= most_regions<typename route_type::slot_type>(space);
  }
  double mean() const { return mean_of(route.shift); }
  u32 capacity() const { return static_cast<u32>(capacity_of(route.shift)); }
  u64 scratch_bytes() const { return scratch_of(route.shift); }

 private:
  double mean_of(u32 shift) const { return load * std::exp2(shift); }
  u64 capacity_of(u32 shift) const { return bin_capacity(mean_of(shift)); }
  u64 scratch_of(u32 shift) const {
    return build_type::scratch_bytes(shift, static_cast<u32>(capacity_of(shift)));
  }
};

// Fills the rows from n items and returns the number of legal ones. Returns nothing if this build does not
// suit: too few items, more regions than a block can count, or so many equal keys that one block would have
// much more work than the others.
template <class Space, class Rows>
std::optional<u64> build_rows_by_regions(Space& space, const Rows& rows, const typename Rows::key_type* keys,
                                         const typename Rows::mapped_type* values, u64 n) {
  using layout_type = region_layout<Rows, Space>;
  using build_type = typename layout_type::build_type;
  using word = typename layout_type::route_type::word;
  using source_type = detail::array_source<typename layout_type::route_type::slot_type>;
  constexpr u64 most_blocks =
      tuning::of<Space>::rows_blocks;  // each block reads the counts of all regions before its own
  if (n < least_to_partition<Space> || n > ~u32(0)) return std::nullopt;
  const layout_type layout(space, rows, n);
  if (!layout.pays(space)) return std::nullopt;
  const auto& route = layout.route;
  const u32 regions = route.regions(), capacity = layout.capacity();

  buffer<word, Space> entries(space, static_cast<u64>(capacity) * regions);
  // NaN keys, regions that overflowed, and the items of each region: cleared and read as one.
  const buffer<u64, Space> counters(space, 2 + divide_up(regions, 2));
  u64 *const illegal = counters.data(), *const refused = illegal + 1;
  u32* const fill = reinterpret_cast<u32*>(illegal + 2);
  buffer<u64, Space> starts;
  uneven_bins<word> bins{{entries.data(), capacity, fill}, regions - 1, capacity};
  // The host does not check first whether the items fit their bins: they nearly always do, and the check
  // would have to synchronize.
  u64 counted[2];
  const auto send_and_build = [&] {
    space.fill(counters.data(), counters.size(), u64(0));
    send_by_blocks(space, route, source_type{keys, values}, n, bins, no_spill(), illegal);
    const u64 at_once = space.large_blocks_at_once(), blocks = at_once < most_blocks ? at_once : most_blocks;
    space.for_each_block(regions < blocks ? regions : blocks, build_type::block_size, layout.scratch_bytes(),
                         build_type{route, bins, capacity, refused});
    space.copy_to_host(counted, counters.data(), sizeof counted);
  };
  send_and_build();
  if (counted[1] != 0) {
    std::vector<u32> came(regions);
    space.copy_to_host(came.data(), fill, came.size() * sizeof(u32));
    if (*std::ranges::max_element(came) > 16 * layout.mean() + layout.most_items) return std::nullopt;
    grow_bins(space, bins, came, entries, starts);
    send_and_build();
  }
  return n - counted[0];
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace builders {

// By regions if keys and values fit a word, it pays, and there is enough memory. Temporary memory: 1.1 to 1.3
// times the items' words (of 4, 8 or 16 bytes). `Otherwise` names the table, and builds the others.
template <class Otherwise>
struct by_regions {
  static constexpr const char* name = Otherwise::name;
  static constexpr double max_load_factor = Otherwise::max_load_factor;

  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    if constexpr (detail::rows_have_words<Rows>) {
      try {
        if (const auto built = detail::build_rows_by_regions(space, rows, keys, values, n)) return *built;
      } catch (const out_of_memory&) {
      }
    }
    return Otherwise::build(space, rows, keys, values, n);
  }
};

}  // namespace builders
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
