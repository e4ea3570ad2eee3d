// Rows (rows.hpp) sorted by two digits of the row's number, most significant first.
//
//   items    --partition-->  | bin 0 | bin 1 | ...     one for each region: 2^k neighbouring rows
//                               |       |
//                            block 0  block 1 ...      each counts its rows' items in its scratch, adds the
//                                                      counts up to offsets, and writes the items in order
//
// The partition writes long runs, and a block writes into a part of the entries that stays in the cache, so
// that each item goes to memory twice; a radix sort takes it there four times.
#pragma once

#include <algorithm>
#include <cmath>

#include <tilehash/core/remainder_slot.hpp>
#include <tilehash/designs/partition.hpp>

namespace tilehash::detail {

// Keys travel as they are, with their values.
template <class Rows>
struct row_route {
  using slot_type = remainder_slot<typename Rows::key_type, typename Rows::mapped_type>;
  using tag = typename slot_type::tag;
  using word = typename slot_type::word;

  Rows rows;
  u32 shift;  // log2 of the rows of a region

  TILEHASH_FN u32 regions() const { return static_cast<u32>((rows.capacity() - 1) >> shift) + 1; }
  TILEHASH_FN static tag hash(tag t) { return t; }
  TILEHASH_FN u64 row_of(tag t) const { return rows.locate(slot_type::decode(t)).row; }
  TILEHASH_FN u32 region_of(tag t) const { return static_cast<u32>(row_of(t) >> shift); }
};

template <class Rows, u32 Threads>
struct rows_build {
  using route = row_route<Rows>;
  using slot_type = typename route::slot_type;
  using word = typename route::word;
  using item = routed_item<slot_type>;
  using entry = typename Rows::entry;
  using offset = typename Rows::offset;
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 max_shift = 14;

  route way;
  counted_bins<word> bins;
  const offset* firsts;  // of each region, its first entry; and how many entries there are

  // Scratch: a count for each row, then where its next entry goes; the threads' sums.
  static constexpr u64 scratch_bytes(u32 shift) { return ((u64(1) << shift) + sums::words) * sizeof(u32); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), all = block.size(), region = static_cast<u32>(block.index());
    const u32 size = 1U << way.shift, n = bins.fill[region];
    const u64 first_row = static_cast<u64>(region) << way.shift;
    const u64 left = way.rows.capacity() - first_row;
    const u32 rows = left < size ? static_cast<u32>(left) : size;
    const offset first = firsts[region];
    const word* const bin = bins.at(region);
    const auto next = block.template scratch<u32>();

    for (u32 r = me; r < size; r += all) next[r] = 0;
    block.barrier();
    for (u32 i = me; i < n; i += all) fetch_add(next + row_in_region(bin[i]), u32(1));
    block.barrier();
    const u32 each = (size + Threads - 1) / Threads, from = me * each < size ? me * each : size;
    const u32 to = from + each < size ? from + each : size;
    u32 mine = 0, sum_of_all;
    for (u32 r = from; r < to; ++r) mine += u32(next[r]);
    u32 start = sums::before(block, next + size, mine, sum_of_all);
    for (u32 r = from; r < to; ++r) {
      const u32 count = next[r];
      next[r] = start;
      start += count;
    }
    block.barrier();
    for (u32 r = me; r < rows; r += all) way.rows.offsets()[first_row + r] = first + u32(next[r]);
    if (me == 0 && left <= size) way.rows.offsets()[way.rows.capacity()] = first + n;
    block.barrier();
    for (u32 i = me; i < n; i += all) {
      const word w = bin[i];
      way.rows.entries()[first + fetch_add(next + row_in_region(w), u32(1))] = entry_of(w);
    }
  }
  TILEHASH_FN u32 row_in_region(word w) const {
    return static_cast<u32>(way.row_of(item::hash_of(w))) & ((1U << way.shift) - 1);
  }
  TILEHASH_FN static entry entry_of(word w) {
    entry e;
    e.key = slot_type::decode(item::hash_of(w));
    if constexpr (!slot_type::is_set) e.value = from_bits<typename slot_type::mapped_type>(item::value_of(w));
    return e;
  }
};

// What remainder_slot can pack.
template <class Rows>
inline constexpr bool rows_have_words =
    sizeof(typename Rows::key_type) <= 8 && bytes_of<typename Rows::mapped_type> <= 8;

// Fills the rows from n items, or says that this is not the way to: too few items, more regions than a block
// can count, or so many equal keys that one block would have much more to do than the others.
template <class Space, class Rows>
bool build_rows_by_regions(Space& space, const Rows& rows, const typename Rows::key_type* keys,
                           const typename Rows::mapped_type* values, u64 n) {
  using route_type = row_route<Rows>;
  using word = typename route_type::word;
  using offset = typename Rows::offset;
  using source_type = bulk::array_source<typename route_type::slot_type>;
  using partition_type = partition_in<route_type, source_type, Space, counted_bins<word>, no_spill>;
  using build_type = rows_build<Rows, Space::has_lanes ? 1024 : 1>;
  constexpr u64 most_items = 16384;  // of a region, on average
  if (n < (u64(1) << 15) || n > ~u32(0)) return false;

  route_type route{rows, 0};
  const u64 wanted = Space::has_lanes ? space.large_blocks_at_once() : 1;
  const double load = static_cast<double>(n) / static_cast<double>(rows.capacity());
  while (route.shift < build_type::max_shift && load * std::exp2(route.shift + 1) <= most_items &&
         (rows.capacity() >> (route.shift + 1)) >= wanted)
    ++route.shift;
  const u32 regions = route.regions();
  if (partition_type::scratch_bytes(regions) > space.largest_scratch() ||
      build_type::scratch_bytes(route.shift) > space.largest_scratch())
    return false;

  const double mean = static_cast<double>(n) / regions;
  const u32 room =
      static_cast<u32>(mean + 8 * std::sqrt(mean) + 32);  // the number that comes varies by a root
  buffer<word, Space> entries(space, static_cast<u64>(room) * regions);
  buffer<u32, Space> fill(space, regions);
  buffer<u64, Space> illegal(space, 1), starts;
  counted_bins<word> bins{entries.data(), room, room, regions, fill.data()};
  const source_type source{keys, values};
  space.fill(illegal.data(), 1, u64(0));
  const auto came = send_to_bins(space, route, source, n, bins, fill, illegal.data());
  if (*std::ranges::max_element(came) > 16 * mean + most_items) return false;
  if (grow_bins(space, bins, came, entries, starts)) {
    send_to_bins(space, route, source, n, bins, fill, illegal.data());
  }
  std::vector<offset> firsts(regions);
  std::exclusive_scan(came.begin(), came.end(), firsts.begin(), offset(0));
  const buffer<offset, Space> first(space, firsts);
  space.for_each_block(regions, build_type::block_size, build_type::scratch_bytes(route.shift),
                       build_type{route, bins, first.data()});
  return true;
}

}  // namespace tilehash::detail
